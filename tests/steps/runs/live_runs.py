"""What tests of live runs share: an algorithm that waits to be let, and event loops.

Nothing here sleeps for luck.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.steps.toys import Count
from tests.support.patience import PATIENCE


def in_a_loop_of_its_own(main):
    """Run a coroutine function in another thread: in this one a browser's event loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(main())).result()


class Gate:
    """An algorithm that makes a step only when it is let."""

    def __init__(self):
        self.open, self._entered = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self):
        value = 0
        while True:
            self._entered.release()
            assert self.open.acquire(timeout=PATIENCE)
            yield Count(value)
            value += 1

    def entered(self):
        """Wait until the next step is being made."""
        return self._entered.acquire(timeout=PATIENCE)
