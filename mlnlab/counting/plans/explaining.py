"""Plans in words, with the estimated and the real size of each step; plans that are too large are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.counting.plans.nodes import Cycle, Node, Scan, SumOut, Triangle
from mlnlab.errors import TooLargeError, count_of
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.counting.plans.plans import Plan

FREE_VARIABLES = "all other variables"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan: its action, and its expected and real numbers of rows.

    Steps that look around instead of making a table have ``work``: about so many entries are looked up, and
    one number comes out. That is another quantity than rows, so that ``estimated`` is 1 for these.
    """

    text: str
    estimated: float
    real: int | None = None
    inputs: tuple[PlanStep, ...] = ()
    work: float | None = None

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield this step, and indented below it the steps that it needs."""
        yield f"{'  ' * depth}{self.text}  ({self._sizes()})"
        for step in self.inputs:
            yield from step.lines(depth + 1)

    def _sizes(self) -> str:
        if self.work is not None:
            return f"{work_words(self.work)}, for one number"
        real = "" if self.real is None else f", in fact {self.real:,}"
        return f"about {self.estimated:,.0f}{real}"


def work_words(work: float) -> str:
    """Return how much is looked up, in words."""
    return f"about {count_of(round(work), 'look-up')}"


@dataclass(frozen=True, slots=True)
class TermExplanation:
    """One term of the normal form: its coefficient, its conjunction, its count, and how that was found."""

    coefficient: int
    conjunction: str
    count: int
    free: int
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a count comes about: its terms, each with its plan."""

    formula: str
    count: int
    terms: tuple[TermExplanation, ...]

    def __str__(self) -> str:
        """Return the plan in words."""
        return "\n".join(_lines(self))


def _lines(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.formula}: {explanation.count:,} true groundings"
    for term in explanation.terms:
        sign = "-" if term.coefficient < 0 else "+"
        times = f"{abs(term.coefficient)} x " if abs(term.coefficient) != 1 else ""
        yield f"{sign} {times}{term.count:,} for {_in_words(term.conjunction)}"
        if term.free != 1:
            yield f"    times {term.free:,}: the ways to choose constants for {FREE_VARIABLES}"
        for step in term.steps:
            yield from step.lines(2)


def _in_words(conjunction: str) -> str:
    return "all groundings" if conjunction == "1" else conjunction


def step_of(node: Node, names: Sequence[str], sizes: Mapping[int, int]) -> PlanStep:
    """Return a node and those below it as steps; real sizes are looked up by the node's identity."""
    inputs = tuple(step_of(inner, names, sizes) for inner in node.inputs)
    work = work_of(node)
    estimated = node.estimate if work is None else 1.0
    return PlanStep(describe_node(node, names), estimated, sizes.get(id(node)), inputs, work)


def work_of(node: Node) -> float | None:
    """Return about how many entries a node looks up that makes one number; ``None`` for tables."""
    return node.estimate if isinstance(node, Cycle | Triangle) else None


def describe_node(node: Node, names: Sequence[str]) -> str:
    """Return the action of a node in words."""
    match node:
        case Scan():
            return f"the true tuples of {node.label}"
        case SumOut(variable) if variable < 0:
            return "keep what is in both"
        case SumOut(variable, inputs):
            joined = "add up over" if len(inputs) == 1 else "join, and add up over"
            kept = ", ".join(names[v] for v in node.variables)
            return f"{joined} {names[variable]}" + (f", for each {kept}" if kept else "")
        case Triangle(driver, _, _, middle):
            ends = " and ".join(names[v] for v in driver.variables)
            return f"for each {ends} of the sparsest atom, count common {names[middle]} by bits"
        case Cycle(pivot):
            return f"for each {names[pivot]}, follow the atoms around the cycle and back to it"


def plan_seconds(plan: Plan) -> float:
    """Return about how long a plan takes."""
    return sum(_seconds(part) for part in plan.parts)


def _seconds(node: Node) -> float:
    below = sum(_seconds(inner) for inner in node.inputs)
    if isinstance(node, Triangle):
        return below + budget.COUNTING.node + budget.COUNTING.neighbour * node.estimate
    if isinstance(node, Cycle):
        looked_up = budget.COUNTING.begun * node.lists + budget.COUNTING.listed_neighbour * node.estimate
        return below + budget.COUNTING.node + looked_up
    if isinstance(node, Scan) and node.pattern is None and len(node.variables) > 1:
        return budget.COUNTING.node + budget.COUNTING.read * node.estimate  # its rows are there
    tables = sum(len(inner.variables) > 1 for inner in node.inputs)
    return (
        below
        + budget.COUNTING.node
        + (budget.COUNTING.row if tables > 1 else budget.COUNTING.neighbour) * node.estimate
    )


def refuse_slow(seconds: float, terms: int) -> None:
    """Raise a sentence where the terms of a normal form together are estimated to take too long."""
    if seconds > budget.MOST_COUNTING:
        raise TooLargeError(
            f"Counting {count_of(terms, 'conjunction')} by inclusion-exclusion is estimated to take"
            f" {seconds:,.0f} seconds (the limit is {budget.MOST_COUNTING:,.0f}).",
            seconds,
            ["let fewer of its literals be positive", "split the formula into shorter ones"],
        )


def refuse_beyond_budget(plan: Plan, names: Sequence[str]) -> None:
    """Raise a sentence where the estimated work is too much: nothing has been computed so far."""
    if plan.work <= budget.MOST_ESTIMATED_ROWS:
        return
    lines = [line for part in plan.parts for line in step_of(part, names, {}).lines(1)]
    plan_text = "\n".join(lines)
    raise TooLargeError(
        f"Counting would make intermediate tables of about {plan.work:,.0f} rows"
        f" (the limit is {budget.MOST_ESTIMATED_ROWS:,.0f}). The plan:\n{plan_text}",
        plan.work,
        ["use fewer constants or facts", "split the formula, so that fewer variables depend on each other"],
    )
