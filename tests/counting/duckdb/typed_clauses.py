"""Random typed clauses, the same ones in every run, and what they are counted by: tensors of truth values.

The clauses have up to five literals over five variables of two types, predicates of up to three arguments
that may repeat, constants, equalities, and quantifiers around them or within them. The oracle evaluates a
formula for all groundings of many worlds at once; nothing of the package's counting is used in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Not,
    Or,
    Variable,
    holds_between,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, Vocabulary

VARIABLES = tuple(
    Variable(name, type_) for name, type_ in zip("xyzhk", ["person"] * 3 + ["house"] * 2, strict=True)
)
SIGNATURES = [
    ("person",), ("person", "person"), ("person", "house"), ("house",), ("house", "house"),
    ("person", "person", "person"), ("person", "house", "person"), ("house", "person", "house"),
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """A formula, and the truth values of every ground atom of a world, an array for each predicate."""

    formula: object
    vocabulary: Vocabulary
    tensors: dict[str, np.ndarray]

    def rows(self, predicate):
        """The true atoms of a predicate."""
        return np.argwhere(self.tensors[predicate]).astype(np.uint32)

    def facts(self):
        """The true atoms, as counting wants them."""
        from mlnlab.counting.facts.sorted_facts import facts_from_tables

        return facts_from_tables(self.vocabulary, {name: self.rows(name) for name in self.tensors})

    def world(self):
        """The same as a world."""
        from mlnlab.logic.formulas.ground_atoms import GroundAtom
        from mlnlab.model.database.world import World

        found = set()
        for name, predicate in self.vocabulary.predicates.items():
            domains = [self.vocabulary.domain(type_) for type_ in predicate.types]
            for row in self.rows(name).tolist():
                found.add(GroundAtom(name, tuple(d[n] for d, n in zip(domains, row, strict=True))))
        return World(self.vocabulary, frozenset(found))


def vocabulary_of(rng, people, houses):
    """Two types and three predicates; the last one often has three arguments."""
    types = {"person": NamedDomain(tuple(f"P{n}" for n in range(people))),
             "house": NamedDomain(tuple(f"H{n}" for n in range(houses)))}  # fmt: skip
    chosen = [SIGNATURES[rng.integers(0, 5)], SIGNATURES[rng.integers(0, 5)], SIGNATURES[rng.integers(1, 8)]]
    predicates = {name: Predicate(name, types_) for name, types_ in zip("QRS", chosen, strict=True)}
    return Vocabulary(FrozenMapping(types), FrozenMapping(predicates))


def _term(rng, type_, vocabulary):
    if rng.random() < 0.12:
        domain = vocabulary.domain(type_)
        return Constant(domain[int(rng.integers(len(domain)))], type_)
    own = [variable for variable in VARIABLES if variable.type == type_]
    return own[rng.integers(len(own))]


def _literal(rng, vocabulary):
    if rng.random() < 0.12:
        type_ = ("person", "house")[rng.integers(2)]
        found = Equality(_term(rng, type_, vocabulary), _term(rng, type_, vocabulary))
    else:
        predicate = vocabulary["QRS"[rng.integers(3)]]
        found = Atom(predicate.name, tuple(_term(rng, type_, vocabulary) for type_ in predicate.types))
    return found if rng.random() < 0.4 else Not(found)


def _quantified(rng, body):
    bound = free_variables(body)
    chosen = tuple(v for v in bound if rng.random() < 0.4) or bound[:1]
    kind = rng.integers(5)
    if not chosen:
        return body
    if kind == 4:
        return CountingExists((">=", "=", "<")[rng.integers(3)], int(rng.integers(1, 3)), chosen, body)
    return (Exists if kind % 2 else ForAll)(chosen, body)


def random_clause(rng, vocabulary):
    """A clause; one of six stands below a quantifier, in one of six some of the literals do."""
    literals = [_literal(rng, vocabulary) for _ in range(rng.choice([1, 2, 3, 3, 4, 4, 5, 5]))]
    kind = rng.integers(6)
    if kind == 0:
        return _quantified(rng, Or(tuple(literals)))
    if kind == 1 and len(literals) > 1:
        split = int(rng.integers(1, len(literals)))
        inner = (Or, And)[rng.integers(2)](tuple(literals[:split]))
        return Or((_quantified(rng, inner), *literals[split:]))
    return Or(tuple(literals))


def random_cases(number, seed, people=(1, 2, 3, 4, 4), houses=(1, 2, 3, 3)):
    """So many different clauses, each with a random world in which, mostly, some groundings are false."""
    rng, seen = np.random.default_rng(seed), set()
    while len(seen) < number:
        vocabulary = vocabulary_of(rng, rng.choice(people), rng.choice(houses))
        formula = random_clause(rng, vocabulary)
        if str(formula) in seen or not atoms(formula):
            continue
        world, telling = _telling_world(rng, formula, vocabulary)
        if telling or rng.random() < 0.3:
            seen.add(str(formula))
            yield Case(formula, vocabulary, world)


def _telling_world(rng, formula, vocabulary, attempts=8):
    """A random world, and whether some groundings are true and some false in it; several are tried."""
    every = np.prod([float(len(vocabulary.domain(v.type))) for v in free_variables(formula)])
    for _ in range(attempts):
        world = random_world(rng, vocabulary)
        (number,) = counts_in_worlds(formula, vocabulary, {name: one[None] for name, one in world.items()})
        if 0 < number < every:
            return world, True
    return world, False


def random_world(rng, vocabulary):
    """Each ground atom of a predicate true with the same probability."""
    found = {}
    for name, predicate in vocabulary.predicates.items():
        size = tuple(len(vocabulary.domain(type_)) for type_ in predicate.types)
        found[name] = rng.random(size) < rng.choice([0.15, 0.5, 0.85])
    return found


# --- the oracle ---------------------------------------------------------------------------------


def counts_in_worlds(formula, vocabulary, tensors):
    """The true groundings in many worlds; the first axis of each tensor numbers the worlds."""
    axes = {variable: place + 1 for place, variable in enumerate(VARIABLES)}
    sizes = [len(vocabulary.domain(variable.type)) for variable in VARIABLES]
    worlds = len(next(iter(tensors.values())))
    truth = np.broadcast_to(_truth(formula, vocabulary, tensors, axes, sizes), (worlds, *sizes))
    free = free_variables(formula)
    # Along the axis of a variable that is not free the truth is everywhere the same.
    index = (slice(None), *(slice(None) if variable in free else 0 for variable in VARIABLES))
    return truth[index].reshape(worlds, -1).sum(axis=1).tolist()


def _truth(formula, vocabulary, tensors, axes, sizes):
    def grid(term):
        if isinstance(term, Constant):
            return np.full((1,) * 6, vocabulary.domain(term.type).number(term.name))
        shape = [1] * 6
        shape[axes[term]] = -1
        return np.arange(sizes[axes[term] - 1]).reshape(shape)

    def recur(part):
        return _truth(part, vocabulary, tensors, axes, sizes)

    match formula:
        case Atom(name, arguments):
            table = tensors[name]
            worlds = np.arange(len(table)).reshape(-1, 1, 1, 1, 1, 1)
            return table[(worlds, *map(grid, arguments))]
        case Equality(left, right):
            return grid(left) == grid(right)
        case Not(operand):
            return ~recur(operand)
        case Or(operands):
            return np.logical_or.reduce([np.broadcast_to(o, s) for o, s in _alike(map(recur, operands))])
        case And(operands):
            return np.logical_and.reduce([np.broadcast_to(o, s) for o, s in _alike(map(recur, operands))])
    bound = tuple(axes[variable] for variable in formula.variables)
    body = recur(formula.body)
    shape = list(body.shape)
    for axis in bound:
        shape[axis] = sizes[axis - 1]
    number = np.broadcast_to(body, shape).sum(axis=bound, keepdims=True)
    every = np.prod([sizes[axis - 1] for axis in bound])
    match formula:
        case Exists():
            return number > 0
        case ForAll():
            return number == every
        case CountingExists(relation, least):
            return np.vectorize(lambda found: holds_between(relation, int(found), least), otypes=[bool])(
                number
            )
    raise TypeError(formula)


def _alike(parts):
    found = list(parts)
    shape = np.broadcast_shapes(*(part.shape for part in found))
    return [(part, shape) for part in found]


def with_each_atom(tensors, predicate, *, value):
    """The world, as often as the predicate has atoms, each time with another one of them set."""
    table = tensors[predicate]
    number = table.size
    found = {name: np.repeat(other[None], number, axis=0) for name, other in tensors.items()}
    found[predicate].reshape(number, -1)[np.arange(number), np.arange(number)] = value
    return found


def expected_deltas(case, predicate):
    """Δn of every ground atom of a predicate, in the order of its arguments."""
    with_it, without = (
        counts_in_worlds(case.formula, case.vocabulary, with_each_atom(case.tensors, predicate, value=value))
        for value in (True, False)
    )
    return [one - other for one, other in zip(with_it, without, strict=True)]


def every_row(case, predicate):
    """The arguments of every ground atom of a predicate."""
    rows = list(product(*map(range, case.tensors[predicate].shape)))
    return np.array(rows, np.uint32).reshape(len(rows), -1)
