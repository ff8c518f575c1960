"""Share between methods that pass messages or ascend fields: factor graphs, beliefs, forests.

Start with ``factor_messages.py`` (ground clauses as a factor graph) and ``beliefs.py`` (their states and
answers). ``colour_passing.py`` merges what receives equal messages; ``weighted_products.py`` is the model as
structured mean field reads it.
"""
