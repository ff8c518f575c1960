"""Compare the results of structure learners on the same data: ``ml.compare_structures``.

Clauses are the same if they differ in nothing but the names of variables and the order of literals. Of a
clause that one learner found and another did not, the other one's verdict is told: a clause may have been
dropped for a reason, or never have been considered. Held-out databases judge the models by the protocol of
``structure_evaluation.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import ArgumentError, count_of
from mlnlab.experiments.folds.folds import name_databases
from mlnlab.experiments.structures.structure_evaluation import evaluate_structure
from mlnlab.experiments.structures.structure_results import StructureEvaluation
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.database import Database
from mlnlab.model.database.fingerprints import fingerprint
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.results.by_hand import key_of_clause
from mlnlab.structure.results.learned_structure import Candidate, LearnedClause, LearnedStructure

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.logic.formulas.formulas import Formula

Held = Database | Sequence[Database] | Mapping[str, Database] | StructureEvaluation
NEVER_CONSIDERED = "never considered"


class ComparedClause(NamedTuple):
    """A clause of at least one model: its weight in each that has it, and why the others have not."""

    formula: Formula
    weights: Mapping[str, float]
    missing: Mapping[str, str]  # by the name of each other structure


@dataclass(frozen=True, eq=False)
class StructureComparison:
    """The results of several structure learners, side by side, by their names."""

    learned: Mapping[str, LearnedStructure]
    evaluation: StructureEvaluation | None = None  # on databases that none of them has seen

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the structures."""
        return tuple(self.learned)

    @cached_property
    def clauses(self) -> tuple[ComparedClause, ...]:
        """The clauses of all models: first those that most of them have, in the models' own order."""
        models = {name: _by_key(one.clauses) for name, one in self.learned.items()}
        keys = dict.fromkeys(key for model in models.values() for key in model)
        found = [self._compare(key, models) for key in keys]
        return tuple(sorted(found, key=lambda clause: -len(clause.weights)))

    def _compare(
        self, key: ClauseKey, models: Mapping[str, Mapping[ClauseKey, LearnedClause]]
    ) -> ComparedClause:
        having = {name: model[key] for name, model in models.items() if key in model}
        formula = next(iter(having.values())).formula
        missing = {name: _verdict(one, key) for name, one in self.learned.items() if name not in having}
        weights = {name: clause.weight for name, clause in having.items()}
        return ComparedClause(formula, FrozenMapping(weights), FrozenMapping(missing))

    def only(self, name: str) -> tuple[ComparedClause, ...]:
        """Return the clauses that no other model has."""
        if name not in self.learned:
            raise ArgumentError(f"There is no structure {name!s:.60}; there is {', '.join(self.names)}.")
        return tuple(clause for clause in self.clauses if set(clause.weights) == {name})

    @property
    def shared(self) -> tuple[ComparedClause, ...]:
        """The clauses that all models have."""
        return tuple(clause for clause in self.clauses if not clause.missing)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each clause: its weight in each model, nothing where it is not there."""
        import pandas as pd

        rows = [
            [to_text(clause.formula), *(clause.weights.get(name, nan) for name in self.names)]
            for clause in self.clauses
        ]
        return pd.DataFrame(rows, columns=["clause", *self.names])

    @cached_property
    def _summary(self) -> pd.DataFrame:
        import pandas as pd

        rows = [
            [name, one.method, len(one.clauses), len(self.only(name)), len(one.candidates), one.wpll,
             one.seconds]
            for name, one in self.learned.items()
        ]  # fmt: skip
        found = pd.DataFrame(rows, columns=list(_COLUMNS))
        if self.evaluation is None:
            return found
        tested = self.evaluation.summary().rename(columns={"system": "structure"})
        return found.merge(tested[["structure", "cll", "cll_error", "auc", "auc_error"]], on="structure")

    def summary(self) -> pd.DataFrame:
        """Return a row for each structure: clauses, candidates, WPLL, seconds, and scores where tested."""
        return self._summary.copy()

    def __repr__(self) -> str:
        own = ", ".join(f"{len(self.only(name))} only by {name}" for name in self.names)
        clauses = count_of(len(self.clauses), "clause")
        return f"<StructureComparison: {clauses}, {len(self.shared)} shared, {own}>"


_COLUMNS = ("structure", "method", "clauses", "only_here", "candidates", "wpll", "seconds")


def compare_structures(
    learned: Mapping[str, LearnedStructure] | Sequence[LearnedStructure],
    test: Held | None = None,
    **testing: object,
) -> StructureComparison:
    r"""Lay the results of several structure learners on the same data side by side.

    ``learned`` are results of :func:`mlnlab.learn_structure`, under names of their own or under those of
    their methods. ``test`` is a database that none of them has learned from, or several, on which the models
    are tested as :func:`mlnlab.evaluate_structure` does, whose options may follow; paired tests need several.
    It may as well be such an evaluation, made fold by fold, whose systems have the same names.

    >>> import mlnlab as ml
    >>> db = ml.sample("department").db
    >>> one, other = (ml.learn_structure(db, "lhl-noheu", longest=n, fraction=1.0) for n in (2, 3))
    >>> ml.compare_structures({"short": one, "long": other})
    <StructureComparison: 4 clauses, 3 shared, 0 only by short, 1 only by long>
    """
    structures = _name_structures(learned)
    _refuse_other_data(structures)
    return StructureComparison(structures, _evaluation(structures, test, testing))


def _name_structures(learned: object) -> FrozenMapping[LearnedStructure]:
    if isinstance(learned, Mapping):
        found = {str(name): one for name, one in learned.items()}
    elif isinstance(learned, Sequence) and not isinstance(learned, str):
        found = {}
        for one in learned:
            method = getattr(one, "method", "structure")
            number = sum(name.partition(" ")[0] == method for name in found) + 1
            found[method if number == 1 else f"{method} {number}"] = one
    else:
        found = {}
    for name, one in found.items():
        if not isinstance(one, LearnedStructure) or one.weighing is None:
            raise ArgumentError(
                f"{name:.60} is {one!r:.100}, which has no clauses to compare; give results of "
                "ml.learn_structure whose method learns clauses."
            )
    if len(found) < 2:
        raise ArgumentError(
            'Give at least two structures: ml.compare_structures({"LHL": learned, "MSL": other}).'
        )
    return FrozenMapping(found)


def _refuse_other_data(structures: Mapping[str, LearnedStructure]) -> None:
    """Refuse structures of different data: their pseudo-likelihoods would not be of the same atoms."""
    prints = {name: sorted(map(fingerprint, one.databases)) for name, one in structures.items()}
    first, *others = prints
    for name in others:
        if prints[name] != prints[first]:
            raise ArgumentError(
                f"{name:.60} was learned from other databases than {first:.60}; structures are compared on "
                "the same data."
            )


def _evaluation(
    structures: Mapping[str, LearnedStructure], test: object, testing: Mapping[str, object]
) -> StructureEvaluation | None:
    if test is None or isinstance(test, StructureEvaluation):
        if testing:
            raise ArgumentError(
                f"{next(iter(testing))} is an option of testing: give test= a database, or several."
            )
        if test is not None and set(test.systems) != set(structures):
            raise ArgumentError(
                f"The evaluation is of {', '.join(test.systems)}, the structures are "
                f"{', '.join(structures)}; call them the same."
            )
        return test
    held = name_databases({"test": test} if isinstance(test, Database) else test)
    seen = next(iter(structures.values())).databases
    prints = set(map(fingerprint, seen))
    for name, db in held.items():
        if fingerprint(db) in prints:
            raise ArgumentError(f"{name:.60} was learned from; test on a database that was not.")
    # Each is a fold to test on, and one more database has to be there to learn from.
    every = {**held, "+".join(["learned from", *held]): seen[0]}
    return evaluate_structure(dict(structures), every, only=list(held), **testing)  # type: ignore[arg-type]  # checked there


# --- clauses up to renaming -------------------------------------------------------------------------


def _by_key(clauses: Sequence[LearnedClause]) -> dict[ClauseKey, LearnedClause]:
    return {_key(clause): clause for clause in clauses}


def _key(clause: LearnedClause) -> ClauseKey:
    one = clause.candidate
    return key_of_clause(clause.formula) if one is None else clause_key(one.path.atoms, one.positive)


def _verdict(learned: LearnedStructure, key: ClauseKey) -> str:
    """Return the fate of a clause that a model has not, in the words of its learner.

    A search that begins again judges clauses again: the last time they were judged beside the largest model.
    """
    place = learned.candidates.place(key.path, key.positive, last=True)
    if place is None:
        return NEVER_CONSIDERED
    one: Candidate = learned.candidates[place]
    verdict = "retained, but not taken into the model" if one.retained else one.verdict
    return f"{verdict}: {one.reason}"
