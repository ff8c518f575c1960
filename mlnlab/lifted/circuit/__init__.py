"""Evaluate a compiled circuit at any sizes and weights: floats where signs agree, balls where they cancel.

Start with ``arithmetic.py``. Every number carries the bound of its error.
"""
