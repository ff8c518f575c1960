"""Share between lazy samplers: chains over the few atoms that are ever needed, and answers for all others.

Start with ``lazy_chains.py``. Atoms that no sample made true are answered together, not one by one.
"""
