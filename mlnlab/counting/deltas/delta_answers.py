"""Count how the number of true groundings changes with each ground atom: ``ml.deltas``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlnlab.counting.counts.counting_methods import check_executor
from mlnlab.counting.deltas.deltas import AtomDeltas, DeltaCounter, MergedDeltas
from mlnlab.counting.duckdb.duckdb_files import FactFiles
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.checked_options import check_names, is_one_of
from mlnlab.logic.formulas.formulas import Atom, Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.traversal import predicates as predicates_of
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database.database import Database
from mlnlab.model.database.ground_atom_text import ground_atom_from
from mlnlab.model.database.world import World
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd

_MOST_BATCHES = 16  # each carries the facts to its worker once
_Found = Mapping[str, AtomDeltas]


class UnknownPredicateError(ArgumentError, KeyError):
    """Δn of a predicate that no formula mentions."""

    def __str__(self) -> str:
        """Return the sentence (a plain KeyError would show its quotes)."""
        return str(self.args[0])


class Result(Protocol):
    """The promise of an executor: Δn of some formulas, which comes later."""

    def result(self) -> _Found:
        """Wait for it."""
        ...


class Executor(Protocol):
    """Anything that runs functions elsewhere, as ``concurrent.futures`` does."""

    def submit(self, function: Callable[..., _Found], /, *arguments: object) -> Result:
        """Run a function."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Deltas(Mapping[str, AtomDeltas]):
    """Δn of several formulas for every ground atom of the predicates that they mention, by predicate."""

    formulas: tuple[Formula, ...]
    vocabulary: Vocabulary
    by_predicate: _Found

    def __getitem__(self, predicate: str) -> AtomDeltas:
        if not is_one_of(predicate, self.by_predicate):
            hint = did_you_mean(str(predicate), self.by_predicate) or "."
            raise UnknownPredicateError(
                f"No formula's change was counted for atoms of {predicate!s:.60}{hint}"
            )
        return self.by_predicate[predicate]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_predicate)

    def __len__(self) -> int:
        return len(self.by_predicate)

    def __repr__(self) -> str:
        formulas = f"{len(self.formulas)} formula{'' if len(self.formulas) == 1 else 's'}"
        return f"<Deltas: Δn of {formulas} by the atoms of {', '.join(self) or 'no predicate'}>"

    def at(self, atom: str | GroundAtom | Atom) -> tuple[int, ...]:
        """Return Δn of one ground atom, as in ``at("Smokes(Anna)")``: a whole number for each formula."""
        if not isinstance(atom, str | GroundAtom | Atom):
            raise ArgumentError(f'A ground atom is written as in "Smokes(Anna)", not as {atom!r:.60}.')
        found = ground_atom_from(atom, self.vocabulary)
        declared = self.vocabulary[found.predicate]
        if found.predicate not in self and declared.arity == len(found.arguments):
            return (0,) * len(self.formulas)
        domains = map(self.vocabulary.domain, declared.types)
        row = [domain.number(name) for domain, name in zip(domains, found.arguments, strict=True)]
        values = self[found.predicate].at(np.array([row], np.uint32).reshape(1, len(row)))
        return tuple(values[0].tolist())

    def merged(self) -> dict[str, MergedDeltas]:
        """Return the rows of each predicate: atoms with equal Δn and truth value are one, and how many."""
        return {name: found.merged() for name, found in self.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return the merged rows of all predicates: whether true now, Δn of each formula, and how many atoms.

        Formulas that are written alike are told apart by a number.
        """
        import pandas as pd

        names = _different([str(formula) for formula in self.formulas])
        rows: list[dict[str, Any]] = []
        for predicate, found in self.merged().items():
            numbers = zip(found.truths.tolist(), found.values.tolist(), found.multiplicities, strict=True)  # noqa: PD011
            for now, values, atoms in sorted(numbers, key=lambda row: (-row[2], row)):
                changes = dict(zip(names, values, strict=True))
                rows.append({"predicate": predicate, "now": now, **changes, "atoms": atoms})
        return pd.DataFrame(rows, columns=["predicate", "now", *names, "atoms"])


def _different(texts: Sequence[str]) -> list[str]:
    """Return texts as names of columns: a text that is taken already gets a number."""
    taken = {"predicate", "now", "atoms"}
    found = []
    for text in texts:
        name, number = text, 1
        while name in taken:
            number += 1
            name = f"{text} ({number})"
        taken.add(name)
        found.append(name)
    return found


def deltas(
    mln: MLN | Formula | Sequence[Formula],
    db: Database | World,
    *,
    predicates: Sequence[str] | None = None,
    executor: Executor | None = None,
) -> Deltas:
    r"""Return Δn: by how much each count is larger with a ground atom true than with it false, for all atoms.

    The formulas are those of ``mln.expand(db)``, as in :func:`mlnlab.count`, or some of your own. The numbers
    stay factored: atoms with the usual change are never written down, and merged, equal ones are one row.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(p)\nFriends(p, p)\n1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)\nSmokes(Anna)", mln)
    >>> changes = ml.deltas(mln, db)
    >>> changes.at("Smokes(Bob)")  # Anna's claim upon Bob would hold, but Bob would make one upon Carl
    (0,)
    >>> merged = changes["Friends"].merged()
    >>> merged.values[:, 0].tolist(), merged.multiplicities
    ([-1, 0, 0, -1], (1, 1, 6, 1))

    Δn is told of one atom alone, all others left as they are. For an atom that can be true or false by
    itself, the sum of w_i Δn_i is its log-odds given the rest of the world. In a block, as declared by
    ``In(person, room!)``, just one atom is true, so that none flips alone, and that sum is no log-odds: count
    a move from one room to another as both flips together (``IncrementalCounts.flip_all``); the sum of w_i
    times what these change is the logarithm of how much more probable the new room is than the old one.

    ``predicates`` names those whose atoms are asked for; without it these are all that a formula mentions.
    With an ``executor``, formulas are shared out in batches; the result does not depend on it.
    """
    check_executor(executor)
    _check_facts(db)
    formulas, vocabulary = _formulas_of(mln, db)
    names = _names(formulas, vocabulary, predicates)
    return Deltas(
        formulas, vocabulary, _count_in_batches(formulas, facts_of(db, vocabulary), names, executor)
    )


def _check_facts(db: object) -> None:
    """Refuse anything but facts in memory."""
    if isinstance(db, FactFiles):
        raise ArgumentError(
            "Δn needs facts in memory, but these are in files: read them with ml.Database.from_files."
        )
    if not isinstance(db, Database | World):
        found = "None" if db is None else type(db).__name__
        raise ArgumentError(f"Formulas are counted in a Database or a World, not in {found}.")


def _formulas_of(
    mln: MLN | Formula | Sequence[Formula], db: Database | World
) -> tuple[tuple[Formula, ...], Vocabulary]:
    if isinstance(mln, MLN):
        expanded = mln.expand(db)
        return tuple(weighted.formula for weighted in expanded.formulas), expanded.vocabulary
    listed: tuple[object, ...] = tuple(mln) if isinstance(mln, list | tuple) else (mln,)
    formulas = tuple(formula for formula in listed if isinstance(formula, Formula))
    if not formulas or len(formulas) < len(listed):
        raise ArgumentError(
            "A model is needed first, made by ml.MLN.from_text or ml.load, or formulas as mln.parse makes"
            f" them, not {mln!r:.50}."
        )
    return formulas, db.vocabulary


def _names(
    formulas: Sequence[Formula], vocabulary: Vocabulary, asked: Sequence[str] | None
) -> tuple[str, ...]:
    if asked is None:
        return tuple(dict.fromkeys(name for formula in formulas for name in predicates_of(formula)))
    if isinstance(asked, str):
        raise ArgumentError(f'Predicates are given as a list, as in predicates=["{asked}"].')
    listed = check_names(asked, "predicates", next(iter(vocabulary.predicates), "Smokes"))
    for name in listed:
        if name not in vocabulary.predicates:
            hint = did_you_mean(str(name), vocabulary.predicates) or "."
            raise ArgumentError(f"The model has no predicate {name}{hint}")
    return tuple(dict.fromkeys(listed))


# --- by whom ------------------------------------------------------------------------------------


def _count_in_batches(
    formulas: tuple[Formula, ...], facts: Facts, names: tuple[str, ...], executor: Executor | None
) -> _Found:
    if executor is None or len(formulas) < 2:
        return _deltas_of(formulas, facts, names)
    size = -(-len(formulas) // _MOST_BATCHES)
    batches = [formulas[first : first + size] for first in range(0, len(formulas), size)]
    results = [executor.submit(_deltas_of, batch, facts, names) for batch in batches]
    found = [result.result() for result in results]
    return {name: _side_by_side([part[name] for part in found], facts.rows(name)) for name in names}


def _deltas_of(formulas: tuple[Formula, ...], facts: Facts, names: tuple[str, ...]) -> dict[str, AtomDeltas]:
    """Return Δn of some formulas; a function of the module, so that other processes find it."""
    counter = DeltaCounter(formulas, facts.vocabulary)
    found: dict[str, AtomDeltas] = {}
    for name in names:
        try:
            found[name] = counter(facts, name)
        except TooLargeError as refusal:
            message = f"Δn for the atoms of {name} is too large to count. {refusal.summary}"
            raise TooLargeError(message, refusal.estimate, refusal.remedies) from refusal
    return found


def _side_by_side(parts: Sequence[AtomDeltas], true: np.ndarray[Any, Any]) -> AtomDeltas:
    """Return Δn of all formulas of several batches, in their order."""
    odd = tuple(values for part in parts for values in part.odd)
    even = tuple(values for part in parts for values in part.even)
    return AtomDeltas(parts[0].predicate, parts[0].sizes, true, odd, even)
