"""Hold facts: constants by type, true and unknown atoms as sorted arrays, worlds and hypergraphs.

Start with ``database.py``. A database is a frozen value; closed world unless atoms are marked unknown.
"""
