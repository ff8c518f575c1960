"""Draw samplers and message passing at work, step by step.

Start with ``samplers.py``.
"""
