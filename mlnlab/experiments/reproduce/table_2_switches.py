"""The causes that section 4.4 of Kok and Domingos (ICML 2009) names for worse results, each a switch.

    mlnlab reproduce table-2 --folder results --files data --data imdb --system msl --switch one-by-one

MSL and BUSL did better in the papers that introduced them, because these asked easier questions or knew more:

- ``all-other-atoms``: each atom is predicted given all other ground atoms;
- ``bias``: MSL had a declarative bias for each data set. The papers do not print theirs; here a literal joins
  a clause by a person (on Cora: by a citation or field) that the clause has already;
- ``equalities``: predicates as ``samePerson(x, y)``, true of equal arguments alone, are kept and predicted,
  one for each type: four on IMDB and nine on UW-CSE, as many as the paper omitted;
- ``one-by-one``: predicates that decide each other, as actor and director, are asked one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.reproduce.table_2_data import Dataset
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Predicate
from mlnlab.model.database.database import Database

OTHERS, BIAS, EQUALITIES, ONE_BY_ONE = "all-other-atoms", "bias", "equalities", "one-by-one"
SWITCHES = (OTHERS, BIAS, EQUALITIES, ONE_BY_ONE)

# Modes: + is a variable that the clause has already when the literal joins it, - is any.
_MODES: Mapping[str, Mapping[str, str]] = {
    "imdb": {
        "actor": "+", "director": "+", "gender": "+-", "genre": "+-", "movie": "-+", "workedUnder": "+-",
    },
    "uw-cse": {
        "taughtBy": "-+-", "hasPosition": "+-", "projectMember": "-+", "advisedBy": "+-",
        "tempAdvisedBy": "+-", "yearsInProgram": "+-", "ta": "-+-", "student": "+", "professor": "+",
        "inPhase": "+-", "publication": "-+", "courseLevel": "+-",
    },
    "cora": {
        "Author": "+-", "Title": "+-", "Venue": "+-", "HasWordAuthor": "+-", "HasWordTitle": "+-",
        "HasWordVenue": "+-", "SameBib": "+-", "SameAuthor": "+-", "SameTitle": "+-", "SameVenue": "+-",
    },
}  # fmt: skip


def refuse_unknown_switches(switches: Sequence[str], systems: Sequence[str]) -> None:
    """Raise a sentence for a switch that does not exist, or that a system has no use for."""
    for name in switches:
        if name not in SWITCHES:
            hint = did_you_mean(name, SWITCHES) or "."
            raise ArgumentError(f"There is no switch {name:.60}{hint} There are: {', '.join(SWITCHES)}.")
    without = [name for name in systems if not name.startswith("msl")]
    if BIAS in switches and without:
        raise ArgumentError(f"The switch {BIAS} is of msl alone: {without[0]:.60} takes no declarative bias.")


def switch_learning(dataset: Dataset, switches: Sequence[str]) -> dict[str, Any]:
    """Return the options of learning that the switches change."""
    return {"modes": _MODES[dataset.name]} if BIAS in switches else {}


def switch_testing(switches: Sequence[str]) -> dict[str, Any]:
    """Return the options of testing that the switches change."""
    others: dict[str, Any] = {"evidence": OTHERS} if OTHERS in switches else {}
    return {**others, **({"groups": ()} if ONE_BY_ONE in switches else {})}


def switch_databases(
    dataset: Dataset, databases: Mapping[str, Database], switches: Sequence[str]
) -> dict[str, Database]:
    """Return the databases, with equality predicates where these are kept."""
    if EQUALITIES not in switches:
        return dict(databases)
    if dataset.predicates is not None:
        raise ArgumentError(f"The switch {EQUALITIES} is of imdb and uw-cse: {dataset.name} never had these.")
    return {name: keep_equalities(db) for name, db in databases.items()}


def keep_equalities(database: Database) -> Database:
    r"""Return a database with a predicate for each type that is true of equal arguments alone.

    >>> import mlnlab as ml
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)", ml.MLN.from_text("Smokes(person)"))
    >>> list(keep_equalities(db).rows("samePerson"))
    [('Anna', 'Anna'), ('Bob', 'Bob')]
    """
    predicates, relations = [], {}
    for type_ in database.vocabulary.types:
        same = Predicate(f"same{type_[:1].upper()}{type_[1:]}", (type_, type_))
        diagonal = np.arange(len(database.domain(type_)), dtype=np.uint32)
        predicates.append(same)
        relations[same.name] = Relation(2, sorted_rows(np.stack([diagonal, diagonal], axis=1)))
    return replace(
        database, vocabulary=database.vocabulary.with_predicates(predicates),
        relations=database.relations.with_items(relations),
    )  # fmt: skip
