"""Find the display of an object: its bundle for a cell, its run pictures, its plotly figure.

Start with ``bundles.py``.
"""
