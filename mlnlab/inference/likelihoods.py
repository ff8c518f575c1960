"""``ml.log_likelihood``: how probable a database is, or a part of it given the rest."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import listed, opening, refuse_no_model, refuse_unlearned
from mlnlab.inference.asking import log_z_by
from mlnlab.inference.broken_data import broken_text, called
from mlnlab.inference.conflicts import contradiction
from mlnlab.inference.enumeration import MOST_WORLDS
from mlnlab.inference.lifted_likelihoods import circuit_for, lifted_log_likelihood
from mlnlab.inference.refutation import is_impossible
from mlnlab.inference.tree_plans import tree_plan
from mlnlab.logic.weights import Hard, weight_value
from mlnlab.model.database import Database
from mlnlab.model.hiding import hiding
from mlnlab.model.learned_sizes import warn_of_other_sizes
from mlnlab.model.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.grounding.question import Opening
    from mlnlab.model.mln import MLN

SECONDS = 5.0  # for finding out whether any world is possible where this one is not


def log_likelihood(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    method: str = "auto",
    limit: int = MOST_WORLDS,
) -> float:
    r"""Return log P(db) = sum_i w_i n_i(db) - log Z (lecture notes, eq. 15); every atom is part of the world.

    With ``query``, names of predicates, it is that of their atoms given all others: log P(y | x). Of several
    databases, each a world of its own, it is the sum. ``method="auto"`` sums over all worlds where these are
    at most ``limit``, lifts the model where that takes a moment, and passes messages in a junction tree where
    that is small; ``"lifted"`` lifts it whatever that takes, for domains of any size.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> round(ml.log_likelihood(mln, db), 4)
    -2.6704
    >>> round(ml.log_likelihood(mln, db, query=["Cancer"]), 4)
    -1.7014
    >>> people = ml.Database.from_text("person = {1, ..., 1000}\nSmokes(7)", mln)
    >>> round(ml.log_likelihood(mln, people, method="lifted"), 4)
    -1171.853
    """
    refuse_no_model(mln)
    databases = [_complete(one) for one in (db if isinstance(db, list | tuple) else [db])]
    if not databases:
        raise ArgumentError("A likelihood is that of data: give a database, or a list of them.")
    warn_of_other_sizes(mln, *databases)
    value = 0.0
    for number, one in enumerate(databases):
        value += _of_one(mln, one, query, method, limit, called(databases, number))
    return value


def _complete(db: object) -> Database:
    if not isinstance(db, Database):
        raise ArgumentError(f"A database is needed, made by ml.Database.from_text or ml.load_db, not {db!r}.")
    if any(relation.listed > len(relation.true) + len(relation.false) for relation in db.relations.values()):
        raise ArgumentError(
            "The database marks atoms as unknown or soft; a likelihood needs a complete world."
        )
    return db


def _of_one(
    mln: MLN, db: Database, query: Sequence[str] | str | None, method: str, limit: int, name: str
) -> float:
    """Return the log-likelihood of one database; ``name`` is what a sentence that begins calls it."""
    expanded = mln.expand(db)
    refuse_unlearned(expanded)
    query = None if _is_of_all(expanded, query) else query
    circuit = circuit_for(expanded, db, query, method, limit)
    if circuit is not None:
        try:
            value = lifted_log_likelihood(circuit, expanded, db)
        except TooLargeError as problem:
            raise (_unliftable(problem, mln, db) if circuit.unlifted else problem) from None
        return value if value > -inf else _impossible(expanded, db, name)
    world = World(expanded.vocabulary, frozenset(db.atoms()))
    if not _is_possible(expanded, world):
        return _impossible(expanded, db, name)
    # First what may be refused: counting the groundings of a large database takes a while.
    partition = log_z_by(method, _opened(mln, db, query), limit).value
    soft = [w for w in expanded.formulas if not isinstance(w.weight, Hard)]
    return sum((weight_value(w.weight) or 0.0) * world.count(w.formula) for w in soft) - partition


def _is_of_all(mln: MLN, query: Sequence[str] | str | None) -> bool:
    """Tell whether a query names all predicates, none of them closed, so that nothing is given."""
    names = [query] if isinstance(query, str) else list(query or ())
    known = mln.vocabulary.predicates
    return all(name in names and not predicate.closed for name, predicate in known.items()) and all(
        name in known for name in names
    )


def _opened(mln: MLN, db: Database, query: Sequence[str] | str | None) -> Opening:
    """Open what a likelihood is of: all atoms, or those of some predicates, given all others."""
    if query is None:
        return opening(replace(mln, vocabulary=mln.vocabulary_with(db)), None, None)
    names = [query] if isinstance(query, str) else list(query)
    for name in names:
        if mln.vocabulary[name].closed:  # an unknown name is refused with what there is instead
            raise ArgumentError(
                f"{name} is declared closed (*{name}): it is evidence, not what is predicted."
            )
    return opening(mln, hiding(db, names), names)


def _unliftable(problem: TooLargeError, mln: MLN, db: Database) -> TooLargeError:
    """Return the refusal of a model that no rule lifts, and whether another exact method answers instead."""
    tree = tree_plan(_opened(mln, db, None))
    if tree is None:
        instead = "a junction tree would be too large here, too: judge by ml.pseudo_log_likelihood(mln, db)"
    else:
        cliques = f"cliques of at most {count_of(tree.variables, 'variable')}"
        instead = f'a junction tree fits here, by {cliques}, and is as exact: method="junction-tree"'
    return TooLargeError(problem.summary, problem.estimate, [instead, *problem.remedies])


def _impossible(expanded: MLN, db: Database, name: str) -> float:
    """Return the logarithm of 0, and say which fact breaks what; raise where no world at all is possible."""
    _refuse_contradiction(expanded)
    broken = broken_text(expanded, db, name)
    warnings.warn(f"The log-likelihood is -inf. {broken}", UserWarning, stacklevel=4)
    return -inf


def _refuse_contradiction(expanded: MLN) -> None:
    """Raise the conflict where no world at all is possible; a model too large to be ground is not asked.

    A hard question is given up after some seconds: that this world is impossible is known without it.
    """
    with suppress(TooLargeError):
        clauses = ground_clauses(listed(opening(expanded, None, None)))
        answer = is_impossible(clauses, time.monotonic() + SECONDS)
        if answer:
            raise contradiction(clauses)
        if answer is None:
            warnings.warn(
                f"The database breaks what must hold, so its probability is 0. Whether any world keeps it was"
                f" not found out within {SECONDS:.0f} seconds; ml.conflict looks longer.",
                UserWarning,
                stacklevel=5,
            )


def _is_possible(expanded: MLN, world: World) -> bool:
    """Return whether a world breaks no block and no hard formula."""
    hard = (w.formula for w in expanded.formulas if isinstance(w.weight, Hard))
    return world.respects_blocks() and all(world.count(f) == world.number_of_groundings(f) for f in hard)
