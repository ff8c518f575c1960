"""Share between optimisers: the record, trust regions, swings, and libraries that call back as iterators.

Start with ``optimizer.py``, which says what an optimiser promises.
"""
