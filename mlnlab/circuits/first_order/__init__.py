"""Evaluate first-order circuits: one fold over many semirings, and all derivatives of log Z.

Start with ``first_order_circuit.py``, the circuit as a value that knows nothing of logic. ``fold.py``
evaluates it in any semiring, ``log_space.py`` gives log Z and all its derivatives in two passes,
``properties.py`` checks that a value is a count.
"""
