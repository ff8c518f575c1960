"""The threads of live runs: a test answers for those that began while it ran, and for no other test's."""

from __future__ import annotations

import threading


def threads():
    """Return the threads of live runs."""
    return [thread for thread in threading.enumerate() if thread.name == "mlnlab-live"]


def newer_threads():
    """Return a function that lists the threads of live runs that began after this call."""
    before = set(threads())
    return lambda: [thread for thread in threads() if thread not in before]
