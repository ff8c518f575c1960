"""What tests of steps can ask for."""

from __future__ import annotations

import gc
import time

import pytest

from tests.patience import PATIENCE
from tests.steps.live_runs import threads


@pytest.fixture
def nothing_is_left():
    """Wait, behind the test, until no thread of a live run is left that nobody holds."""
    yield
    gc.collect()
    until = time.monotonic() + PATIENCE
    while threads() and time.monotonic() < until:
        time.sleep(0.001)
    assert not threads()
