"""Walk towards worlds of low cost (MaxWalkSAT).

Start with ``walk_sat.py``.
"""
