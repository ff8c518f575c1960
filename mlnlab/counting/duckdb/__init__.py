"""Count in DuckDB: a second implementation for facts in files, or larger than memory.

Start with ``duckdb_counter.py``. It shares the meaning of formulas with the planner and nothing else, so that
each checks the other. SQL is composed of numbers alone, never of names.
"""
