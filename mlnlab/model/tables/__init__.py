"""Read and write facts as tables: data frames, CSV, Parquet, JSON, SQLite.

Start with ``table_reading.py``: columns are matched and names numbered in one place for all formats.
"""
