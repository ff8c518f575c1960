"""Decide with SAT solvers whether a world is possible, which parts conflict, and which world is best.

Start with ``conflicts.py``, which names a smallest set of contradicting formulas, and ``core_guided.py``, RC2
core by core. Every solver call goes through ``sat_calls.py``, so that an interrupt is heard at once.
"""
