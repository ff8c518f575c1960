"""Evaluate circuits: sums and products over flat arrays, one pass up for values and one down for derivatives.

Start with ``first_order/first_order_circuit.py`` for models with domains, and with
``propositional/arithmetic_circuit.py`` for distributions over random variables.

It may import ``factors`` and what lies below, and not ``counting``, its neighbour.
What always holds: a circuit is never changed; its cost is told before it is evaluated; derivatives come
from the passes, never from differences of large logarithms.
"""
