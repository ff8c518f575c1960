"""Draw FindPaths: a path on its hypergraph, in words, and in its search tree.

Start with ``path_pictures.py``.
"""
