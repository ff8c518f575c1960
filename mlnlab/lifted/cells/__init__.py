"""Compile two-variable models to cells (1-types) and sum over how many elements are in each.

Start with ``cells.py`` and ``cell_evaluation.py``.
"""
