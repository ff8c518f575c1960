"""Join graphs: clusters of bounded width that pass messages in a graph with cycles, instead of in a tree.

Start with ``join_graph.py``, how clusters are made; ``join_graph_messages.py`` passes their messages.
"""
