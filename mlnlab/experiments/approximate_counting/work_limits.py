"""Stop a piece of work when its time is over or its memory is used up, as the paper's four days and 8 GB.

The limits are those of the operating system, so that they hold inside a step as well; where it has none
(Windows), or outside the main thread, the work is stopped between steps only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite

from mlnlab.errors import MlnlabError

try:
    import resource
    import signal
except ImportError:  # Windows has no resource
    HAS_LIMITS = False
else:
    HAS_LIMITS = hasattr(signal, "setitimer")
    _TIMERS = {
        "wall": (signal.ITIMER_REAL, signal.SIGALRM),
        "processor": (signal.ITIMER_PROF, signal.SIGPROF),
    }


class TimeOverError(MlnlabError):
    """Tells that a piece of work was stopped because its time was over."""


@contextmanager
def limit_work(seconds: float, megabytes: float, clock: str = "wall") -> Iterator[None]:
    """Raise ``TimeOverError`` or ``MemoryError`` inside where a limit is reached; infinity is none."""
    if not HAS_LIMITS or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeOverError(f"{seconds:,.0f} seconds were over")

    timer, kind = _TIMERS[clock]
    old, before = resource.getrlimit(resource.RLIMIT_DATA), signal.signal(kind, stop)
    try:
        if isfinite(megabytes):
            hard = old[1] if old[1] != resource.RLIM_INFINITY else None
            wanted = int(megabytes * 1e6)
            resource.setrlimit(resource.RLIMIT_DATA, (min(wanted, hard or wanted), old[1]))
        signal.setitimer(timer, seconds if isfinite(seconds) else 0.0)
        yield
    finally:
        signal.setitimer(timer, 0.0)
        signal.signal(kind, before)
        resource.setrlimit(resource.RLIMIT_DATA, old)
