"""Compute Δn: how much larger each count is with an atom true than with it false, for all atoms at once.

Start with ``deltas.py``; ``delta_answers.py`` is ``ml.deltas``. Values stay products of factors until
somebody asks for rows: atoms with equal rows are merged before any optimiser runs.
"""
