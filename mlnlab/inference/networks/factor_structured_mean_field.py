"""Structured mean field in factor graphs: the best distribution in which variables depend along a tree.

The approximation q is a spanning forest over the open variables, named by ``tree=`` or that of the strongest
factors; what it leaves out is replaced by its expectation. Each sweep gives each conditional along the tree
its best value given all others (Saul and Jordan 1996; Wiegerinck 2000, Eq. 13) and passes over the tree
twice, so the bound E_q[log weight] + H(q) <= log Z never falls. Where the factors are a tree, one sweep is
exact.

Needs: finite logarithms; what a factor forbids counts as exp(-``hard``) of its largest weight, so that the
bound is that of a slightly larger Z. Answers: distributions of variables.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.messages.field_weights import random_field
from mlnlab.inference.messages.spanning_trees import chosen_tree
from mlnlab.inference.messages.tree_ascent import (
    Ascent,
    Params,
    StructuredState,
    ascent_states,
    describe_tree,
    first_state,
)
from mlnlab.inference.messages.weighted_products import products_of_tables
from mlnlab.inference.networks.factor_answers import NetworkMarginals, make_network_marginals
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import possible_walk
from mlnlab.kernels.random_numbers import streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

__all__ = ["NAME", "Params", "answer", "ascent_of", "steps"]

NAME = "structured-mean-field"
GOES_ON = ("sweeps",)  # parameters that only say how long a run does


@lru_cache(maxsize=2)
def ascent_of(params: Params, question: FactorQuestion) -> Ascent:
    """Return the tables as products, and the tree; remembered, because every answer says which tree."""
    logs = np.where(question.tables.logs == -inf, -params.hard, question.tables.logs)
    products = products_of_tables(question, logs)
    names = {variable.name: number for number, variable in enumerate(question.graph.variables)}
    return Ascent(products, chosen_tree(params.tree, products, names))


def steps(
    params: Params, question: FactorQuestion, start: StructuredState | None = None
) -> Iterator[StructuredState]:
    """Yield a state for each sweep until nothing changes, or those that follow ``start``."""
    ascent = ascent_of(params, question)

    def first() -> StructuredState:
        if question.forbids:
            possible_walk(question, streams(0, 1)[0])  # else there is nothing to approximate
        return first_state(params, ascent, random_field(params.seed, question.tables.value_starts))

    return ascent_states(run_of_factors(NAME, params, question, GOES_ON), params, ascent, start, first)


def answer(
    params: Params, question: FactorQuestion, state: StructuredState, seconds: float
) -> NetworkMarginals:
    """Return the distributions of a state."""
    sweeps = count_of(state.sweeps + state.naive_sweeps, "sweep")
    ended = "settled" if state.converged else "not settled"
    softly = f" (zeros count as exp(-{params.hard:g}))" if question.forbids else ""
    warned = () if state.converged else (
        f"After {sweeps} probabilities still change by {state.largest_change:.2g}; allow more sweeps=.",
    )  # fmt: skip
    return make_network_marginals(
        question, state.probabilities, NAME,
        f"{NAME}: {describe_tree(params, ascent_of(params, question))}; {sweeps}, {ended}; log Z is at least "
        f"{state.bound:.6g}{softly}, and the error of the probabilities is not known",
        log_z=nan, warnings=warned, seconds=seconds, is_exact=False,
    )  # fmt: skip
