"""Define the base of all views: one door for messages, scenes, graphs that open on a click.

Start with ``view.py``.
"""
