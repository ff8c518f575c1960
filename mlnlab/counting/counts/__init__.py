"""Count the true groundings of each formula: the door of ``ml.count``.

Start with ``counts.py``; ``counter.py`` prepares a formula once for many worlds, and ``counting_choice.py``
decides between inclusion-exclusion and elimination.
"""
