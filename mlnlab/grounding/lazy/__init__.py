"""Ground only the clauses that a search comes across, for models that are too large to ground.

Start with ``lazy_grounding.py``. Open atoms are false until something needs them.
"""
