"""Compute the objectives: conditional likelihood, pseudo-likelihood, and the lifted generative likelihood.

Start with ``pseudo_log_likelihood.py`` or, for first-order circuits, ``lifted_counts.py``. Every gradient
points uphill: observed minus expected counts.
"""
