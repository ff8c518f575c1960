"""Learn Bayesian networks from tables: decision trees or tables as conditional distributions.

Start with ``tree_networks.py``, the greedy learner, and ``split_gains.py``: the gain of every split of a
leaf, by one pass over bit columns. ``ml.learn_network`` lies in ``network_learner.py``.
"""
