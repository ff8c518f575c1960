"""Answer questions to factor graphs and Bayesian networks over variables of any number of values.

Start with ``factor_asking.py``, the door of ``ml.marginals``; ``factor_methods.py`` lists the methods.
"""
