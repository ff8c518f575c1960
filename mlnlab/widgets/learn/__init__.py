"""Watch and steer learners: dashboards, races, LiftGraph by hand, tables of clauses.

Start with ``dashboard.py``.
"""
