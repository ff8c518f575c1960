"""Draw LiftGraph: hypergraphs, clusters, merges and the gain of each.

Start with ``lift_pictures.py``.
"""
