"""Drive runs: stop rules, breakpoints, threads that a notebook steers, lines in a terminal.

Start with ``live.py`` and ``stopping.py``.
"""
