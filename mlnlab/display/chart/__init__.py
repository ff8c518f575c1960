"""Draw charts: axes, bars, curves and plots as items of a scene.

Start with ``plots.py``.
"""
