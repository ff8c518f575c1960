"""Draw the runs of single structure learners, each in a file of its own.

A line in ``LEARNER_PICTURES`` names its function; ``structure_pictures.py`` draws learners without one.
"""
