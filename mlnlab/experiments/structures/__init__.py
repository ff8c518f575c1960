"""Test learned structures: each predicate from all others, fold by fold.

Start with ``structure_evaluation.py``; ``structure_comparison.py`` lays learned structures side by side.
"""
