"""Find the paths of lifted hypergraphs (FindPaths), and write clusters as variables.

Start with ``find_paths.py``; ``variabilized.py`` is the path that clauses are made of.
"""
