"""Put learners together and run them: ``ml.learn_weights``, ``ml.weight_learner``, presets, tuning.

Start with ``learner.py``; ``presets.py`` says which parts each name stands for.
"""
