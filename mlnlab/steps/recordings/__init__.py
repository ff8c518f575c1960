"""Record runs: traces with deltas, learning curves, comparisons, watch expressions.

Start with ``trace.py``.
"""
