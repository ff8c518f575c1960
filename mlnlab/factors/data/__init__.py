"""Hold tables of data: a column for each random variable, a row for each example.

Start with ``data_table.py``.
"""
