"""Open the door to structure learning: ``ml.learn_structure``, ``ml.structure_learner`` and their results.

Start with ``structure_learner.py``; ``clause_provenance.py`` tells where a clause came from.
"""
