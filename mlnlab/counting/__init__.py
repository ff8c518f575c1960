"""Count true groundings of formulas by planning and aggregation instead of enumeration.

A formula becomes a sum over conjunctions of positive atoms, counted by joins over sorted arrays; where
these would be too many, a network of small constraints is summed out over full tables. Start with
``counts/counts.py``, the door; from low to high: facts, formulas, plans, elimination, duckdb, counts,
deltas, incremental, groundings, steps.

It may import ``factors`` and what lies below, and not ``circuits``, its neighbour.
What always holds: counts are exact at any size; plans are estimated before they run and refused where they
would explode; DuckDB counts a second time and shares nothing but the meaning of formulas; an interrupt is
heard between stretches of an array.
"""
