"""Split distributions of arithmetic circuits in place, and choose the next split: the loops of LearnAC.

Start with ``work_circuit.py``, the arrays; ``split_regions.py`` finds the part of a circuit that a split
copies and counts its edges, ``circuit_splitting.py`` applies a split, ``split_search.py`` chooses one.
"""
