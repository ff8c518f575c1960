"""Make clauses of paths, score each by itself, and assemble those that help into a model (CreateMLN).

Start with ``create_mln.py``. Scores are improvements of weighted pseudo-log-likelihood over unit clauses.
"""
