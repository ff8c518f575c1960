"""Show a run that is stepped, replayed, paused and resumed.

Start with ``run_view.py`` and ``session.py``.
"""
