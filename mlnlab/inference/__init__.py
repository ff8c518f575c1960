"""Answer questions about a model; each method is one file.

``ask`` is the public door, ``methods`` the algorithms, the other rooms what several methods share; from low
to high: answers, sat, sampling, search, messages, exact, lazy, costs, methods, ask, networks. Start with
``ask/asking.py``, or read a method from top to bottom, such as ``methods/gibbs.py``.

It may import ``lifted`` and what lies below; methods do not import each other.
What always holds: a method is a generator of frozen states and ends in a record; it respects evidence; its
answer carries errors and doubts; a state can be taken up again by the run that it came from, and by no
other. Numbers that floats cannot hold are computed again by logarithms; infinite messages are counted, not
added.
"""
