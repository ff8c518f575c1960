"""Show single groundings: which are true, violated, or decided by evidence, and why a count is large.

Start with ``groundings_shown.py``, the door of ``ml.groundings``. Groundings are found by counting
(``unranking.py``), never by visiting all of them.
"""
