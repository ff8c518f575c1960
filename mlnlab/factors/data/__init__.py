"""Hold tables of data: a column for each random variable, a row for each example.

Start with ``data_table.py``; ``table_coding.py`` numbers the values of columns, ``data_files.py`` reads and
writes files.
"""
