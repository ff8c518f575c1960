"""Climb by structured mean field: the part shared by ground Markov logic and networks.

Among all distributions q that are a forest, one is looked for with a high bound E_q[log weight] + H(q), which
log Z is never below. Sweeps renew each conditional q(x_v | x_parent) in turn, as Wiegerinck (2000, Eq. 13)
derives it, so the bound never falls. The ascent begins where naive mean field ends, so that its bound is at
least that one's; ``begin="random"`` leaves this out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.messages.field_weights import check_ascent
from mlnlab.inference.messages.forests import Approximation, approximation
from mlnlab.inference.messages.spanning_trees import STRONGEST, Pair, tree_option
from mlnlab.logic.checked_options import check_options, one_of
from mlnlab.steps.run_identity import OfRun, RunIdentity, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Sizes, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.inference.messages.weighted_products import WeightedProducts

    Reals = NDArray[np.float64]

Beginning = Literal["mean-field", "random"]


@dataclass(frozen=True, slots=True)
class Params:
    """Which tree, where the ascent begins and when it ends."""

    tree: str | tuple[tuple[str, str], ...] = STRONGEST  # or "none", or pairs of names
    begin: Beginning = "mean-field"
    seed: int = 0
    sweeps: int = 1_000  # at most, of naive mean field and over the tree each
    tolerance: float = 1e-8  # changes of a probability that count as none
    hard: float = 30.0  # by how much what is forbidden is less than what is not, as logarithms

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges; names are checked where they are used."""
        object.__setattr__(self, "tree", tree_option(self.tree))
        check_options(self, begin=one_of(("mean-field", "random")))
        check_ascent(self)


