"""Write checkpoints: sealed archives that are either the old state or the new one.

Start with ``checkpoint.py``. Nothing is ever unpickled.
"""
