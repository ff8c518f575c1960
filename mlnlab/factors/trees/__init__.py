"""Sum out variables: elimination orders, treewidth, junction trees and their messages.

Start with ``elimination_order.py`` and ``junction_trees.py``.
"""
