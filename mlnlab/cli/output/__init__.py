"""Print results and write them to files: marked names, progress, tables of answers.

Start with ``result_files.py``: a place is tried before the work, and no result is lost.
"""
