"""Learn Bayesian networks from tables: decision trees or tables as conditional distributions.

Start with ``split_gains.py``: the gain of every split of a leaf, by one pass over bit columns.
"""
