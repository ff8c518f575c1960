"""Read models: tokens, statements, declarations, and formulas with their types and weights.

Start with ``analysis.py``. All problems of a text are reported in one pass, each with its place.
"""
