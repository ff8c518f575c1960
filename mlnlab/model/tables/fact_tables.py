"""A database as data frames of pandas: true atoms, all atoms, a table for each predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, Vocabulary
from mlnlab.model.tables.table_columns import (
    CONSTANTS,
    CONSTANTS_COLUMNS,
    PROBABILITY,
    argument_columns,
    stored_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.logic.relations import Relation


class Facts(Protocol):
    """The part of a database needed here; importing the class itself would make a circular import."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The types with their constants, and the predicates."""

    def relation(self, predicate: str, /) -> Relation:
        """Return the facts about a predicate's atoms."""


def true_frame(facts: Facts, predicate: str) -> pd.DataFrame:
    """Return the true atoms of a predicate, a column for each argument."""
    declared = facts.vocabulary[predicate]
    rows = facts.relation(predicate).true
    return _frame(argument_names(facts, declared, rows), declared, len(rows))


def table_frame(facts: Facts, predicate: str) -> pd.DataFrame:
    """Return all listed atoms; with a column ``probability`` where some atom is not simply true."""
    declared, relation = facts.vocabulary[predicate], facts.relation(predicate)
    frame = _frame(argument_names(facts, declared, listed_rows(relation)), declared, relation.listed)
    if declared.arity == 0 or len(relation.true) < relation.listed:
        frame[PROBABILITY] = listed_probabilities(relation)
    return frame


def table_frames(facts: Facts) -> dict[str, pd.DataFrame]:
    """Return a frame for each predicate, and ``constants``; reading them gives the same database."""
    stored = stored_names(facts.vocabulary.predicates)
    frames = {stored[name]: table_frame(facts, name) for name in facts.vocabulary.predicates}
    return {CONSTANTS: constants_frame(facts.vocabulary), **frames}


def constants_frame(vocabulary: Vocabulary) -> pd.DataFrame:
    """Return the named constants with their types, in order (ranges and sizes stand in the model)."""
    import pandas as pd

    named = {type_: d.names for type_, d in vocabulary.types.items() if isinstance(d, NamedDomain)}
    types = [type_ for type_, names in named.items() for _ in names]
    constants = [name for names in named.values() for name in names]
    columns = zip(CONSTANTS_COLUMNS, (types, constants), strict=True)
    return pd.DataFrame({column: np.array(values, object) for column, values in columns}, dtype=str)


def long_frame(facts: Facts) -> pd.DataFrame:
    """Return one frame of all listed atoms: predicate, arguments (a tuple), truth and probability."""
    import pandas as pd

    parts = [_long_part(facts, predicate) for predicate in facts.vocabulary.predicates]
    columns = ["predicate", "arguments", "truth", PROBABILITY]
    return pd.DataFrame([row for part in parts for row in part], columns=columns)


def _long_part(facts: Facts, predicate: str) -> Iterable[tuple[str, tuple[str, ...], str, float]]:
    declared, relation = facts.vocabulary[predicate], facts.relation(predicate)
    rows = listed_rows(relation)
    columns = argument_names(facts, declared, rows)
    arguments = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * len(rows)
    marks = ("true", "false", "unknown", "soft")
    truths = [mark for mark in marks for _ in range(len(getattr(relation, mark)))]
    probabilities = listed_probabilities(relation).tolist()
    return [(predicate, *row) for row in zip(arguments, truths, probabilities, strict=True)]


def listed_rows(relation: Relation) -> NDArray[np.uint32]:
    """Return the listed atoms: true, false, unknown, soft."""
    return np.concatenate([relation.true, relation.false, relation.unknown, relation.soft])


def listed_probabilities(relation: Relation) -> NDArray[np.float64]:
    """Return the probability of each listed atom; not-a-number is unknown."""
    sizes = [len(relation.true), len(relation.false), len(relation.unknown)]
    return np.concatenate([np.repeat([1.0, 0.0, np.nan], sizes), relation.probabilities])


def argument_names(facts: Facts, declared: Predicate, rows: NDArray[np.uint32]) -> list[NDArray[Any]]:
    """Return the names of the constants, an array for each argument."""
    domains = map(facts.vocabulary.domain, declared.types)
    return [_names(domain, rows[:, position]) for position, domain in enumerate(domains)]


def _names(domain: Domain, numbers: NDArray[np.uint32]) -> NDArray[Any]:
    if isinstance(domain, NamedDomain) and len(domain) <= 2 * len(numbers):
        return np.array([*domain.names, ""], object)[numbers]
    # A range may have more numbers than fit into memory: name only those that occur.
    different, places = np.unique(numbers, return_inverse=True)
    return np.array([*(domain[number] for number in different.tolist()), ""], object)[places]


def _frame(columns: list[NDArray[Any]], declared: Predicate, height: int) -> pd.DataFrame:
    import pandas as pd

    named = dict(zip(argument_columns(declared), columns, strict=True))
    # The number of rows is said apart, for a predicate without arguments has no columns that tell it.
    return pd.DataFrame(named, index=pd.RangeIndex(height), columns=list(named), dtype=str)
