"""Hold facts as sorted arrays, and join and sum weighted tables of bindings.

Start with ``sorted_facts.py`` and ``tables.py``. Everything in ``counting`` stands on these; counts are exact
whole numbers, beyond 64 bits too.
"""
