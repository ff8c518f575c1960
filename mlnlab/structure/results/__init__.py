"""Hold the results of structure learning: the model, its clauses, all candidates, and edits by hand.

Start with ``learned_structure.py``. ``candidates.py`` makes a candidate from a run's arrays when somebody
looks at it; ``model_weights.py`` keeps and throws out clauses and learns the weights of all on all atoms;
``by_hand.py`` finds the candidate that somebody names. Here may be imported lifting, paths, clauses and
clusters, and no learner.
A result is never changed: each edit returns another one.
"""
