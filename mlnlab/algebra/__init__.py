"""Define semirings, and numbers that carry a bound of their error.

Start with ``semirings.py``: an addition, a multiplication, and values of leaves, for folding circuits and
eliminating variables. ``doors.py`` is where every answer leaves: a probability lies between 0 and 1, a
count between 0 and the number of its groundings.

It may import ``kernels``, ``steps`` and ``errors``.
What always holds: a semiring is a value, and what is folded over it knows nothing of it; an answer that no
rounding explains is refused at the door; nothing here knows of formulas.
"""
