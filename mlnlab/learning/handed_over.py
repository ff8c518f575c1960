"""A library's optimiser, which calls us back, as an iterator that is asked, step by step.

scipy's minimisers run to their end and report each iterate by a callback. Here such a run lives in a thread
that rests inside the callback until the next iterate is wanted; one of the two threads works at a time.
"""

from __future__ import annotations

from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class _Given(Exception):  # noqa: N818 - no error: nobody wants to know more
    """Raised in the thread when its results are no longer wanted."""


class _End(Generic[T]):
    """The end of a run, or what it failed with."""

    def __init__(self, problem: BaseException | None) -> None:
        self.problem = problem


def handed_over(run: Callable[[Callable[[T], None]], object]) -> Iterator[T]:
    """Yield what ``run`` hands to the function that it is given, each when it is asked for."""
    results: SimpleQueue[T | _End[T]] = SimpleQueue()
    wanted: SimpleQueue[bool] = SimpleQueue()

    def hand(value: T) -> None:
        results.put(value)
        if not wanted.get():
            raise _Given

    def work() -> None:
        problem: BaseException | None = None
        try:
            if wanted.get():
                run(hand)
        except _Given:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            problem = error
        results.put(_End(problem))

    thread = Thread(target=work, daemon=True, name="mlnlab optimiser")
    thread.start()
    try:
        while True:
            wanted.put(True)
            found = results.get()
            if isinstance(found, _End):
                if found.problem is not None:
                    raise found.problem
                return
            yield found
    finally:
        wanted.put(False)
