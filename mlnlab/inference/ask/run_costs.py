"""Estimate the cost of running a named method, by its options and the size of the question.

``auto`` plans and refuses by itself (``choosing.py``). Here options that multiply work are held against what
somebody may want: samples, sweeps, flips, tries, chains. Learners and networks refuse by the same sentences.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.errors import TooLargeError
from mlnlab.inference.costs.inference_problem import Problem
from mlnlab.inference.costs.sampling_costs import bytes_of_chains, sweep_cost
from mlnlab.inference.method import MARGINALS, Method, RunLength
from mlnlab.steps import budget
from mlnlab.steps.budget import BOUNDLESS, limit_seconds, seconds_in_words
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.grounding.question.question import Opening
    from mlnlab.steps.runs.run_line import RunLine

_MULTIPLYING = (
    "samples", "thin", "burn_in", "chains", "sweeps", "flips", "tries", "passes", "moves", "iterations",
    "patience",
)  # fmt: skip


class RunCost(NamedTuple):
    """About how many seconds and bytes a run takes."""

    seconds: float
    memory: float


def refuse_costly(method: Method, params: Any, asked: Opening, most_hours: float | None = None) -> None:  # noqa: ANN401
    """Refuse a run that takes more hours than are begun, or more memory than is free."""
    allowed = limit_hours(most_hours)
    refuse_beyond_chains(method, params, asked)
    ways = smaller_options(params, method.settings())
    at_most = method.length is not None and method.length(params).at_most
    refuse_hours(method.name, run_cost(method, params, asked).seconds, allowed, ways, at_most=at_most)


def limit_hours(most_hours: float | None) -> float:
    """Return the seconds of work that are begun where somebody names the method."""
    return limit_seconds(most_hours, 3600.0 * budget.MOST_HOURS)


def refuse_hours(
    name: str, seconds: float, allowed: float, ways: Sequence[str], *, doing: str = "this",
    kept: str = "; when it is stopped, ml.so_far() returns its results", at_most: bool = False,
) -> None:  # fmt: skip
    """Refuse work of more than the ``allowed`` seconds; ``kept`` follows the way to allow it."""
    if seconds > allowed:
        about = f"{'up to ' * at_most}about {seconds_in_words(seconds)}"
        limit = seconds_in_words(allowed)
        raise TooLargeError(
            f"By {name} {doing} would take {about}; the limit is {limit}.", seconds,
            [*ways, f"allow it: most_hours={ceil(1.5 * seconds / 3600)}{kept}"],
        )  # fmt: skip


def refuse_beyond_chains(method: Method, params: Any, asked: Opening) -> None:  # noqa: ANN401
    """Refuse a run whose chains do not fit into the memory that is free."""
    if method.length is not None:
        ways = ["use fewer constants", *smaller_options(params, method.settings())]
        refuse_beyond_memory(run_cost(method, params, asked).memory, f"A run of {method.name}", ways)


def run_cost(method: Method, params: Any, asked: Opening) -> RunCost:  # noqa: ANN401
    """Estimate a run's cost by its length; 0 where the method has none, or where it may converge as usual.

    What ends when it converges counts as long as it may be, where somebody asks for more than usual.
    """
    if method.length is None:
        return RunCost(0.0, 0.0)
    length, rungs = method.length(params), getattr(params, "rungs", 1)
    sweep, memory = budget.LEAST_SWEEP, budget.CHAIN * float(min(length.chains, BOUNDLESS))
    if method.lists_atoms:  # else it looks at few of them
        looking, held = sweep_cost(Problem(asked, MARGINALS), method.sweeps)
        sweep, memory = max(sweep, looking), held + bytes_of_chains(asked, length.chains, rungs)
    each = {"flips": budget.FLIP, "walk": budget.TRY + budget.SWEEPS_OF_A_TRY * sweep}.get(
        length.counted, sweep
    )
    if hasattr(params, "passes"):
        each += budget.DRAW * min(params.passes * (params.tries + params.moves), BOUNDLESS)
    wanted = getattr(params, f"{length.counted}_per_state", None)
    states = min(length.number, BOUNDLESS) / wanted if wanted else 0.0
    seconds = seconds_of_run(length, method.length(method.settings()), each * min(rungs, 3))
    return RunCost(seconds + states * budget.STATE, memory)


def seconds_of_run(length: RunLength, usual: RunLength, each: float) -> float:
    """Return a run's seconds from those of each sweep, flip or try; 0 where it may converge as usual."""
    if length.at_most and length.number <= usual.number:
        return 0.0
    return min(length.number * length.chains, BOUNDLESS) * each


def begin_line(line: RunLine, method: Method, params: Any) -> None:  # noqa: ANN401
    """Tell a progress line which method runs, and how to measure its progress."""
    length = None if method.length is None else method.length(params)
    if length is None:
        line.begin(method.name)
        return
    unit = {"walk": "try"}.get(length.counted, length.counted)
    most = " at most" if length.at_most else ""
    line.begin(method.name, length.part, f"of {length.number:,} {unit}{most}")


def smaller_options(params: object, usual: object) -> list[str]:
    """Return ways to ask for less: those options that are larger than usual."""
    found = []
    for name in _MULTIPLYING:
        value, least = getattr(params, name, None), getattr(usual, name, None)
        if value is not None and least is not None and value > least:
            asked = f"{value:,}" if value < BOUNDLESS else f"{BOUNDLESS:,.0f} and more"
            found.append(f"ask for less: {name}={least} is usual, not {asked}")
    return found
