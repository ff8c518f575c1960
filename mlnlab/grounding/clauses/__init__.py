"""Turn a question into ground clauses and small tables, as arrays that kernels work on.

Start with ``ground_clause_making.py`` and ``ground_clauses.py``. A formula that no table holds becomes a tree
of counts (``definitions.py``).
"""
