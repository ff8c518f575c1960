"""Count by width-bounded elimination over full tables, for formulas that inclusion-exclusion cannot divide.

Start with ``network_counter.py``; ``dense_tables.py`` sums exactly, by remainders where float64 ends.
"""
