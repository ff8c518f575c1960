"""Learn weights: objectives measure them, optimisers improve them.

    TrainingData --counting, grounding--> Objective --moments--> Point <--steps-- Optimizer --> LearningState
      formulas, databases, query           n, E[n], Cov            + Prior, FreeWeights

An objective says three things at some weights: observed counts, expected counts, and a curvature to
multiply with. Its gradient is the difference of the first two, so an optimiser knows nothing of formulas
and a display nothing of optimisers. Start with ``ask/learner.py``; presets name the combinations, any part
can be replaced. ``networks`` learns Bayesian networks from tables, by splits, and needs none of these.

It may import ``evaluation`` and what lies below; optimisers do not import each other.
What always holds: gradients point uphill; the gap is zero at every optimum; a state holds all that a
resumed run needs; what the diagnostics say is about the weights that are returned.
"""
