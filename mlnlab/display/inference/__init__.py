"""Show answers: probabilities, explanations, sensitivities, evaluations, most probable worlds.

Start with ``probabilities.py``.
"""
