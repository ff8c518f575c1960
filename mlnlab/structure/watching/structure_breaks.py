"""Where to pause a structure learner: clauses dropped or retained, scores beaten, phases begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Formula
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.runs.breakpoints import Break
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_formula
from mlnlab.structure.clauses.judged_paths import (
    RETAINED,
    JudgedPath,
    count_judged_paths,
    judged_after,
    judged_paths,
)
from mlnlab.structure.results.by_hand import key_of_clause
from mlnlab.structure.results.candidates import Candidate, Candidates

if TYPE_CHECKING:
    from mlnlab.model.database.database import Database
    from mlnlab.steps.step import Step


@dataclass(frozen=True, eq=False)
class StructureBreaks:
    """Build conditions on the states of one structure learner, each a ``Break``.

    >>> import mlnlab as ml
    >>> db = ml.sample("department").db
    >>> learner = ml.structure_learner("lhl", db, longest=3, fewest=0, sampled=None)
    >>> dropped = learner.breaks.dropped("!Advises(x, y) v TAs(y, c) v Teaches(x, c)")
    >>> print(ml.Trace.of(learner, stop=dropped)[-1].state.create.newest.scores.path)
    Advises(x0, x1) ^ TAs(x1, x2) ^ Teaches(x0, x2)
    """

    databases: tuple[Database, ...]
    params: Any  # the learner's own
    phases: tuple[str, ...]

    # --- clauses ------------------------------------------------------------------------------

    def dropped(self, clause: str | Formula) -> Break:
        """Break where a clause is dropped, and say why."""
        return self._break_at_judgement(clause, "is dropped", lambda one: not one.retained)

    def retained(self, clause: str | Formula) -> Break:
        """Break where a clause is retained."""
        return self._break_at_judgement(clause, "is retained", lambda one: one.retained)

    def judged(self, clause: str | Formula) -> Break:
        """Break where a clause is judged, whatever the verdict."""
        return self._break_at_judgement(clause, "is judged", lambda _: True)

    def next_retained(self, predicate: str | None = None) -> Break:
        """Break at each path of which a clause is retained, of any predicate or of one."""
        if predicate is not None and predicate not in self._vocabulary.predicates:
            hint = did_you_mean(str(predicate), self._vocabulary.predicates) or "."
            raise ArgumentError(f"There is no predicate {predicate!s:.60}{hint}")

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            for judged in list_new_judgements(before, now):
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
            raise ArgumentError(f"A score must be a number, such as -2.5, not {score!r:.60}.")

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            new = list_new_clauses(before, now)
            judged, place = max(new, key=_score_of, default=(None, 0))
            if judged is None or _score_of((judged, place)) <= score:
                return None
            known = () if before is None else _retained_of(judged_paths(before.state.candidates))
            if _score_of((judged, place)) <= max(map(_score_of, known), default=-inf):
                return None
            best = self._candidates(now).of_path(judged, place)
            return f"{to_text(best.clause)} scores {best.score:.6g}"

        words = "than all before it" if score == -inf else f"than {score:g}"
        return Break(f"a clause scores more {words}", condition)

    def kept(self, clause: str | Formula) -> Break:
        """Break where a clause is taken into the model."""
        key, name = self._key(clause)

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            def inside(step: Step[Any]) -> bool:
                return any((kept.path, kept.positive) == key for kept in step.state.model)

            return inside(now) and (before is None or not inside(before))

        return Break(f"{name} is taken into the model", condition)

    def joins(self) -> Break:
        """Break where any clause is taken into the model, behind the first step."""

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            if before is None:
                return None
            known = {(one.path, one.positive) for one in before.state.model}
            new = (one for one in now.state.model if (one.path, one.positive) not in known)
            return next(
                (to_text(clause_formula(one.path, one.positive, self._vocabulary)) for one in new), None
            )

        return Break("a clause is taken into the model", condition)

    # --- the run ------------------------------------------------------------------------------

    def phase(self, name: str) -> Break:
        """Break where a phase of the learner begins, such as ``"assembling"``."""
        if name not in self.phases:
            hint = did_you_mean(str(name), self.phases) or "."
            raise ArgumentError(f"There is no phase {name!s:.60}{hint} There are: {', '.join(self.phases)}.")

        def condition(before: Step[Any] | None, now: Step[Any]) -> bool:
            return now.state.phase == name and (before is None or before.state.phase != name)

        return Break(f"{name} begins", condition)

    # --- which clause is meant ----------------------------------------------------------------

    def _break_at_judgement(
        self, clause: str | Formula, words: str, wanted: Callable[[Candidate], bool]
    ) -> Break:
        key, name = self._key(clause)

        def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
            for judged in list_new_judgements(before, now):
                places = np.flatnonzero(judged.scores.clauses == key.positive).tolist()
                if judged.scores.path != key.path or not places:
                    continue
                one = self._candidates(now).of_path(judged, places[0])
                if wanted(one):
                    return f"{one.verdict}, {one.reason}"
            return None

        return Break(f"{name} {words}", condition)

    def _candidates(self, step: Step[Any]) -> Candidates:
        return Candidates(step.state.candidates, self._vocabulary, step.state.without)

    @cached_property
    def _model(self) -> MLN:
        return MLN.from_formulas([], predicates=self._vocabulary.predicates.values())

    @property
    def _vocabulary(self) -> Any:  # noqa: ANN401 - that of the databases
        return self.databases[0].vocabulary

    def _key(self, clause: str | Formula) -> tuple[ClauseKey, str]:
        """Return the key of a clause in the run, and its text."""
        if not isinstance(clause, str | Formula):
            raise ArgumentError(
                f'A clause is named by its text, such as "!Smokes(x) v Cancer(x)", not {clause!r:.60}.'
            )
        formula = self._model.parse(clause) if isinstance(clause, str) else clause
        return key_of_clause(formula), to_text(formula)


def list_new_judgements(before: Step[Any] | None, now: Step[Any]) -> Sequence[JudgedPath]:
    """Return the paths that were judged since the step before."""
    return judged_after(
        now.state.candidates, 0 if before is None else count_judged_paths(before.state.candidates)
    )


def list_new_clauses(before: Step[Any] | None, now: Step[Any]) -> list[tuple[JudgedPath, int]]:
    """Return the clauses that were retained since the step before, as paths and places in them."""
    return list(_retained_of(list_new_judgements(before, now)))


def _score_of(clause: tuple[JudgedPath, int]) -> float:
    judged, place = clause
    return float(judged.scores.scores[place])


def _retained_of(paths: Iterable[JudgedPath]) -> Iterator[tuple[JudgedPath, int]]:
    for judged in paths:
        for place in np.flatnonzero(judged.verdicts == RETAINED).tolist():
            yield judged, place
