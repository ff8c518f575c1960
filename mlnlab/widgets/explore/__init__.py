"""Explore answers and groundings by clicks and typed formulas.

Start with ``explore_view.py``.
"""
