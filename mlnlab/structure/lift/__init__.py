"""Lift hypergraphs: cluster constants bottom up by their log-posterior (LiftGraph).

Start with ``lift_graph.py``; ``fast_lift_search.py`` makes the same moves in compiled loops.
"""
