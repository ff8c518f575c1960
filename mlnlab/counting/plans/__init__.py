"""Plan a count: which table is read, joined and summed out in which order, and how large each step becomes.

Start with ``plans.py`` and ``nodes.py``, the frozen tree that a plan is. ``explaining.py`` estimates each
step before it runs and refuses plans that are too large.
"""
