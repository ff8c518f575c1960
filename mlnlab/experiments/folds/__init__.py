"""Cross-validate: folds, learners as records, results kept and resumed, paired tests.

Start with ``cross_validation.py``.
"""
