"""Open the door to lifted models: ``ml.lift``, by rules or by cells, and all that can be asked of them.

Start with ``lift.py``; ``cell_theory.py`` answers the same questions by cells.
"""
