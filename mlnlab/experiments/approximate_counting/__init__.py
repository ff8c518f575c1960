"""Make the tables and figures of Sarkhel et al. (2016) again: weights learned by approximate counts.

Start with ``counting_pieces.py``, which learns and judges one piece of work. ``benchmark_sets.py`` has the
data, ``counting_tables.py`` the tables beside the paper's, ``counting_costs.py`` its Table 1 as measured.
"""
