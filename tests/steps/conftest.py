"""What tests of steps can ask for."""

from __future__ import annotations

import gc

import pytest

from tests.support.live_threads import newer_threads
from tests.support.patience import wait_until


@pytest.fixture
def nothing_is_left():
    """Wait, behind the test, until no thread of a live run is left that nobody holds."""
    threads = newer_threads()
    yield
    gc.collect()
    wait_until(lambda: not threads())
