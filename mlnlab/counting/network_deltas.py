"""Δn by width-bounded elimination, for formulas whose derivatives would be too many.

The network is counted for every ground atom at once, its arguments being variables of the head: with the atom
true, and with it false. That is as much work as counting once for each atom, but in few large steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.choosing import fits_the_budget, refused_twice
from mlnlab.counting.derivatives import arguments_of
from mlnlab.counting.factors import Factored
from mlnlab.counting.formula_networks import Given, given_network
from mlnlab.counting.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.tables import Table
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from mlnlab.counting.facts import Facts
    from mlnlab.errors import TooLargeError
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate


def deltas_by_elimination(
    formula: Formula, predicate: Predicate, facts: Facts, refusal: TooLargeError
) -> tuple[Factored, ...]:
    """Return Δn of a formula that was refused the usual way, for every ground atom of a predicate."""
    arguments = arguments_of(predicate)
    networks = [
        BoundNetwork(given_network(formula, Given(predicate.name, arguments, true)), facts.vocabulary)
        for true in (True, False)
    ]
    if not all(map(fits_the_budget, networks)):
        raise refused_twice(networks[0], refusal) from refusal
    with_atom, without = (network.counts(DenseRun(facts)) for network in networks)
    change = np.asarray(with_atom - without)
    if not arguments:
        return (Factored(int(change), (), ()),) if change else ()
    rows = np.argwhere(change)
    if not len(rows):
        return ()
    table = Table(tuple(range(len(arguments))), frozen(rows.astype(np.uint32)), change[tuple(rows.T)])
    return (Factored(1, (), (table,)),)
