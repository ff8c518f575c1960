"""``ml.log_likelihood``: how probable a database is, or a part of it given the rest."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import replace
from math import fsum, inf
from sys import float_info
from typing import TYPE_CHECKING

from mlnlab.algebra.doors import refuse_useless_log
from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.question import Opening, list_atoms, opening, refuse_no_model, refuse_unlearned
from mlnlab.inference.ask.asking import log_z_by
from mlnlab.inference.ask.broken_data import broken_text, name_database
from mlnlab.inference.exact.lifted_trials import trial_of
from mlnlab.inference.methods.enumeration import MOST_WORLDS
from mlnlab.inference.sampling.tree_plans import tree_plan
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.sat.refutation import is_impossible
from mlnlab.lifted.ask.cell_likelihood import cell_likelihood
from mlnlab.lifted.ask.cell_theory import cell_theory
from mlnlab.lifted.ask.lift import LiftedCircuit, lift
from mlnlab.lifted.ask.lifted_likelihood import lifted_likelihood, refuse_closed_facts
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.model.database.database import Database
from mlnlab.model.database.hiding import hiding
from mlnlab.model.database.world import World
from mlnlab.model.mln.learned_sizes import warn_of_other_sizes
from mlnlab.steps import budget
from mlnlab.steps.runs.interrupted import report_early_stop
from mlnlab.steps.runs.run_line import show_progress
from mlnlab.steps.runs.working import one_by_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.mln.mln import MLN

SECONDS = 5.0  # for finding out whether any world is possible where this one is not


def log_likelihood(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    method: str = "auto",
    limit: int = MOST_WORLDS,
    progress: bool | None = None,
) -> float:
    r"""Return log P(db) = sum_i w_i n_i(db) - log Z (lecture notes, eq. 15); every atom is part of the world.

    With ``query``, names of predicates, it is that of their atoms given all others: log P(y | x). Of several
    databases, each a world of its own, it is the sum. ``method="auto"`` sums over all worlds where these are
    at most ``limit``, lifts the model where that takes a moment, and passes messages in a junction tree where
    that is small; ``"lifted"`` lifts it whatever that takes, for domains of any size. ``progress`` is that
    of :func:`ml.infer`.

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
        raise ArgumentError("A likelihood needs data: give a database, or a list of them.")
    warn_of_other_sizes(mln, *databases)
    value = 0.0
    with show_progress("ml.log_likelihood", progress), report_early_stop("ml.log_likelihood"):
        for number, one in enumerate(one_by_one(databases, "databases")):
            value += _of_one(mln, one, query, method, limit, name_database(databases, number))
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
    """Return the log-likelihood of one database; ``name`` stands for it at the beginning of a sentence."""
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
    partition = log_z_by(method, _open_atoms(mln, db, query), limit)
    soft = [w for w in expanded.formulas if not isinstance(w.weight, Hard)]
    parts = [(weight_value(w.weight) or 0.0) * world.count(w.formula) for w in soft]
    value = fsum([*parts, -partition.value])
    error = partition.error + float_info.epsilon * sum(map(abs, parts))
    refuse_useless_log(value, error, partition.method, "the log-likelihood")
    return value


def _is_of_all(mln: MLN, query: Sequence[str] | str | None) -> bool:
    """Tell whether a query names all predicates, none of them closed, so that nothing is given."""
    names = [query] if isinstance(query, str) else list(query or ())
    known = mln.vocabulary.predicates
    return all(name in names and not predicate.closed for name, predicate in known.items()) and all(
        name in known for name in names
    )


def _open_atoms(mln: MLN, db: Database, query: Sequence[str] | str | None) -> Opening:
    """Open all atoms, or those of the predicted predicates given all others."""
    if query is None:
        return opening(mln.expand(db), None, None)
    names = [query] if isinstance(query, str) else list(query)
    for name in names:
        if mln.vocabulary[name].closed:  # an unknown name is refused with what there is instead
            raise ArgumentError(f"{name} is declared closed (*{name}): it is evidence and is not predicted.")
    return opening(mln, hiding(db, names), names)


