"""Learn circuits and networks from published tables of data, and make the thesis's chapter 5 anew.

Start with ``learned_models.py``; ``conditional_queries.py`` asks them questions, ``circuit_tables.py`` makes
the tables.
"""
