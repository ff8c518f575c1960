"""Draw worlds exactly from a lifted distribution, without listing all atoms of unused predicates.

Start with ``world_distribution.py``; ``row_worlds.py`` draws rows that formulas demand something of.
"""
