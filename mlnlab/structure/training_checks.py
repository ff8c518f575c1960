"""Check the training data and estimate the running time before learning starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.model.database.database import Database
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.steps import budget
from mlnlab.structure.lift.lift_problem import LiftProblem, refuse_many_atoms
from mlnlab.structure.lift.pair_estimates import refuse_many_pairs

if TYPE_CHECKING:
    from mlnlab.structure.paths.path_support import PathProgress

MOST_GROUND_ATOMS = 2**62  # of a predicate: their numbers have 64 bits
_PATHS = 500  # that may be expected of any data; how many there are is known once they are looked for
_SHARE = 0.1  # of the shorter paths: once so many were added to, it can be told how many paths there will be


def checked_databases(databases: object) -> tuple[Database, ...]:
    """Return databases as a tuple; refuse data from which structure cannot be learned."""
    if isinstance(databases, Database):
        given: tuple[object, ...] = (databases,)
    elif isinstance(databases, Iterable) and not isinstance(databases, str | bytes):
        given = tuple(databases)
    else:
        given = ()
    found = tuple(database for database in given if isinstance(database, Database))
    if not found or len(found) < len(given):
        raise ArgumentError(
            "Structure is learned from data: give a database, made by ml.Database.from_text or ml.load_db, "
            f"or a list of them, not {databases!r:.60}."
        )
    for number, database in enumerate(found):
        _refuse_other_declarations(found[0], database, number)
        _refuse_open(database, _name_database(database, number, len(found)))
    _refuse_blocks(found[0])
    if not any(len(relation.true) for database in found for relation in database.relations.values()):
        raise ArgumentError("No database has a true atom, so that there is nothing to learn structure from.")
    return found


def _name_database(database: Database, number: int, of: int) -> str:
    named = f" ({database.name})" if database.name else ""
    return (f"database {number + 1} of {of}" if of > 1 else "the database") + named


def _refuse_other_declarations(first: Database, other: Database, number: int) -> None:
    own, its = first.vocabulary.predicates, other.vocabulary.predicates
    for name in (*own, *its):
        if name not in its or name not in own:
            lacking, having = (number + 1, 1) if name not in its else (1, number + 1)
            raise ArgumentError(
                f"Database {lacking} declares no predicate {name}, which database {having} has. Read all "
                "databases with one model that declares every predicate, ml.load_db(path, mln): one that "
                "has no facts in a database is false there throughout."
            )
        if own[name] != its[name]:
            raise ArgumentError(
                f"Database 1 declares {own[name]}, database {number + 1} {its[name]}: structure is learned "
                "from databases over the same predicates."
            )


def _refuse_open(database: Database, called: str) -> None:
    for name, relation in database.relations.items():
        undecided = relation.listed - len(relation.true) - len(relation.false)
        if undecided:
            raise ArgumentError(
                f"{called[0].upper()}{called[1:]} marks {count_of(undecided, 'atom')} of {name} as unknown "
                "or soft; structure learning takes every atom that is not listed to be false, and needs to "
                "know the others. Remove the marks."
            )


def _refuse_blocks(database: Database) -> None:
    for predicate in database.vocabulary.predicates.values():
        if predicate.function or predicate.exclusive:
            kind = "a function" if predicate.function else "a block"
            raise ArgumentError(
                f"{predicate} is declared as {kind}, whose atoms do not vary one by one as scores take them "
                f"to. Declare it as {predicate.name}({', '.join(predicate.types)}) to learn structure."
            )


def join_databases(databases: Sequence[Database]) -> Database:
    """Return all databases as one, equal names being one constant."""
    whole = databases[0]
    for other in databases[1:]:
        whole = whole.with_facts(other.to_text())
    return whole


def refuse_what_has_no_score(databases: Sequence[Database]) -> None:
    """Refuse where no predicate is scored, and predicates of more ground atoms than can be numbered."""
    predicates = databases[0].vocabulary.predicates
    if all(one.closed for one in predicates.values()):
        raise ArgumentError(
            f"All predicates are closed, {', '.join(map(str, predicates.values()))}, but clauses are scored "
            "by how well they predict atoms of those that are not. Declare some without the star."
        )
    for database in databases:
        for name, predicate in predicates.items():
            atoms = prod(len(database.domain(type_)) for type_ in predicate.types)
            if atoms > MOST_GROUND_ATOMS:
                raise TooLargeError(
                    f"{predicate} has some 10^{len(str(atoms)) - 1} ground atoms; scores are sums over a "
                    f"sample of at most {MOST_GROUND_ATOMS:.1e}.",
                    atoms,
                    [f"read the facts with a model that does not declare {name}",
                     "learn from parts of the databases, which have fewer constants"],
                )  # fmt: skip


# --- large databases ------------------------------------------------------------------------------


def estimated_hours(databases: Sequence[Database], longest: int) -> float:
    """Return about how long the scoring of clauses takes, which is most of the work."""
    facts = sum(database.number_of_facts() for database in databases)
    return budget.STRUCTURE.conjunction * facts * float(1 << longest) * _PATHS / 3600


def refuse_long_runs(databases: Sequence[Database], longest: int, most_hours: float) -> None:
    """Refuse a run that would take longer than ``most_hours``."""
    hours = estimated_hours(databases, longest)
    if hours > most_hours:
        facts = sum(database.number_of_facts() for database in databases)
        raise TooLargeError(
            f"Learning structure from {count_of(facts, 'true atom')} with paths of up to {longest} takes "
            f"some {hours:.2g} hours or more (the limit is {most_hours:g}).",
            hours,
            [
                f"look for shorter paths: longest={max(2, longest - 1)}",
                "learn from a part of the databases",
                _allowing(hours),
            ],
        )


def _allowing(hours: float) -> str:
    return f'allow it: most_hours={max(1, ceil(2 * hours))}, with checkpoint="run.npz" to go on after a stop'


@dataclass(slots=True)
class ScoringBudget:
    """How long it takes to find paths and to score their clauses, summed up as paths are found."""

    facts: int
    most_hours: float
    conjunctions: int = 0  # of all paths that were found so far

    @classmethod
    def of(cls, databases: Sequence[Database], most_hours: float) -> ScoringBudget:
        """Return the budget of a run over databases."""
        return cls(sum(database.number_of_facts() for database in databases), most_hours)

    def hours(self, conjunctions: float, searched: float = 0) -> float:
        """Estimate the hours for a number of conjunctions and a search through a number of paths."""
        return (
            budget.STRUCTURE.conjunction * self.facts * conjunctions + budget.STRUCTURE.path * searched
        ) / 3600

    def add(self, length: int) -> None:
        """Count a path; refuse where all that were found take too long already."""
        self.conjunctions += 1 << length
        self._refuse_above(self.hours(self.conjunctions), length)

    def refuse_excess(self, progress: PathProgress) -> None:
        """Refuse a length of which there will be too many paths, as soon as that can be told."""
        if progress.grown < _SHARE * progress.shorter:
            return
        more = (progress.expected / max(1, progress.found) - 1) * progress.kept
        hours = self.hours(self.conjunctions + more * (1 << progress.length), progress.expected)
        self._refuse_above(hours, progress.length)

    def _refuse_above(self, hours: float, length: int) -> None:
        if hours > self.most_hours:
            raise TooLargeError(
                f"Finding all paths of {count_of(length, 'atom')} and scoring their clauses, on "
                f"{count_of(self.facts, 'true atom')}, takes some {hours:.2g} hours or more (the "
                f"limit is {self.most_hours:g}).",
                hours,
                [
                    f"look for shorter paths: longest={max(1, length - 1)}",
                    "ask for more true atoms of each path: fewest",
                    "learn from a part of the databases",
                    _allowing(hours),
                ],
            )


def refuse_many_pairs_of(databases: Sequence[Database]) -> None:
    """Refuse databases that LiftGraph refuses, before a run over several databases begins."""
    for database in databases:
        problem = LiftProblem(Hypergraph.from_database(database))
        if problem.predicates:
            refuse_many_atoms(problem)
            refuse_many_pairs(problem)


# --- paths of what is not lifted ------------------------------------------------------------------


def estimated_paths(hypergraph: Hypergraph, longest: int) -> float:
    """Return about how many paths of up to ``longest`` hyperedges there are.

    A path of k hyperedges is taken to have as many neighbours as k hyperedges have by themselves, and is
    reached from each of its parts: E d (2 d / 2) ((3 d) / 3) ... with d the mean number of neighbours.
    """
    edges = hypergraph.number_of_edges
    degrees = hypergraph.degrees().astype(np.float64)
    neighbours = float((degrees * (degrees - 1)).sum()) / max(1, edges)
    return float(sum(edges * neighbours ** (length - 1) / length for length in range(1, longest + 1)))


def refuse_many_paths(
    hypergraphs: Sequence[Hypergraph], longest: int, most: float = budget.MOST_PATHS
) -> None:
    """Refuse to look for paths where there are too many of them."""
    paths = sum(estimated_paths(hypergraph, longest) for hypergraph in hypergraphs)
    if paths > most:
        raise TooLargeError(
            f"Without lifting there are about {paths:.1e} paths of up to {longest} hyperedges (the limit "
            f"is {most:.0e}).",
            paths,
            ['lift the hypergraph first: method="lhl"', f"look for shorter paths: longest={longest - 1}"],
        )


# --- clauses that are edited ----------------------------------------------------------------------


def estimated_edit_hours(
    databases: Sequence[Database], first: int, around: int, levels: int, beam: int | None, fraction: float
) -> float:
    """Return about how long a beam search for clauses takes that finds one for each predicate.

    Of each search ``first`` clauses are tried to begin with, then ``around`` for each clause of the beam on
    each level; without a limit to the beam, for each clause of the level before.
    """
    predicates = sum(not one.closed for one in databases[0].vocabulary.predicates.values())
    more = (
        sum(float(first) * float(around) ** level for level in range(1, levels)) if beam is None
        else float(beam * around * (levels - 1))
    )  # fmt: skip
    seconds = budget.STRUCTURE.clause + 3 * budget.STRUCTURE.atom * fraction * _mean_atoms(databases)
    return predicates * (first + more) * seconds / 3600


def _mean_atoms(databases: Sequence[Database]) -> float:
    """Return how many ground atoms a predicate has on average in all databases together."""
    predicates = [one for one in databases[0].vocabulary.predicates.values() if not one.closed]
    atoms = sum(prod(len(db.domain(t)) for t in one.types) for db in databases for one in predicates)
    return atoms / max(1, len(predicates))


def refuse_long_search(hours: float, most_hours: float, longest: int, beam: int | None) -> None:
    """Refuse a beam search that would take longer than ``most_hours``."""
    if hours > most_hours:
        raise TooLargeError(
            f"A beam search for clauses of up to {longest} literals takes some {hours:.2g} hours (the limit "
            f"is {most_hours:g}).",
            hours,
            [
                f"look for shorter clauses: longest={max(2, longest - 1)}",
                "edit fewer clauses: beam=5" if beam is None or beam > 5 else "learn from fewer databases",
                _allowing(hours),
            ],
        )  # fmt: skip


# --- clauses that are tried in a model one by one -------------------------------------------------


def estimated_assembly_hours(databases: Sequence[Database], clauses: int, fraction: float) -> float:
    """Return about how long it takes to try clauses in a model, each of which is counted for it."""
    atoms = fraction * _mean_atoms(databases)
    seconds = len(databases) * budget.STRUCTURE.counted + 8 * budget.STRUCTURE.atom * atoms
    return clauses * seconds / 3600
