r"""List the methods that would answer a question, with their costs: a refusal suggests them.

Every method is asked in the same way, before anything is begun (``Method.estimate_cost``). One that would
refuse is not listed, and neither is one whose cost takes more than moments to estimate.

>>> import mlnlab as ml
>>> from mlnlab.grounding.question.question import opening
>>> mln = ml.MLN.from_text("Left(side)\nNear(side, side)\nNear(x, y) ^ Left(x) => Left(y).")
>>> [way.method for way in ways_to_answer(opening(mln, {"side": 30}, "Left"), "marginals")][0]
'lifted'
"""

from __future__ import annotations

import re
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.inference.ask.choosing import InferencePlan, naming
from mlnlab.inference.costs.inference_problem import Problem
from mlnlab.inference.method_registry import methods
from mlnlab.inference.methods.enumeration import MOST_WORLDS
from mlnlab.steps.free_memory import fits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.grounding.question.question import Opening


def ways_to_answer(
    asked: Opening, kind: str, limit: int = MOST_WORLDS, options: Mapping[str, object] | None = None
) -> tuple[InferencePlan, ...]:
    """Return the plans of all methods that would answer a question of a kind, cheapest first."""
    return ways_of(Problem(asked, kind, {"limit": limit, **(options or {})}))


def ways_of(problem: Problem) -> tuple[InferencePlan, ...]:
    """Return the plans of all methods that would answer a problem, cheapest first."""
    problem.best = inf
    found = []
    for method in methods(problem.kind):
        with suppress(MlnlabError):
            if not (problem.small or method.is_exact or not method.lists_atoms):
                continue  # what has to be ground would be refused
            cost = method.cost(problem)
            if cost is not None and fits(cost.memory):
                found.append(InferencePlan(method.name, cost.why, cost.seconds, cost.memory))
    return tuple(sorted(found, key=lambda plan: plan.seconds))


def with_ways(refusal: TooLargeError, problem: Problem, refused: str = "") -> TooLargeError:
    """Return a refusal that names the methods that would answer, and none that would not."""
    ways = [
        f"{naming(plan)} would answer, in about {plan.cost}"
        for plan in ways_of(problem)
        if plan.method != refused
    ]
    names = "|".join(re.escape(method.name) for method in methods())
    named = re.compile(rf"\b({names})\b|^ask a method")
    kept = [way for way in refusal.remedies if not named.search(way)]
    return TooLargeError(refusal.summary, refusal.estimate, [*ways, *kept])
