"""Define terms and formulas as frozen values, and the folds, substitutions and printing over them.

Start with ``formulas.py`` and ``traversal.py``.
"""
