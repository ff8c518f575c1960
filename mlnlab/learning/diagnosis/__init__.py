"""Diagnose learned weights: which run away, how ill-conditioned the problem is, how sure a weight is.

Start with ``diagnostics.py``, whose sentences every result carries.
"""
