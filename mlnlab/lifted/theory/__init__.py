"""Write a model as a theory of clauses over pieces of predicates: shattered, Skolemised, with evidence.

Start with ``weighted_theory.py`` (from an MLN) and ``theory.py`` (the value that rules rewrite).
"""
