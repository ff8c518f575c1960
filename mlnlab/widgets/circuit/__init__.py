"""Explore compiled models: sliders for weights and sizes, sweeps, cells.

Start with ``circuit_view.py``.
"""
