"""What tests of steps can ask for."""

from __future__ import annotations

import gc
import time

import pytest

from tests.support.live_threads import newer_threads
from tests.support.patience import wait_until


@pytest.fixture
def nothing_is_left():
    """Wait, behind the test, until no thread of a live run is left that nobody holds."""
    threads = newer_threads()
    yield
    for generation in (1, 2):  # what a test made is young; to look through all that there is takes long
        if threads():
            gc.collect(generation)
            time.sleep(0.01)
    wait_until(lambda: not threads())
