"""Read the arguments that commands share, and lay out their manuals.

Start with ``manual.py``.
"""
