"""Share between searches for a most probable world: costs, walks and the states that they yield.

Start with ``landscape.py``, which gives every ground formula a finite cost; a hard formula costs more than
all soft ones together.
"""
