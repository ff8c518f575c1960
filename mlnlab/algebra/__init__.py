"""Semirings, and numbers that carry a bound of their error."""
