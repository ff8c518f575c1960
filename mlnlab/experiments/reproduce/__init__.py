"""Make published tables and figures anew, each with a switch for every named cause of a difference.

Start with ``table_2.py``. Published numbers stand beside ours, never in their place.
"""
