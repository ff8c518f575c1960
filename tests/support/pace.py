"""How quick this machine is: a bound of so many seconds is meant for the one that it was found on."""

from __future__ import annotations

from functools import cache
from time import thread_time

import numpy as np

_SECONDS = 0.019  # what the piece of work below took on the machine of the bounds


@cache
def slower():
    """Return how many times as long as there a piece of computing takes here, 1 at least."""
    return max(1.0, min(_seconds_of_a_piece() for _ in range(5)) / _SECONDS)


def _seconds_of_a_piece():
    began, table, numbers = thread_time(), {}, np.arange(200_000.0)
    for number in range(60_000):
        table[number % 997] = table.get(number % 997, 0) + number
    for _ in range(20):
        numbers = np.sqrt(numbers * numbers + 1.0)
    return thread_time() - began
