"""Share between samplers: chains in the kernels' arrays, batch sums, estimates with errors, convergence.

Start with ``chains.py`` (a question as arrays) and ``estimates.py`` (sums as probabilities with standard
errors and warnings). Errors always come from batches of dependent samples, never from counting samples.
"""
