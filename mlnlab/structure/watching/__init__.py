"""Watch structure learning: pauses at conditions, and the progress line of a terminal.

Start with ``structure_state.py``: pauses and lines are made from what every learner's states tell. LHL adds
pauses and a line of its own, because it lifts hypergraphs and goes through paths before there is a clause.
Here may be imported paths, clauses and results, and no learner. A condition never changes a run.
"""
