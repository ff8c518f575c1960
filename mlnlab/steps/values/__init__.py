"""Take values apart and write them: fields, JSON, arrays as text, sameness, random states.

Start with ``encoding.py``: an explicit registry says which classes may be written and read.
"""
