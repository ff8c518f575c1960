"""Hold factor graphs and Bayesian networks, and answer exactly: by elimination and junction trees.

Start with ``graphs/factor_graph.py``, then ``trees/junction_trees.py``. ``graphs`` holds the models,
``data`` tables of examples, ``trees`` orders of elimination, cliques and messages; ``files`` reads and writes
BIF, UAI and .xmod.

It may import ``model`` and what lies below.
What always holds: graphs and tables are never changed; a table that would be too large is refused before it
is made (``trees/table_limits.py``); an order never depends on chance.
"""
