"""The methods that answer questions to factor graphs, by the names that they have for Markov logic too.

A method goes step by step from a question; a state of it gives an answer at any time. Which one ``auto``
takes follows from what a junction tree would cost, and from whether zeros cut the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any, TypeVar

from mlnlab.errors import ArgumentError
from mlnlab.factors.trees.calibrated_tree import calibrate
from mlnlab.factors.trees.elimination_order import elimination_steps
from mlnlab.factors.trees.elimination_rules import OrderMethod
from mlnlab.factors.trees.junction_trees import junction_tree
from mlnlab.factors.trees.table_limits import MOST_CELLS, cells_in_words
from mlnlab.inference.messages.factor_arrays import FactorQuestion
from mlnlab.inference.messages.tree_ascent import StructuredState
from mlnlab.inference.networks import (
    factor_belief_propagation,
    factor_gibbs,
    factor_ijgp,
    factor_mean_field,
    factor_structured_mean_field,
)
from mlnlab.inference.networks.factor_answers import NetworkMarginals
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import connectedness
from mlnlab.logic.checked_options import refuse_unknown_options
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.steps.run_identity import OfRun, accept_state

if TYPE_CHECKING:
    from mlnlab.factors.trees.tree_messages import MessagePassing, MessageState

P = TypeVar("P")
JUNCTION_TREE = "junction-tree"
LARGEST = 1 << 24  # cells of a table that "auto" works with: 128 MB
ALL_CELLS = 1 << 27  # of all tables, one after the other: some seconds


@dataclass(frozen=True, slots=True)
class FactorMethod:
    """A method by its name: its parameters, its steps, and the answer from a state."""

    name: str
    params: type[Any]
    steps: Callable[[Any, FactorQuestion, Any], Iterator[Any]]
    answer: Callable[[Any, FactorQuestion, Any, float], NetworkMarginals]
    state: type[OfRun]
    goes_on: tuple[str, ...]  # the parameters that only say how long a run goes on

    def read(self, params: object, question: FactorQuestion, state: object) -> OfRun:
        """Return a state to be looked at: one of another run gets a sentence, one of nobody's is taken."""
        return accept_state(run_of_factors(self.name, params, question, self.goes_on), self.state, state)

    def knows(self, option: str) -> bool:
        """Return whether the method has an option of this name."""
        return any(option == known.name for known in fields_of(self.params))

    def settings(self, **options: object) -> Any:  # noqa: ANN401 - each method has parameters of its own
        """Return checked parameters."""
        return make_params(self.name, self.params, options)


def make_params(name: str, params: type[P], options: Mapping[str, object]) -> P:
    """Return a method's parameters from options; an unknown one gets a sentence."""
    names = [known.name for known in fields_of(params)]  # type: ignore[arg-type]
    refuse_unknown_options(name, options, names)
    return params(**options)


METHODS: Mapping[str, FactorMethod] = {
    module.NAME: FactorMethod(module.NAME, module.Params, module.steps, module.answer, state, module.GOES_ON)
    for module, state in (
        (factor_gibbs, factor_gibbs.FactorGibbsState),
        (factor_belief_propagation, factor_belief_propagation.FactorBeliefState),
        (factor_ijgp, factor_ijgp.FactorClusterState),
        (factor_mean_field, factor_mean_field.FactorFieldState),
        (factor_structured_mean_field, StructuredState),
    )
}


def find_method(name: str) -> FactorMethod:
    """Return a method that goes over states of its own; the junction tree is not one."""
    if name not in METHODS:
        names = ["auto", JUNCTION_TREE, *METHODS]
        hint = did_you_mean(str(name), names) or "."
        raise ArgumentError(
            f"There is no method {name!r:.60} for factor graphs{hint} There are: {', '.join(names)}."
        )
    return METHODS[name]


# --- the exact one --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TreeParams:
    """How a junction tree is found, and how large a table of it may be."""

    order: OrderMethod = "min-fill"
    most_cells: int = MOST_CELLS


def passing_of(question: FactorQuestion, params: TreeParams) -> MessagePassing:
    """Return the messages that answer a question exactly."""
    tree = junction_tree(question.graph, method=params.order)
    return tree.passing(most_cells=params.most_cells)


def tree_answer(
    question: FactorQuestion, passing: MessagePassing, states: Iterable[MessageState]
) -> NetworkMarginals:
    """Return the exact distributions after all messages."""
    found, whole, tree = calibrate(passing, states).marginals, question.whole, passing.tree
    graph = question.graph
    names = [*whole.evidence, *(variable.name for variable in whole.variables)]
    # What is known has one value for the tree, and all its values here.
    values = {name: whole[name].values if name in whole else tuple(found[name]) for name in names}
    return NetworkMarginals(
        FrozenMapping({n: FrozenMapping({v: found[n].get(v, 0.0) for v in values[n]}) for n in names}),
        FrozenMapping({n: v for n, v in graph.evidence.items() if n not in whole or whole[n].size > 1}),
        found.log_z, JUNCTION_TREE,
        reason=f"{JUNCTION_TREE}: {_cost(tree.width, tree.largest)}, so the answer is exact",
    )  # fmt: skip


def _cost(width: int, largest: int) -> str:
    return f"width {width}, largest table {cells_in_words(largest)}"


# --- choosing -------------------------------------------------------------------------------------


def choose_method(question: FactorQuestion) -> tuple[str, str]:
    """Return the method that "auto" takes, and why it is not the exact one; nothing is computed."""
    refusal = tree_refusal(question)
    if not refusal:
        return JUNCTION_TREE, ""
    if connectedness(question).answer == "no":
        why = f"{refusal}, and zeros cut the space, so that Gibbs sampling would see a part of it only"
        return factor_belief_propagation.NAME, why
    return factor_gibbs.NAME, refusal


def tree_refusal(question: FactorQuestion) -> str:
    """Say why a junction tree is too large, as soon as that is clear; empty where it is not."""
    for state in elimination_steps(question.graph, "min-fill"):
        if state.largest > LARGEST:
            least = cells_in_words(state.largest)
            return f"a junction tree by min-fill has width {state.width} or more and a table of {least}"
        if state.cells > ALL_CELLS:
            return f"the tables of a junction tree have more than {cells_in_words(ALL_CELLS)} together"
    return ""
