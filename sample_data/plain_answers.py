"""Exact answers from the definitions, in plain Python, to compare the engine with.

P(x) = exp(sum of w_i n_i(x)) / Z, where n_i counts the true groundings of rule i. ``by_enumeration`` adds
up all completions of the evidence; ``by_elimination`` sums out one unknown atom after the other, so that
it also serves where there are too many completions. The two are checked against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from .rules import EQUAL, Atom, Rule, Schema, bound, groundings

Clause = tuple[float, tuple[tuple[int, bool], ...]]  # weight, and (number of an unknown atom, sign) literals
Table = dict[tuple[int, ...], float]
Factor = tuple[tuple[int, ...], Table]


@dataclass(frozen=True, slots=True)
class Ground:
    """The weighted ground clauses over the unknown atoms; ``constant`` is the weight fixed by evidence."""

    unknown: tuple[Atom, ...]
    constant: float
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """log Z over the completions of the evidence, marginals, and the most probable completion.

    ``map_gap`` is how much log weight the second best completion lacks; 0 where several are best.
    """

    log_z: float
    marginals: dict[Atom, float]
    map_true: tuple[Atom, ...]
    map_log_weight: float
    map_gap: float


def ground(
    rules: Iterable[Rule],
    schema: Schema,
    domains: Mapping[str, Sequence[str]],
    true: Iterable[Atom],
    unknown: Iterable[Atom],
) -> Ground:
    """Return the ground clauses; atoms neither true nor unknown are false."""
    numbers = {atom: number for number, atom in enumerate(unknown)}
    facts, constant, clauses = set(true), 0.0, []
    for rule in rules:
        weight = rule.weight or 0.0
        for binding in groundings(rule, schema, domains):
            signed = [(bound(atom, binding), False) for atom in rule.body]
            signed += [(bound(atom, binding), True) for atom in rule.head]
            if any(_known(atom, facts, numbers) is sign for atom, sign in signed):
                constant += weight
                continue
            open_ = tuple((numbers[atom], sign) for atom, sign in signed if atom in numbers)
            if open_:
                clauses.append((weight, open_))
    return Ground(tuple(numbers), constant, tuple(clauses))


def _known(atom: Atom, facts: set[Atom], numbers: Mapping[Atom, int]) -> bool | None:
    if atom[0] == EQUAL:
        return len(set(atom[1])) == 1
    return None if atom in numbers else atom in facts


def by_enumeration(model: Ground) -> Answers:
    """Add up all completions."""
    worlds = list(product((0, 1), repeat=len(model.unknown)))
    scores = [model.constant + _score(world, model.clauses) for world in worlds]
    log_z = _log_sum(scores)
    probabilities = [math.exp(score - log_z) for score in scores]
    marginals = {
        atom: math.fsum(p for world, p in zip(worlds, probabilities, strict=True) if world[number])
        for number, atom in enumerate(model.unknown)
    }
    best = max(range(len(worlds)), key=scores.__getitem__)
    gap = scores[best] - max(score for number, score in enumerate(scores) if number != best)
    return Answers(log_z, marginals, _true_atoms(model, worlds[best]), scores[best], gap)


def _score(world: Sequence[int], clauses: Iterable[Clause]) -> float:
    return math.fsum(weight for weight, literals in clauses if any(world[n] == sign for n, sign in literals))


def _true_atoms(model: Ground, world: Sequence[int]) -> tuple[Atom, ...]:
    return tuple(atom for atom, value in zip(model.unknown, world, strict=True) if value)


def _log_sum(scores: Iterable[float]) -> float:
    values = list(scores)
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def by_elimination(model: Ground) -> Answers:
    """Sum out one atom after the other; fix each for its marginal, all in turn for the best world."""
    log_z = _eliminated(model, {}, _log_sum)
    marginals = {
        atom: math.exp(_eliminated(model, {number: 1}, _log_sum) - log_z)
        for number, atom in enumerate(model.unknown)
    }
    best, fixed = _eliminated(model, {}, max), dict[int, int]()
    for number in range(len(model.unknown)):
        reached = _eliminated(model, fixed | {number: 0}, max)
        fixed[number] = int(reached < best - 1e-9)
    # A second best world differs from the best one in some atom.
    others = [_eliminated(model, {number: 1 - value}, max) for number, value in fixed.items()]
    world = [fixed[number] for number in range(len(model.unknown))]
    return Answers(log_z, marginals, _true_atoms(model, world), best, best - max(others))


def _eliminated(
    model: Ground, fixed: Mapping[int, int], combine: Callable[[Iterable[float]], float]
) -> float:
    """Return the combination of all completions in which some atoms are fixed."""
    factors = [_factor(clause, fixed) for clause in model.clauses]
    left = set(range(len(model.unknown))) - set(fixed)
    while left:
        scopes = {number: {m for scope, _ in factors if number in scope for m in scope} for number in left}
        number = min(left, key=lambda n: (len(scopes[n]), n))
        left.remove(number)
        joined = [factor for factor in factors if number in factor[0]]
        factors = [factor for factor in factors if number not in factor[0]]
        factors.append(_summed_out(number, sorted(scopes[number] - {number}), joined, combine))
    return model.constant + math.fsum(table[()] for _, table in factors)


def _factor(clause: Clause, fixed: Mapping[int, int]) -> Factor:
    weight, literals = clause
    scope = tuple(sorted({number for number, _ in literals} - set(fixed)))
    table = {}
    for values in product((0, 1), repeat=len(scope)):
        world = dict(zip(scope, values, strict=True)) | dict(fixed)
        table[values] = weight if any(world[number] == sign for number, sign in literals) else 0.0
    return scope, table


def _summed_out(
    number: int, scope: list[int], factors: list[Factor], combine: Callable[[Iterable[float]], float]
) -> Factor:
    table = {}
    for values in product((0, 1), repeat=len(scope)):
        world = dict(zip(scope, values, strict=True))
        table[values] = combine([_value(factors, world | {number: 0}), _value(factors, world | {number: 1})])
    return tuple(scope), table


def _value(factors: Iterable[Factor], world: Mapping[int, int]) -> float:
    return math.fsum(table[tuple(world[number] for number in scope)] for scope, table in factors)
