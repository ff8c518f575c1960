"""Hold cards, from which HTML and text follow, and their parts: markup, tables, symbols, findings.

Start with ``cards.py``. Whatever comes from data is escaped in ``markup.py`` and nowhere else.
"""