def _unliftable(problem: TooLargeError, mln: MLN, db: Database) -> TooLargeError:
    """Return the refusal of a model that no rule lifts, and whether another exact method answers instead."""
    tree = tree_plan(_open_atoms(mln, db, None))
    if tree is None:
        instead = "a junction tree would be too large here, too: judge by ml.pseudo_log_likelihood(mln, db)"
    else:
        cliques = f"cliques of at most {count_of(tree.variables, 'variable')}"
        instead = f'a junction tree fits here, by {cliques}, and is as exact: method="junction-tree"'
    return TooLargeError(problem.summary, problem.estimate, [instead, *problem.remedies])


def _impossible(expanded: MLN, db: Database, name: str) -> float:
    """Return log 0, warning which fact breaks which formula; raise where no world at all is possible."""
    _refuse_contradiction(expanded)
    broken = broken_text(expanded, db, name)
    warnings.warn(f"The log-likelihood is -inf. {broken}", UserWarning, stacklevel=4)
    return -inf


def _refuse_contradiction(expanded: MLN) -> None:
    """Raise the conflict where no world at all is possible; a model too large to be ground is not asked.

    A hard question is given up after some seconds: that this world is impossible is known without it.
    """
    with suppress(TooLargeError):
        clauses = ground_clauses(list_atoms(opening(expanded, None, None)))
        answer = is_impossible(clauses, time.monotonic() + SECONDS)
        if answer:
            raise contradiction(clauses)
        if answer is None:
            warnings.warn(
                f"The database violates a hard constraint, so its probability is 0. Whether any world keeps"
                f" it was not decided within {SECONDS:.0f} seconds; ml.conflict looks longer.",
                UserWarning,
                stacklevel=5,
            )


def _is_possible(expanded: MLN, world: World) -> bool:
    """Return whether a world breaks no block and no hard formula."""
    hard = (w.formula for w in expanded.formulas if isinstance(w.weight, Hard))
    return world.respects_blocks() and all(world.count(f) == world.number_of_groundings(f) for f in hard)


# --- likelihoods by lifted inference ------------------------------------------------------------

# No atom is listed, only true groundings are counted.

LIFTED = "lifted"


def circuit_for(
    expanded: MLN, db: Database, query: Sequence[str] | str | None, method: str, limit: int
) -> LiftedCircuit | None:
    """Return the circuit where lifting was asked for, or where it takes but a moment."""
    model = replace(expanded, semantics="textbook")  # marks and clauses are written out by now
    predicates = expanded.vocabulary.predicates
    if method == LIFTED:
        if query is not None:
            raise ArgumentError(
                "The conditions tell constants apart, so that a conditional likelihood cannot be lifted:"
                " leave query= out for the likelihood of all atoms."
            )
        refuse_closed_facts(expanded, db)
        return lift(model).compile()
    if method != "auto" or query is not None or any(one.closed for one in predicates.values()):
        return None
    atoms = sum(db.number_of_atoms(name) for name in predicates)
    found = trial_of(model, by_cells=False) if atoms > limit.bit_length() else None
    return found.compiled if found is not None and isinstance(found.compiled, LiftedCircuit) else None


def lifted_log_likelihood(circuit: LiftedCircuit, expanded: MLN, db: Database) -> float:
    """Return log P(db), minus infinity where it breaks a hard formula or a block."""
    counts = count(expanded, db)
    hard = [isinstance(one.weight, Hard) for one in expanded.formulas]
    if any(broken for broken, is_hard in zip(counts.false, hard, strict=True) if is_hard):
        return -inf
    if any(one.exclusive for one in expanded.vocabulary.predicates.values()):
        world = World(expanded.vocabulary, frozenset(db.atoms()))
        if not world.respects_blocks():
            return -inf
    weights = [0.0 if value is None else value for value in circuit.mln.weights]
    found = lifted_likelihood(circuit, expanded.vocabulary, counts)
    try:
        return found.value(weights)
    except TooLargeError as problem:
        try:  # the terms of a sum over cells that matter may be few
            cells = cell_theory(circuit.weighted)
            return cell_likelihood(cells, found.sizes, counts.numbers, budget.MOST_CELL_SUMS).value(weights)
        except (TooLargeError, TooManyVariablesError):
            raise problem from None
