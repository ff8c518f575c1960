"""Pieces of an experiment that an executor works on: results as they come, a sentence where one cannot."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.fold_results import FoldResult

Task = TypeVar("Task")


class Future(Protocol):
    """The future result that an executor returns."""

    def result(self) -> FoldResult:
        """Wait for it."""
        ...

    def cancel(self) -> object:
        """Give it up, if it has not begun."""
        ...

    def add_done_callback(self, told: Callable[[Any], object], /) -> object:
        """Have a function called when it is there."""
        ...


class Executor(Protocol):
    """Anything that runs functions elsewhere, as ``concurrent.futures`` and ``dask.distributed`` do."""

    def submit(self, function: Callable[..., FoldResult], /, *arguments: Any) -> Future:  # noqa: ANN401 - a task
        """Run a function, and return a future."""
        ...


def results_elsewhere(
    executor: Executor, work: Callable[[Task], FoldResult], tasks: Sequence[Task],
    failed: Callable[[Task, str], FoldResult],
) -> Iterator[tuple[Task, FoldResult]]:  # fmt: skip
    """Yield results as they come; cancel tasks not yet begun when the caller stops iterating.

    ``failed`` makes the result of a task that no worker could finish.
    """
    futures = [executor.submit(work, task) for task in tasks]
    ready: queue.SimpleQueue[int] = queue.SimpleQueue()
    try:
        for place, future in enumerate(futures):
            future.add_done_callback(partial(_tell, ready, place))
        for _ in futures:
            place = ready.get()
            yield tasks[place], _result(tasks[place], futures[place], failed)
    finally:
        for future in futures:
            with suppress(Exception):
                future.cancel()


def _tell(ready: queue.SimpleQueue[int], place: int, _: object) -> None:
    """Say that a result is there; futures call it in threads of their own."""
    ready.put(place)


def _result(task: Task, future: Future, failed: Callable[[Task, str], FoldResult]) -> FoldResult:
    try:
        found = future.result()
    except Exception as problem:  # noqa: BLE001 - a worker that died, a function that cannot travel
        return failed(
            task,
            f"The executor could not run it: {type(problem).__name__}: {problem}. A learner for other"
            " processes is a function of a module that can be imported there.",
        )
    if not isinstance(found, FoldResult):
        raise ArgumentError(f"The executor returned {found!r:.60} instead of a result.")
    return found
