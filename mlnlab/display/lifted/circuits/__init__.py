"""Draw first-order circuits and explore their values.

Start with ``circuit_scenes.py``.
"""
