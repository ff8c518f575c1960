"""Show weight learning: gaps, weights, curves, races, results.

Start with ``learning_pictures.py``; ``weight_cards.py`` is the result.
"""
