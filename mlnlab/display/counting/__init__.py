"""Show counting: bars of counts, plans, groundings, Δn, and counts step by step.

Start with ``count_bars.py``.
"""
