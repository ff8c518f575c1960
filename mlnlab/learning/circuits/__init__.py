"""Learn arithmetic circuits: LearnAC splits distributions where a split's gain pays for its edges.

Start with ``split_ac.py``, a circuit that is split in place (Table 5.2 of Lowd's thesis); ``learn_ac.py``
chooses the splits (Table 5.1), and ``circuit_learner.py`` is ``ml.learn_circuit``.
"""
