"""Evaluate circuits: sums and products over flat arrays, one fold over many semirings.

Start with ``first_order.py``, the circuit as a value that knows nothing of logic. ``fold.py`` evaluates it
in any semiring, ``log_space.py`` gives log Z and all its derivatives in one pass up and one down,
``properties.py`` checks that a value is a count.

It may import what lies below ``factors``, and not ``counting``, its neighbour.
What always holds: a circuit is never changed; its cost is told before it is evaluated; derivatives come
from the passes, never from differences of large logarithms.
"""
