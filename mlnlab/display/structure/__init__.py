"""Show structure learning: clauses with scores and origins, runs, evaluations.

Start with ``structure_pictures.py``, the pictures of any learner; ``lhl_pictures.py`` are those of LHL.
"""
