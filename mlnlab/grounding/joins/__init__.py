"""Find the groundings that evidence leaves open by joins instead of visiting all of them.

Start with ``clause_joins.py``.
"""
