"""Draw charts: axes, bars, curves and plots as items of a scene, or as plotly figures.

Start with ``plots.py``.
"""
