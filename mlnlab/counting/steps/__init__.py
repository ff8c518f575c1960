"""Go through a count step by step: an outline first, then frozen states, table by table.

Start with ``counting_steps.py``; estimates by messages are in ``cluster_steps.py``. The steps use the nodes
of counting itself, so they cannot tell another story.
"""
