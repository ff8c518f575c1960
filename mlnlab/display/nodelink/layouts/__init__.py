"""Where things stand in a drawing: pure functions of arrays, the same picture every time.

Each layout can begin from earlier places, so that a step of an algorithm does not reshuffle the picture.
"""
