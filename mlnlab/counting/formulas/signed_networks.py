"""Write a network whose constraints have negative values as a signed sum of networks that have none.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016) estimate numbers of solutions, which are not negative.
A disjunction beside other parts is counted with signs (:mod:`mlnlab.counting.formulas.formula_networks`);
with the signals of those signs fixed, each term of the sum is the number of solutions of its own network.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.formulas.formula_networks import FormulaNetwork, NetworkConstraint
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_SIGNALS = 6  # of signs: a network for each of their values


def list_negative_signals(network: FormulaNetwork) -> tuple[int, ...]:
    """Return the signals of constraints with negative values."""
    return tuple(
        sorted({signal for one in network.constraints if (one.values < 0).any() for signal in one.signals})
    )


def signed_terms(network: FormulaNetwork) -> tuple[tuple[int, FormulaNetwork], ...]:
    r"""Return a network without negative values for each term of the sum, with its sign.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.formulas.formula_networks import formula_network
    >>> mln = ml.MLN.from_text("P(t)\nQ(t)\nR(t)")
    >>> for sign, term in signed_terms(formula_network(mln.parse("(P(x) v Q(x)) ^ R(x)"))):
    ...     print(sign, *term.constraints)
    1 R(x)
    -1 !P(x) !Q(x) R(x)
    """
    signed = list_negative_signals(network)
    if len(signed) > MOST_SIGNALS:
        raise TooLargeError(
            f"The formula would be a signed sum of {2 ** len(signed):,} counts (up to {2**MOST_SIGNALS:,}).",
            2.0 ** len(signed),
            ["write it as several formulas, or as clauses", 'count it exactly: "planned"'],
        )
    found = (
        _fix(network, dict(zip(signed, chosen, strict=True)))
        for chosen in product((0, 1), repeat=len(signed))
    )
    return tuple((sign, term) for sign, term in found if sign)


def _fix(network: FormulaNetwork, fixed: Mapping[int, int]) -> tuple[int, FormulaNetwork]:
    """Return the sign and the network of a term; the sign is 0 where the term is."""
    open_ = [signal for signal in range(network.signals) if signal not in fixed]
    numbers = {signal: number for number, signal in enumerate(open_)}
    constraints, signs = [], [1]
    for one in network.constraints:
        values = one.values[tuple(fixed.get(signal, slice(None)) for signal in one.signals)]
        signals = tuple(numbers[signal] for signal in one.signals if signal in numbers)
        if values.min() == values.max() and not signals:  # whatever the truth value is
            signs.append(int(values.flat[0]))
        else:
            constraints.append(NetworkConstraint(one.source, signals, values))
    term = replace(network, signals=len(open_), constraints=tuple(constraints), complement=False)
    return prod(signs), term
