"""Which formulas are followed in which facts: those of a model, or some that were parsed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mlnlab.counting.facts import facts_of
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Formula
from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from mlnlab.counting.facts import Facts
    from mlnlab.model.database import Database
    from mlnlab.model.world import World


def followed_formulas(asked: object, world: Database | World | Facts) -> tuple[tuple[Formula, ...], Facts]:
    """Return the formulas, of a model those of ``mln.expand(db)``, and the facts to count them in."""
    if isinstance(asked, MLN):
        facts_of(world)  # says what is wrong with it
        expanded = asked.expand(world)
        return tuple(one.formula for one in expanded.formulas), facts_of(world, expanded.vocabulary)
    if not isinstance(asked, Formula | Iterable) or isinstance(asked, str):
        raise ArgumentError(f"A model is needed, or formulas as mln.parse returns them, not {asked!r:.60}.")
    formulas = (asked,) if isinstance(asked, Formula) else tuple(asked)
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise ArgumentError(f"Formulas are needed, as mln.parse returns them, not {formula!r:.60}.")
    return formulas, facts_of(world)


def number_of_chains(chains: object) -> int:
    """Return how many chains there are to be, after checking that it is a number of things."""
    if not isinstance(chains, int) or isinstance(chains, bool):
        raise ArgumentError(f"The number of chains is a whole number, not {chains!r:.60}.")
    if chains < 1:
        raise ArgumentError(f"At least one chain is needed, not {chains}.")
    return chains
