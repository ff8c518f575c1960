"""Move worlds: Gibbs sweeps, tempering, and the slices of MC-SAT over clauses as arrays.

Start with ``world_arrays.py``, the arrays that every chain shares. The random stream is passed in, so any
thread draws the same trajectory.
"""
