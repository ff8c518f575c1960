"""Pose questions to a model, and ground the clauses that evidence leaves open.

A clause is joined with the true and open atoms of its negative literals, so only open groundings are ever
made; ``counting`` counts what evidence decides. Other formulas become clauses, small tables, or trees of
counts. Start with ``question/question.py``; from low to high: question, joins, clauses, networks, lazy.

It may import ``counting``, ``circuits`` and what lies below.
What always holds: sizes are counted before anything is made; arrays are read-only; equal clauses are one.
"""
