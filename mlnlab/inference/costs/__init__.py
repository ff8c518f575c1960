"""Estimate the costs of methods before they begin: the problem they are asked about, and shared estimates.

Start with ``inference_problem.py``: a question and the facts about it that several methods need, each found
out once.
A method's record carries ``estimate_cost``; this room is below all methods.
"""
