"""Define the values that inference returns, and how they explain themselves.

Start with ``marginals.py``. These are frozen values without algorithms; ``memory.py`` counts the bytes that
a method holds. Everything else in ``inference`` may import this room.
"""
