"""Compare methods on data, and compute the published tables anew.

Start with ``folds/cross_validation.py`` and ``reproduce/table_2.py``. ``samples.py`` loads the data that
comes with mlnlab; ``cora`` and ``webkb`` read data sets that do not; ``structures`` evaluates learners of
structure, ``studies`` holds experiments of our own.

It may import ``structure`` and what lies below.
What always holds: the results of a fold are kept in a file as soon as they are there, and taken up again
only by the same settings; the paper's numbers stand beside ours; where they differ, a run switches the
named cause.
"""
