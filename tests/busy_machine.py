"""How busy the machine is: what may take a second on an idle one takes longer where others compute, too."""

from __future__ import annotations

from time import perf_counter, thread_time

_LOOK = 0.1  # seconds of computing


def times_as_long() -> float:
    """Return how many times as long as alone things take just now, 1 at least."""
    began, used = perf_counter(), thread_time()
    while (computed := thread_time() - used) < _LOOK:
        pass
    return max(1.0, (perf_counter() - began) / computed)
