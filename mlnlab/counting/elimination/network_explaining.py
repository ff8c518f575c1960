"""Describe width-bounded elimination in words: the products and sums of each step, and its table's size."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.plans.explaining import Explanation, PlanStep, TermExplanation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.counting.elimination.dense_plans import Elimination
    from mlnlab.counting.facts.sorted_facts import Facts

_LISTED = 6  # tables that a step names; of more it says how many there are


def explained_by_elimination(formula: str, network: BoundNetwork, facts: Facts) -> Explanation:
    """Return how a formula is counted by its network; sizes are numbers of cells that are not zero."""
    sizes: dict[tuple[int, int], int] = {}
    run = DenseRun(facts, sizes=sizes)
    count = int(network.counts(run))
    steps = tuple(_steps(network, sizes))
    label = _solutions_in_words(formula, network)
    if not network.network.complement:
        return Explanation(formula, count, (TermExplanation(1, label, count, network.free, steps),))
    every = count_of_bindings(network, run)
    bindings = TermExplanation(1, "1", every, 1, ())
    violating = TermExplanation(-1, label, every - count, network.free, steps)
    return Explanation(formula, count, (bindings, violating))


def _solutions_in_words(formula: str, network: BoundNetwork) -> str:
    """Return the literals that are demanded, or the formula where it is more than these."""
    if network.network.signals:
        return f"!({formula})" if network.network.complement else formula
    return " ^ ".join(str(one) for one in network.network.constraints) or "1"


def count_of_bindings(network: BoundNetwork, run: DenseRun) -> int:
    """Return the number of all bindings."""
    if not all(network.sizes):
        return 0
    return network.reach if network.all is None else int(network.all.counts(run))


def step_lines(network: BoundNetwork) -> list[str]:
    """Return a line for each step of the plan, before anything is computed."""
    return [line for step in _steps(network, {}) for line in step.lines() if not line.startswith(" ")]


def _steps(network: BoundNetwork, sizes: dict[tuple[int, int], int]) -> Iterator[PlanStep]:
    """Yield the steps in the order in which they are done, each with the tables that it reads first."""
    names = variable_names(network)
    first = len(network.constraints)
    for place, step in enumerate(network.plan.eliminations):
        if step.variable < 0 and len(step.inputs) == 1 and step.inputs[0] >= first:
            continue  # the step before it is the last
        read = tuple(_reading(network, number, sizes) for number in step.inputs if number < first)
        results = [f"step {number - first + 1}" for number in step.inputs if number >= first]
        text = f"step {place + 1}: {_words(step, names, results)}"
        cells = prod(network.sizes[v] for v in step.scope)
        yield PlanStep(text, float(cells), sizes.get((id(network), first + place)), read)


def variable_names(network: BoundNetwork) -> list[str]:
    """Return the names of a network's variables, by their numbers; truth values of parts have some, too."""
    signals = [f"part {number + 1}" for number in range(network.network.signals)]
    return [*(variable.name for variable in network.network.variables), *signals]


def _words(step: Elimination, names: list[str], results: list[str]) -> str:
    read = len(step.inputs) - len(results)
    tables = [*([f"{read} tables" if read > 1 else "a table"] if read else []), *_few(results)]
    each = ", ".join(names[v] for v in step.scope)
    kept = f", for each {each}" if each else ""
    if step.variable < 0:
        return f"multiply {' and '.join(tables)}{kept}" if tables else "nothing restricts the bindings"
    return f"sum {names[step.variable]} out of {' and '.join(tables)}{kept}"


def _few(results: list[str]) -> list[str]:
    return results if len(results) <= _LISTED else [f"the results of {len(results)} steps"]


def _reading(network: BoundNetwork, number: int, sizes: dict[tuple[int, int], int]) -> PlanStep:
    one = network.constraints[number]
    cells = prod(network.sizes[v] for v in one.scope)
    inner = () if one.counted is None else tuple(_steps(one.counted, sizes))
    parts = " and ".join(variable_names(network)[signal] for signal in one.signals)
    if one.constraint.source is None:
        text = f"the rule for {parts or 'all bindings'}"
    else:
        text = f"the table of {one.constraint}" + (f", for each {parts}" if parts else "")
    return PlanStep(text, float(cells), sizes.get((id(network), number)), inner)
