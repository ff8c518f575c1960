"""Hold the optimisers: one file each, which ends in its ``OPTIMIZER`` record.

Start with ``gradient_descent.py``. Each is a generator of ``LearningState``; none imports another, and none
knows which objective it climbs.
"""
