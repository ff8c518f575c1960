"""Pass values up and derivatives down arithmetic circuits, one query or many at a time.

Start with ``upward_passes.py``, which says how a circuit is laid out.
"""
