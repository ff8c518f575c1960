"""Learn structure: one learner a file, each ending in a ``LEARNER`` record, and nothing else.

Start with ``lhl.py``. A name leads to its file, ``lhl`` to ``lhl.py``; variants that leave out parts of a
learner stand in its file, as ``VARIANTS``. A learner may import every room but ``ask``, and no other learner.
What always holds: its states are frozen, tell what ``watching/structure_state.py`` asks of them, and are all
that is needed to go on bit for bit; the conformance suite finds a new file the moment it exists.
"""
