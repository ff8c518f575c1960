"""Read the questions of lifted inference: weights, sizes of domains, and atoms of a translated model.

Circuits and cells read them in the same way. ``symbols`` are those that the answers are numbered by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from mlnlab.algebra.doors import within
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.theory.shattering import Element, Place, Symbol, literal_of
from mlnlab.logic.formulas.formulas import Atom, Constant, Formula
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard, ToLearn
from mlnlab.model.mln.domain_sizes import refuse_unknown_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN


MOST_CONSTANTS = 1 << 62  # of one type
LARGEST = 1e300  # of all weights together: beyond, sums of them are no numbers


def read_weights(
    mln: MLN, weights: Sequence[float] | None, sizes: Mapping[str, int] | None = None
) -> NDArray[np.float64]:
    """Return a weight for each formula: the given ones, or the model's; small enough for the sizes."""
    given = mln.weights if weights is None else listed_weights(weights)
    if len(given) != len(mln.formulas):
        raise ArgumentError(
            f"A model of {len(mln.formulas)} formulas needs as many weights, not {len(given)}."
        )
    unknown = [one.formula for one in mln.formulas if isinstance(one.weight, ToLearn)]
    if weights is None and unknown:
        raise ArgumentError(f"{unknown[0]} has no weight yet: give weights=.")
    numbers = np.array([0.0 if value is None else _number(value) for value in given])
    if not np.isfinite(numbers).all():
        raise ArgumentError("Weights are finite numbers.")
    if sizes is not None:
        refuse_large_weights(mln, numbers, sizes)
    return numbers


def read_direction(mln: MLN, direction: object) -> NDArray[np.float64]:
    """Return a direction of weights: a finite number for each formula."""
    formulas = len(mln.formulas)
    told = f"A direction has a finite number for each of the {formulas} formulas, not {direction!r:.60}."
    if isinstance(direction, str | bytes | Mapping) or not isinstance(direction, Iterable):
        raise ArgumentError(told)
    along = np.array([_number(value) for value in direction])
    if len(along) != formulas or not np.isfinite(along).all():
        raise ArgumentError(told)
    return along


def listed_queries(queries: object) -> list[str | Formula]:
    """Return atoms that are asked about as a list; one alone is none."""
    if isinstance(queries, str | bytes | Mapping) or not isinstance(queries, Iterable):
        raise ArgumentError(f'marginals(...) needs a list such as ["S(x)", "F(x, y)"], not {queries!r:.60}.')
    return list(queries)


def listed_weights(weights: object) -> list[object]:
    """Return weights as a list, or say that one is wanted."""
    if isinstance(weights, str | bytes | Mapping) or not isinstance(weights, Iterable):
        raise ArgumentError(f"weights= needs a list of one number for each formula, not {weights!r:.60}.")
    return list(weights)


def _number(value: object) -> float:
    if isinstance(value, str | bytes) or not isinstance(value, SupportsFloat):
        raise ArgumentError(f"Weights must be finite numbers, not {value!r:.60}.")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"Weights must be finite numbers, not {value!r:.60}.") from None


def refuse_large_weights(mln: MLN, numbers: NDArray[np.float64], sizes: Mapping[str, int]) -> None:
    """Refuse weights whose sum over all groundings is too large for sums of floats."""
    total = 0.0
    for one, weight in zip(mln.formulas, numbers.tolist(), strict=True):
        if weight:
            total += abs(weight) * min(groundings_of(one.formula, sizes), int(LARGEST))
    if not total <= LARGEST:
        raise ArgumentError(
            f"The weights of the ground formulas add up to more than {LARGEST:g}, too much to compute with."
            " Make the largest of them hard, or divide all weights by one number."
        )


