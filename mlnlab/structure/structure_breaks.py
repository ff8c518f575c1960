"""Where to pause a structure learner: clauses dropped or retained, scores beaten, clusters merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Formula
from mlnlab.logic.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.mln import MLN
from mlnlab.steps.breakpoints import Break
from mlnlab.structure.by_hand import key_of_clause
from mlnlab.structure.candidates import Candidates
from mlnlab.structure.clause_making import clause_formula
from mlnlab.structure.create_mln import RETAINED
from mlnlab.structure.lhl import ASSEMBLING, CREATING, FINDING, LIFTING
from mlnlab.structure.lift_breaks import LiftBreaks
from mlnlab.structure.lift_graph import lift_graph
from mlnlab.structure.variabilized import canonical_path

if TYPE_CHECKING:
    from mlnlab.model.database import Database
    from mlnlab.steps.step import Step
    from mlnlab.structure.candidates import Candidate
    from mlnlab.structure.clause_making import ClauseKey
    from mlnlab.structure.create_mln import JudgedPath
    from mlnlab.structure.lhl import LhlParams

PHASES = (LIFTING, FINDING, CREATING, ASSEMBLING)


@dataclass(frozen=True, eq=False)
class StructureBreaks:
    """Conditions on the states of one structure learner: each is a :class:`~mlnlab.steps.breakpoints.Break`.

    >>> import mlnlab as ml
    >>> db = ml.sample("department").db
    >>> learner = ml.structure_learner("lhl", db, longest=3, fewest=0, sampled=None)
    >>> dropped = learner.breaks.dropped("!Advises(x, y) v TAs(y, c) v Teaches(x, c)")
    >>> print(ml.Trace.of(learner, stop=dropped)[-1].state.create.newest.scores.path)
    Advises(x0, x1) ^ TAs(x1, x2) ^ Teaches(x0, x2)
    """

    databases: tuple[Database, ...]
    params: LhlParams

    # --- clauses ------------------------------------------------------------------------------

    def dropped(self, clause: str | Formula) -> Break:
        """Break where CreateMLN drops a clause, and say why."""
        return self._judged(clause, "is dropped", lambda one: not one.retained)

    def retained(self, clause: str | Formula) -> Break:
        """Break where CreateMLN retains a clause."""
        return self._judged(clause, "is retained", lambda one: one.retained)

    def judged(self, clause: str | Formula) -> Break:
        """Break where CreateMLN judges a clause, whatever the verdict."""
        return self._judged(clause, "is judged", lambda _: True)

    def next_retained(self, predicate: str | None = None) -> Break:
        """Break at each path of which a clause is retained, of any predicate or of one."""
        if predicate is not None and predicate not in self._vocabulary.predicates:
            hint = did_you_mean(str(predicate), self._vocabulary.predicates) or "."
            raise ArgumentError(f"There is no predicate {predicate!s:.60}{hint}")

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            for judged in _newly_judged(before, now):
                path = judged.scores.path
                if predicate is not None and all(atom.predicate != predicate for atom in path.atoms):
                    continue
                for place in np.flatnonzero(judged.verdicts == RETAINED).tolist():
                    return to_text(clause_formula(path, int(judged.scores.clauses[place]), self._vocabulary))
            return None

        return Break(f"a clause{f' about {predicate}' if predicate else ''} is retained", condition)

    def beats(self, score: float) -> Break:
        """Break where a retained clause has a greater score than any before it, and than this."""
        if isinstance(score, bool) or not isinstance(score, int | float | np.number):
            raise ArgumentError(f"A score is a number, such as -2.5, not {score!r:.60}.")

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            state, old = now.state.create, None if before is None else before.state.create
            if state is None or state.best <= score or (old is not None and old.best >= state.best):
                return None
            best = Candidates(state, self._vocabulary).of_path(state.newest, state.best_clause)
            return f"{to_text(best.clause)} scores {best.score:.6g}"

        words = "than all before it" if score == -inf else f"than {score:g}"
        return Break(f"a clause scores more {words}", condition)

    def kept(self, clause: str | Formula) -> Break:
        """Break where greedy assembly takes a clause into the model."""
        key, name = self._key(clause)

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            def inside(step: Step[Any]) -> bool:
                found = step.state.assembly
                return found is not None and any((k.path, k.positive) == key for k in found.kept)

            return inside(now) and (before is None or not inside(before))

        return Break(f"{name} is taken into the model", condition)

    # --- the run ------------------------------------------------------------------------------

    def phase(self, name: str) -> Break:
        """Break where a phase begins: lifting, finding paths, creating clauses, assembling."""
        if name not in PHASES:
            hint = did_you_mean(str(name), PHASES) or "."
            raise ArgumentError(f"There is no phase {name!s:.60}{hint} There are: {', '.join(PHASES)}.")

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            return now.state.phase == name and (before is None or before.state.phase != name)

        return Break(f"{name} begins", condition)

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

    # --- which clause is meant ----------------------------------------------------------------

    def _judged(self, clause: str | Formula, words: str, wanted: Callable[[Candidate], bool]) -> Break:
        key, name = self._key(clause)

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            for judged in _newly_judged(before, now):
                places = np.flatnonzero(judged.scores.clauses == key.positive).tolist()
                if judged.scores.path != key.path or not places:
                    continue
                one = Candidates(now.state.create, self._vocabulary).of_path(judged, places[0])
                if wanted(one):
                    return f"{one.verdict}, {one.reason}"
            return None

        return Break(f"{name} {words}", condition)

    @cached_property
    def _model(self) -> MLN:
        return MLN.from_formulas([], predicates=self._vocabulary.predicates.values())

    @property
    def _vocabulary(self) -> Any:  # noqa: ANN401 - that of the databases
        return self.databases[0].vocabulary

    def _key(self, clause: str | Formula) -> tuple[ClauseKey, str]:
        """Return what a clause is known by in the run; refuse one that can never be a candidate."""
        if not isinstance(clause, str | Formula):
            raise ArgumentError(
                f'A clause is named by its text, such as "!Smokes(x) v Cancer(x)", not {clause!r:.60}.'
            )
        formula = self._model.parse(clause) if isinstance(clause, str) else clause
        key, text = key_of_clause(formula), to_text(formula)
        atoms = key.path.atoms
        if len(atoms) > self.params.longest:
            raise ArgumentError(f"{text} has {len(atoms)} literals; paths of this run have up to "
                                f"{self.params.longest} (ω).")  # fmt: skip
        if not canonical_path(atoms).is_connected:
            raise ArgumentError(f"{text} is no clause of a path: its literals do not hang together.")
        if len(atoms) == 1 and not self.params.singles:
            raise ArgumentError(f"{text} is a unit clause; singles=True makes single hyperedges paths.")
        return key, text


def _newly_judged(before: Step[Any] | None, now: Step[Any]) -> Sequence[JudgedPath]:
    """Return the paths that were judged since the step before."""
    state = now.state.create
    old = 0 if before is None or before.state.create is None else before.state.create.done
    if state is None or state.done <= old:
        return ()
    return (state.newest,) if state.done == old + 1 else list(state.judged())[old:]


def _lifting(step: Step[Any]) -> Any:  # noqa: ANN401 - the step of another stream
    return replace(step, state=step.state.lift)
