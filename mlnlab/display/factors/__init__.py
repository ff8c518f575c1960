"""Show factor graphs, junction trees, and the runs over them.

Start with ``factor_graph_scenes.py``.
"""
