"""Pose a learning problem: data, objective, prior, and the weights that learning may change.

Start with ``problem.py``. ``learning_state.py`` is the one state that all optimisers yield; ``moments.py`` is
observed against expected counts.
"""
