"""Count the evidence in clauses before a question is ground: clauses about few hidden atoms become short.

A clause over hidden literals H and literals K of evidence holds, or not, for each binding of its variables.
Those of K alone only say how often: where K fails for k of their values, the clause with weight w is H alone
with weight k w. So Alchemy's ``-0.1 !student(x) v professor(x) v taughtBy(c, x, q) v advisedBy(y, x)``,
with a hundred million groundings on a fold of UW-CSE, is ``!student(x) v professor(x)`` with a few weights.
Nothing is approximated: the conditional distribution of the hidden atoms is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.logic.formulas.formulas import Atom, Equality, Formula, Not, Or, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import Predicate
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_ROWS = 1_000_000  # of the hidden literals' variables


def count_evidence(model: MLN, database: Database, hidden: Sequence[str]) -> tuple[MLN, Database]:
    r"""Return a model and a database that ask the same of some hidden predicates with fewer groundings.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("P(t)\nQ(t, t)\n0.5 P(x) v Q(x, y)")
    >>> short, db = count_evidence(mln, ml.Database.from_text("Q(A, A)\nQ(A, B)\nQ(B, A)", mln), ["P"])
    >>> print(short.to_text().splitlines()[-1])
    0.5 !counted_0_1(x) v P(x)
    >>> list(db.rows("counted_0_1"))
    [('B',)]
    """
    formulas: list[WeightedFormula] = []
    for number, weighted in enumerate(model.formulas):
        weight, parts = weighted.weight, _split_clause(weighted.formula, hidden)
        if (
            not isinstance(weight, Soft)
            or parts is None
            or prod(len(database.domain(one.type)) for one in parts.over) > _MOST_ROWS
        ):
            formulas.append(weighted)
            continue
        for times, rows in _count_failures(parts, database):
            name = f"counted_{number}_{times}"
            database = _with_relation(database, Predicate(name, tuple(one.type for one in parts.over)), rows)
            short = Or((Not(Atom(name, parts.over)), *parts.hidden))
            formulas.append(replace(weighted, weight=_multiply(weight, times), formula=short))
    vocabulary = model.vocabulary.with_predicates(database.vocabulary.predicates.values())
    return MLN(vocabulary, tuple(formulas), model.semantics), database


class _Parts(NamedTuple):
    """The hidden literals of a clause, those of evidence, and the variables of the former."""

    hidden: tuple[Formula, ...]
    known: tuple[Formula, ...]
    over: tuple[Variable, ...]


def _split_clause(formula: Formula, hidden: Sequence[str]) -> _Parts | None:
    """Return the parts of a clause, or nothing where no variable is of evidence alone."""
    literals = formula.operands if isinstance(formula, Or) else (formula,)
    atoms = [one.operand if isinstance(one, Not) else one for one in literals]
    if not all(isinstance(atom, Atom | Equality) for atom in atoms):
        return None
    is_hidden = [isinstance(atom, Atom) and atom.predicate in hidden for atom in atoms]
    asked = tuple(one for one, inside in zip(literals, is_hidden, strict=True) if inside)
    known = tuple(one for one, inside in zip(literals, is_hidden, strict=True) if not inside)
    over = free_variables(Or(asked))
    return _Parts(asked, known, over) if over and set(free_variables(Or(known))) - set(over) else None


def _count_failures(parts: _Parts, database: Database) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Yield how often the evidence fails, and the bindings for which it fails so often.

    An auxiliary atom of the binding, true, satisfies each clause in which the evidence fails: that is its Δn.
    """
    from mlnlab.counting.deltas.delta_answers import deltas

    aux = Predicate("counted", tuple(one.type for one in parts.over))
    asked = _with_relation(database, aux, np.zeros((0, aux.arity), np.uint32))
    changes = deltas([Or((Atom(aux.name, parts.over), *parts.known))], asked, predicates=[aux.name])[aux.name]
    rows = np.indices([len(database.domain(one)) for one in aux.types], np.uint32).reshape(aux.arity, -1).T
    times = changes.at(rows)[:, 0]
    for value in np.unique(times[times > 0]).tolist():
        yield int(value), rows[times == value]


def _with_relation(database: Database, predicate: Predicate, rows: NDArray[np.uint32]) -> Database:
    return replace(
        database, vocabulary=database.vocabulary.with_predicate(predicate),
        relations=database.relations.with_items(
            {predicate.name: Relation(predicate.arity, sorted_rows(rows))}
        ),
    )  # fmt: skip


def _multiply(weight: Soft, times: int) -> Soft:
    return Soft(times * weight.value)
