"""How long tests wait: so long that on the slowest machine only what never comes takes longer.

No test has to be quick to pass. Where something is said to be quick, a test counts what is done (steps,
frames, calls) or drives a clock by hand; seconds are measured by `make bench`.
"""

from __future__ import annotations

import time

PATIENCE = 180.0  # seconds


def wait_until(reached, step=0.005):
    """Wait until a condition holds; fail where it never does."""
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "this never came"
        time.sleep(step)


def becomes(read, wanted):
    """Wait until what is read is what is wanted; fail with both where it never is."""
    end = time.monotonic() + PATIENCE
    while (found := read()) != wanted and time.monotonic() < end:
        time.sleep(0.03)
    assert found == wanted
