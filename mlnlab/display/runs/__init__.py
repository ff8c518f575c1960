"""Define how a run is drawn: pictures of a step, one beside the other, and cards of recordings.

Start with ``runs.py``.
"""
