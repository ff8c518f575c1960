"""Compute expected counts and their covariances: exactly, by samples, or from the most probable world.

Start with ``exact_counts.py``, or with ``counted_chains.py`` where worlds are counted and nothing is ground.
The likelihoods of ``objectives`` take their expectations from here.
"""
