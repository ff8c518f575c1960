"""Queries that hear an interrupt: DuckDB itself listens between its tasks, which may take minutes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Answer = TypeVar("_Answer")
_LISTEN = 0.2  # seconds; some systems deliver an interrupt only between waits


def interruptible(query: Callable[[], _Answer], stop: Callable[[], None]) -> _Answer:
    """Return the answer of a query; an interrupt stops it, and is raised when it has ended.

    The main thread, which is the one that interrupts reach, only waits: the query is asked in another one.

    >>> interruptible(lambda: 6 * 7, stop=lambda: None)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return query()
    answers: list[_Answer] = []
    problems: list[BaseException] = []
    ended = threading.Event()  # a thread's own join believes it ended when an interrupt comes while it waits

    def ask() -> None:
        try:
            answers.append(query())
        except BaseException as problem:  # noqa: BLE001 - raised where the answer is waited for
            problems.append(problem)
        finally:
            ended.set()

    threading.Thread(target=ask, name="mlnlab-duckdb", daemon=True).start()
    try:
        while not ended.wait(_LISTEN):
            pass
    except BaseException:
        while not ended.wait(_LISTEN):
            stop()  # again where the query had not yet begun
        raise
    if problems:
        raise problems[0]
    return answers[0]
