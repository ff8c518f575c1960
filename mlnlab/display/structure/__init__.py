"""Show structure learning: clauses with scores and origins, runs, evaluations, comparisons.

Start with ``structure_pictures.py``, the pictures of any learner; ``learner_runs`` has those of each.
"""
