"""Hold models: a vocabulary and weighted formulas, written out, compared, saved.

Start with ``mln.py``; ``expansion.py`` writes ``+x`` and ``*P`` out over constants.
"""
