"""Define distributions as products: random variables, factors, factor graphs, Bayesian networks.

Start with ``factor_graph.py``.
"""
