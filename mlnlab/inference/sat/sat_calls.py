"""Asking a SAT solver so that an interrupt is heard at once: it works in a thread of its own.

The solver is MiniSat 2.2 through python-sat (Eén and Sörensson, An extensible SAT-solver, 2003): it looks at
a request to stop at each decision, within milliseconds at 10^5 variables, where Glucose looks at its next
restart, tenths of a second later. Later solvers (the Maple family) switch their strategy by what earlier runs
in the same process left behind, so that a run that is repeated takes another way. Budgets are counted in
conflicts, not in seconds, so that the same question gets the same answer; only what has a deadline may be
given up sooner on a slower machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from types import TracebackType
from typing import Any, Self

SOLVER = "minisat22"
CLAUSES_AT_ONCE = 2_000  # that the solver is given in one call: some hundredths of a second, if they are long


def tell(solver: Any, clauses: Iterable[Sequence[int]]) -> None:  # noqa: ANN401 - python-sat is not typed
    """Give clauses to a solver, few at a time: within a call, no interrupt is heard."""
    left = iter(clauses)
    while some := list(islice(left, CLAUSES_AT_ONCE)):
        solver.append_formula(some)


class Waiting:
    """Asks a solver of python-sat, which belongs to somebody else, from a thread of its own."""

    def __init__(self, solver: Any) -> None:  # noqa: ANN401 - python-sat is not typed
        self._solver = solver
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="mlnlab SAT")

    def close(self) -> None:
        """End the thread: before the solver is deleted."""
        self._threads.shutdown()

    def answer(
        self, assumptions: Sequence[int] = (), conflicts: int | None = None, until: float | None = None
    ) -> bool | None:
        """Return whether the clauses can be satisfied.

        ``None`` where that took more conflicts, or longer than to a moment of ``time.monotonic``.
        """
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0.0:  # an answer would depend on which thread is faster
            return None
        self._solver.clear_interrupt()
        self._solver.conf_budget(-1 if conflicts is None else conflicts)
        asked = self._threads.submit(
            self._solver.solve_limited, assumptions=list(assumptions), expect_interrupt=True
        )
        try:
            wait([asked], left)
        finally:  # also where somebody pressed Ctrl-C
            if not asked.done():
                self._solver.interrupt()
            answer = asked.result()
        return None if answer is None else bool(answer)


class Asked:
    """A solver over some clauses; ends with the ``with`` that it is used in."""

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        from pysat.solvers import Solver

        self._solver: Any = Solver(name=SOLVER)
        tell(self._solver, clauses)
        self._waiting = Waiting(self._solver)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.close()
        self._solver.delete()

    def answer(
        self, assumptions: Sequence[int] = (), conflicts: int | None = None, until: float | None = None
    ) -> bool | None:
        """Return whether the clauses can be satisfied: see ``Waiting.answer``."""
        return self._waiting.answer(assumptions, conflicts, until)

    def core(self) -> set[int]:
        """Return the assumptions that the last refutation used."""
        return set(self._solver.get_core() or ())

    def model(self) -> set[int]:
        """Return the true variables of the last solution."""
        return {literal for literal in self._solver.get_model() or () if literal > 0}
