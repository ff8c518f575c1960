"""Pose a question to a model: which ground atoms are evidence, which are open, which are asked for.

Start with ``question.py``. Every method of inference and learning starts from this value.
"""