def read_sizes(mln: MLN, domains: Mapping[str, int] | Database | None) -> dict[str, int]:
    """Return how many constants each type has."""
    given: Mapping[str, object] = domains if isinstance(domains, Mapping) else {}
    for type_, size in given.items():
        if not isinstance(type_, str):
            raise ArgumentError(
                f"Sizes are given by the names of types, as in {{'person': 3}}, not {type_!r:.60}."
            )
        if isinstance(size, int) and size > MOST_CONSTANTS:
            raise TooLargeError(
                f"{type_} = {float(min(size, 10**300)):.2g} constants are more than can be counted with; at"
                f" most {MOST_CONSTANTS:.2g} are.", float(min(size, 10**300)), ["ask about smaller domains"],
            )  # fmt: skip
    vocabulary = mln.vocabulary_with(domains)
    refuse_unknown_sizes(vocabulary)
    return {type_: len(domain) for type_, domain in vocabulary.types.items()}


def group_size(weighted: WeightedTheory, type_: str, number: int, size: int) -> int:
    """Return how many constants a group of a type has; the first has those of which nothing is listed."""
    groups = weighted.evidence.groups_of(type_)
    if number:
        return len(groups[number].members)
    named = weighted.constants.get(type_, ())
    alone = len(named) + sum(len(group.members) for group in groups[1:])
    if size < alone:
        shown = ", ".join(named[:5]) or f"{alone} in facts"
        raise ArgumentError(f"{type_} has {size} constants, but formulas and facts mention {alone}: {shown}.")
    return size - alone


def groundings_of(formula: Formula, sizes: Mapping[str, int]) -> int:
    """Return how many groundings a formula has."""
    return prod(sizes[variable.type] for variable in free_variables(formula))


def counts_within(
    mln: MLN, expected: Sequence[float], sizes: Mapping[str, int], rounding: float
) -> list[float]:
    """Return E[n_i] of all formulas, none above its groundings; a hard formula holds in all of them."""
    most = [float(groundings_of(one.formula, sizes)) for one in mln.formulas]
    return [
        number if isinstance(one.weight, Hard)
        else within(value, number, rounding, f"The expected count of {one.formula!s:.200}")
        for one, value, number in zip(mln.formulas, expected, most, strict=True)
    ]  # fmt: skip


def read_literal(mln: MLN, query: str | Formula) -> tuple[Atom, bool]:
    """Return the atom of a query, and whether it is positive."""
    formula = mln.parse(query) if isinstance(query, str) else query
    if not isinstance(formula, Formula):
        raise ArgumentError(f'A query is an atom such as "S(x)", or a formula, not {query!r:.60}.')
    literal = literal_of(formula)
    if literal is None:
        raise ArgumentError(f"{formula} is not a literal; lift the model with it as a formula of weight 0.")
    return literal


def symbol_of_atom(weighted: WeightedTheory, symbols: Sequence[Symbol], atom: Atom) -> int:
    """Return the number of an atom's symbol; the atom may carry a formula."""
    found = next((symbol for symbol in symbols if symbol.predicate == atom.predicate), None)
    types = weighted.mln.vocabulary[atom.predicate].types if found is None else found.types
    pattern, groups = _pattern(weighted, atom, types)
    for number, symbol in enumerate(symbols):
        if (symbol.predicate, symbol.pattern, symbol.groups) == (atom.predicate, pattern, groups):
            return number
    raise ArgumentError(
        f"The model does not tell {atom} from other atoms: ask with variables, or mention the constant"
        " in a formula of weight 0."
    )


def _pattern(
    weighted: WeightedTheory, atom: Atom, types: Sequence[str]
) -> tuple[tuple[Place, ...], tuple[int, ...]]:
    """Return which arguments are equal or constants that are told apart, and their groups."""
    evidence = weighted.evidence
    classes: dict[object, Element] = {}
    pattern: list[Place] = []
    for term, type_ in zip(atom.arguments, types, strict=True):
        if isinstance(term, Constant) and term.name in weighted.constants.get(type_, ()):
            pattern.append(term.name)
            continue
        if not isinstance(term, Constant) and len(evidence.groups_of(type_)) > 1:
            raise ArgumentError(
                f"The facts tell constants of type {type_} apart: ask {atom} of one of them, by name."
            )
        group = evidence.group_of(type_, term.name) if isinstance(term, Constant) else 0
        pattern.append(classes.setdefault(term, Element(len(classes), group)))
    groups = tuple(element.group for element in classes.values())
    return tuple(pattern), groups if any(groups) else ()
