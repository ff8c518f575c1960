"""Study learning itself: races, landscapes of two weights, posteriors, the parts of a formula's gap.

Each file is one study that stands by itself; start with ``race.py``.
"""
