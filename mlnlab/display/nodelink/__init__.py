"""Draw nodes and links: ground networks, and large graphs collapsed into groups that open on a click.

Start with ``node_links.py``, which builds such pictures, then ``ground_network_scenes.py``, ``collapsed.py``.
Layouts are deterministic and incremental.
"""
