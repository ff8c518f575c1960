"""Template networks, from which BUSL takes its clauses: nodes, tests of independence, cliques.

Start with ``template_nodes.py``: conjunctions of atoms beside a head, and the Boolean table of where they
hold. ``grow_shrink.py`` finds the Markov blankets of its columns, ``template_networks.py`` the cliques.
"""
