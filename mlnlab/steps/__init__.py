"""Iterative algorithms as streams of frozen states: run, watch, record, replay, stop, resume.

``step`` holds the protocols and ``run``. Every other file is something that can be done with the stream: stop
it (``stopping``, ``breakpoints``), keep it (``trace``, ``checkpoint``), drive it from a notebook (``live``),
lay two of them side by side (``comparison``).
"""
