"""python-sat's RC2, core by core: so that it can be watched, stopped, and bounded.

The library's own loop returns at the end only. This one does the same in the same order, with a limit on the
conflicts of each call of the SAT solver, which keeps what it has learnt from one call to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mlnlab.inference.sat.sat_calls import SOLVER, Waiting, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from mlnlab.inference.sat.weighted_clauses import WeightedClauses


class CoreGuided:
    """A run of RC2 with stratification; its state is inside, and read between its steps."""

    def __init__(self, problem: WeightedClauses, conflicts_per_call: int) -> None:
        from pysat.examples.rc2 import RC2Stratified
        from pysat.formula import WCNF

        formula = WCNF()
        for literal, cost in problem.costs.items():
            formula.append([literal], weight=cost)
        formula.nv = max(formula.nv, problem.propositions.top)
        self._solver: Any = RC2Stratified(formula, solver=SOLVER, adapt=True, blo="full")
        tell(self._solver.oracle, problem.hard)
        self._waiting = Waiting(self._solver.oracle)
        self._atoms = problem.propositions.clauses.number_of_atoms
        self._per_call = conflicts_per_call
        self.model: set[int] | None = None  # the true atoms of the last world
        self.cores = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.close()
        self._solver.delete()

    @property
    def paid(self) -> int:
        """The units that every world costs."""
        return int(self._solver.cost)

    @property
    def conflicts(self) -> int:
        """The conflicts of the SAT solver so far."""
        return int(self._solver.oracle.accum_stats()["conflicts"])

    def run(self) -> Iterator[str | None]:
        """Yield ``"going on"`` after each call, ``"optimal"`` last; ``None`` where no world is possible."""
        solver = self._solver
        while (found := self._waiting.answer(conflicts=self._per_call)) is None:
            yield "going on"
        if not found:
            yield None
            return
        self._keep()
        yield "going on"
        solver.next_level()
        while solver.levl is not None and solver.done < len(solver.blop):
            solver.done = solver.activate_clauses(solver.done)
            yield from self._level()
            solver.blop = sorted(solver.wstr, reverse=True)
            if solver.done < len(solver.blop):
                solver.finish_level()
                solver.levl += 1
                solver.next_level()
        yield "optimal"

    def _level(self) -> Iterator[str]:
        """Pay for cores until all of this weight and above holds that is not paid for."""
        solver = self._solver
        if solver.adapt:
            solver.adapt_am1()
        while True:
            answer = self._waiting.answer(solver.sels + solver.sums, self._per_call)
            if answer:
                self._keep()
                yield "going on"
                return
            if answer is False:
                solver.get_core()
                solver.process_core()
                self.cores += 1
            yield "going on"

    def _keep(self) -> None:
        model = self._solver.oracle.get_model() or ()
        self.model = {literal for literal in model if 0 < literal <= self._atoms}
