"""Draw searches for a most probable world, move by move.

Start with ``map_search.py``.
"""
