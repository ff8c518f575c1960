"""Keep counts up while single atoms flip, in time proportional to the change.

Start with ``incremental.py``. Programs of lookups are compiled once (``flip_programs.py``) and run in a
kernel.
"""
