"""Explain answers: shares of log-odds, and which weights and facts would change a probability most.

Start with ``sensitivities.py``: dP/dw is a covariance, so it needs expected counts and nothing else of a
method.
"""
