"""Read fact files: plain lines by a compiled scanner, every other line by words, each mistake with its place.

Start with ``fact_files.py``.
"""
