"""How much Python does: calls are counted, which no machine does faster or slower than another."""

from __future__ import annotations

import sys


def calls_of(action):
    """Return how many functions an action calls in this thread, those of Python and those of C."""
    number = 0

    def counting(_frame, event, _argument):
        nonlocal number
        number += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        action()
    finally:
        sys.setprofile(before)
    return number
