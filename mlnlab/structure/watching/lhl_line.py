"""The progress of LHL in a terminal: databases lifted, paths found, candidates done and the time left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from mlnlab.errors import ArgumentError, count_of
from mlnlab.steps.runs.breakpoints import Break
from mlnlab.steps.runs.status_line import bar_of, lasting
from mlnlab.structure.clauses.assembly import ASSEMBLING, Assembling
from mlnlab.structure.clauses.create_mln import CREATING
from mlnlab.structure.lift.lift_breaks import LiftBreaks
from mlnlab.structure.lift.lift_graph import lift_graph
from mlnlab.structure.paths.path_support import FINDING
from mlnlab.structure.paths.variabilized import canonical_path
from mlnlab.structure.watching.structure_breaks import StructureBreaks

if TYPE_CHECKING:
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.steps.step import Step
    from mlnlab.structure.clauses.clause_making import ClauseKey
    from mlnlab.structure.watching.structure_line import PhaseBegun


class LiftingStates(Assembling, Protocol):
    """The states of LHL, as far as the line tells them."""

    @property
    def phase(self) -> str:
        """The phase of the run."""
        ...

    @property
    def labels(self) -> tuple[object, ...]:
        """The clusters of each database that is lifted."""
        ...

    @property
    def paths(self) -> int:
        """How many paths were found."""
        ...


def lhl_line(name: str, seconds: float, state: LiftingStates, began: PhaseBegun) -> str:
    """Return the line of a state; the rate and the time left are those since clauses began to be judged."""
    parts = [name, state.phase]
    if state.phase == CREATING and state.create is not None:
        create, since = state.create, max(1e-9, seconds - began.seconds)
        rate = (create.candidates - began.candidates) / since
        left = since * (create.paths - create.done) / max(1, create.done - began.paths)
        parts += [
            bar_of(create.done / max(1, create.paths)), count_of(create.candidates, "candidate"),
            f"{rate:,.0f}/s", f"{lasting(left)} left", f"{create.retained:,} retained",
            f"best {create.metrics()['best score']:.5g}",
        ]  # fmt: skip
    elif state.phase == ASSEMBLING and state.assembly is not None:
        assembly = state.assembly
        parts += [
            bar_of(assembly.tried / max(1, assembly.clauses)), f"{len(assembly.kept):,} clauses kept",
            f"WPLL {assembly.value:.6g}",
        ]  # fmt: skip
    elif state.phase == FINDING:
        parts.append(count_of(state.paths, "path"))
    else:
        parts.append(f"{count_of(len(state.labels), 'database')} lifted")
    return "  ".join([*parts, f"{seconds:.0f} s"])


# --- where to pause LHL -------------------------------------------------------------------------

# It pauses at the conditions of every structure learner, and where constants are merged.


class LhlBreaks(StructureBreaks):
    """Build conditions on the states of LHL, each a ``Break``; of clauses that paths can give."""

    def together(self, *names: str, type: str | None = None) -> Break:  # noqa: A002 - the paper's word
        """Break where constants that were apart are merged into one cluster, in any of the databases."""
        found, problem = {}, None
        for number, database in enumerate(self.databases):
            try:
                found[number] = LiftBreaks(lift_graph(database).problem).together(*names, type=type)
            except ArgumentError as refusal:
                problem = problem or refusal
        if not found:
            assert problem is not None  # noqa: S101 - there is a database
            raise problem

        def condition(_: Step[Any] | None, now: Step[Any]) -> bool:
            state, own = now.state, found.get(len(now.state.labels))
            if state.lift is None or own is None:
                return False
            return own.verdict(_lifting(now)) is not None

        return Break(f"{' and '.join(names)} merge", condition)

    def _key(self, clause: str | Formula) -> tuple[ClauseKey, str]:
        """Return the key of a clause in the run, and its text; refuse a clause that is never a candidate."""
        key, text = super()._key(clause)
        atoms = key.path.atoms
        if len(atoms) > self.params.longest:
            raise ArgumentError(f"{text} has {len(atoms)} literals; paths of this run have up to "
                                f"{self.params.longest} (ω).")  # fmt: skip
        if not canonical_path(atoms).is_connected:
            raise ArgumentError(f"{text} is not a clause of a path: its literals do not hang together.")
        if len(atoms) == 1 and not self.params.singles:
            raise ArgumentError(f"{text} is a unit clause; singles=True makes single hyperedges paths.")
        return key, text


def _lifting(step: Step[Any]) -> Any:  # noqa: ANN401 - the step of another stream
    return replace(step, state=step.state.lift)
