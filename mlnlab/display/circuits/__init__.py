"""Draw arithmetic circuits, networks of decision trees, and how both are learned.

Start with ``circuit_drawings.py``.
"""
