"""Compute expected counts and their covariances: exactly, by samples, or from the most probable world.

Start with ``exact_counts.py``. The likelihoods of ``objectives`` take their expectations from here.
"""
