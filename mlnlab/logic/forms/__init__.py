"""Rewrite formulas: simplified, in normal forms, as clauses, in canonical form.

Start with ``normal_forms.py``. Each function returns a formula that is true in exactly the same worlds.
"""
