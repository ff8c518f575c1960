"""Show models, vocabularies, databases, hypergraphs and worlds.

Start with ``models.py``.
"""