@storable("structured_mean_field.State")
@dataclass(frozen=True, slots=True, eq=False)
class StructuredState(OfRun):
    """A distribution that is a forest, and the bound that it reaches; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # over the tree
    naive_sweeps: int = field(metadata=holds(Whole()))  # before, with all variables independent
    # Of each variable, given its parent in the tree.
    conditionals: Reals = field(metadata=holds(ArrayOf(np.float64, ("cells",), least=0.0, most=1.0 + 1e-9)))
    # Of each value of each variable.
    probabilities: Reals = field(metadata=holds(ArrayOf(np.float64, ("values",), least=0.0, most=1.0 + 1e-9)))
    # Of each variable: by how much a probability with its parent changed in the last sweep.
    changes: Reals = field(metadata=holds(ArrayOf(np.float64, ("variables",), least=0.0)))
    bound: float = field(metadata=holds(REPORTED))  # on log Z
    largest_change: float = field(metadata=holds(REPORTED))
    converged: bool = field(metadata=holds(FLAG))
    on_tree: bool = field(metadata=holds(FLAG))  # else the variables are still independent

    def metrics(self) -> Mapping[str, float]:
        """Return the bound, and how much probabilities still change; before the first sweep nobody knows."""
        known = self.sweeps or self.naive_sweeps
        return {"bound": self.bound, **({"largest_change": self.largest_change} if known else {})}


@dataclass(frozen=True, eq=False)
class Ascent:
    """A model as weighted products, and the tree that may tie its variables."""

    products: WeightedProducts
    branches: tuple[Pair, ...]

    @cached_property
    def on_tree(self) -> Approximation:
        """The products on the tree."""
        return approximation(self.products, self.branches)

    @cached_property
    def alone(self) -> Approximation:
        """The products where nothing is tied: naive mean field."""
        return approximation(self.products, ())


def first_state(params: Params, ascent: Ascent, marginals: Reals) -> StructuredState:
    """Return independent variables with these distributions."""
    tree = ascent.on_tree
    begins = params.begin == "mean-field" and bool(ascent.branches)
    changes = np.ones(len(ascent.products.sizes))
    return _state(ascent, tree.from_marginals(marginals), changes, (0, 0), on_tree=not begins)


def ascent_states(
    identity: RunIdentity, params: Params, ascent: Ascent, start: StructuredState | None,
    first: Callable[[], StructuredState],
) -> Iterator[StructuredState]:  # fmt: skip
    """Return the states of an ascent, all or those after ``start``."""

    def states(state: StructuredState | None) -> Iterator[StructuredState]:
        if state is None:
            state = first()
            yield state
        yield from ascending(params, ascent, state)

    def sizes() -> Sizes:
        own = ascent.products.sizes
        cells = int(ascent.on_tree.forest.table_starts[-1])
        return {"cells": cells, "values": int(own.sum()), "variables": len(own)}

    return resume_run(identity, StructuredState, start, states, sizes)


def _state(
    ascent: Ascent, conditionals: Reals, changes: Reals, sweeps: tuple[int, int], *, on_tree: bool,
    tolerance: float = -1.0,
) -> StructuredState:  # fmt: skip
    bound, marginals, _ = ascent.on_tree.compute_expectations(conditionals)
    largest = float(changes.max(initial=0.0))
    arrays = conditionals, np.array(marginals), changes
    for array in arrays:
        array.setflags(write=False)
    settled = on_tree and (largest <= tolerance or not len(changes))
    bound += ascent.products.constant
    naive, over_tree = sweeps
    return StructuredState(over_tree, naive, *arrays, float(bound), largest, bool(settled), bool(on_tree))


def ascending(params: Params, ascent: Ascent, state: StructuredState) -> Iterator[StructuredState]:
    """Yield the states that follow: first of naive mean field, then over the tree, until nothing changes."""
    tree = ascent.on_tree
    while not state.on_tree:
        alone, before = ascent.alone, state.probabilities
        field = alone.sweep_conditionals(np.append(before, 1.0))[:-1]
        changes = np.maximum.reduceat(np.abs(field - before), ascent.on_tree.forest.value_starts[:-2])
        naive = state.naive_sweeps + 1
        settled = float(changes.max(initial=0.0)) <= params.tolerance or naive >= params.sweeps
        state = _state(ascent, tree.from_marginals(field), changes, (naive, 0), on_tree=settled)
        yield state
    while not state.converged and state.sweeps < params.sweeps:
        found = tree.sweep_conditionals(state.conditionals)
        after = np.array(tree.compute_expectations(found)[1])
        moved = np.abs(tree.joint(found, after) - tree.joint(state.conditionals, state.probabilities))
        changes = np.maximum.reduceat(moved, tree.forest.table_starts[:-2])
        sweeps = state.naive_sweeps, state.sweeps + 1
        state = _state(ascent, found, changes, sweeps, on_tree=True, tolerance=params.tolerance)
        yield state


def describe_tree(params: Params, ascent: Ascent) -> str:
    """Say which tree there is, in words."""
    branches, variables = len(ascent.branches), len(ascent.products.sizes)
    which = "the strongest tree" if params.tree == STRONGEST else "the tree that was named"
    if not branches:
        return f"no branches, so that {count_of(variables, 'variable')} are independent"
    parts = variables - branches
    size = f"{count_of(branches, 'branch', 'branches')} over {count_of(variables, 'variable')}"
    return f"{which}, {size} in {count_of(parts, 'part')}"


def dependences(ascent: Ascent, state: StructuredState) -> dict[Pair, float]:
    """Return the mutual information along each branch, in nats."""
    tree = ascent.on_tree
    joint = tree.joint(state.conditionals, state.probabilities)
    own = tree.joint(tree.from_marginals(state.probabilities), state.probabilities)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(joint > 0, joint * np.log(joint / own), 0.0)
    parents = tree.forest.parents.tolist()
    informations = np.add.reduceat(parts, tree.forest.table_starts[:-1]) if len(parts) else parts
    root = len(parents) - 1
    return {
        (min(v, p), max(v, p)): max(0.0, float(informations[v]))
        for v, p in enumerate(parents[:-1])
        if p != root
    }
