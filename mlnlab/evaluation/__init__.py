"""Measure the quality of answers against the truth.

Start with ``evaluating.py``, ``ml.evaluate``. ``judged_atoms.py`` pairs the probability of an atom with its
truth, ``precision_recall.py`` and ``calibration.py`` measure many of them.

It may import ``inference`` and what lies below; it knows nothing of learning.
What always holds: a score comes with its standard error, where there are enough atoms for one; every
measure reads the same judged atoms, so that scores of one answer belong together.
"""
