"""Choose the method for ``method="auto"``, say why, and estimate its cost.

Each method's record tells what an answer would cost (``Method.estimate_cost``) and in which turn it is asked.
Few worlds are summed over one by one. Where there are too many, the cheapest exact method is taken, a lifted
model or a junction tree, if it takes a minute at most. Else, or where options of sampling are given, worlds
are sampled: by the first sampler that has no doubts about itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError, TooLargeError
from mlnlab.grounding.networks.network_size import open_atoms_of
from mlnlab.grounding.question.question import Opening, list_atoms, opening
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.method import MARGINALS, Method
from mlnlab.inference.method_registry import find_method, methods
from mlnlab.inference.methods.enumeration import MOST_WORLDS
from mlnlab.inference.sampling.tree_plans import MOST_GROUND
from mlnlab.steps import budget
from mlnlab.steps.free_memory import fits, refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

EXACT, SAMPLING = "enumeration", "gibbs"  # whose options "auto" takes


@dataclass(frozen=True, slots=True)
class InferencePlan:
    """A method, why it is taken, and about how many seconds and bytes of memory it will take."""

    method: str
    why: str
    seconds: float
    memory: float

    @property
    def cost(self) -> str:
        """The cost in words: time and memory."""
        seconds, memory = budget.seconds_in_words(self.seconds), budget.bytes_in_words(self.memory)
        return f"{seconds} of computing and {memory} of memory"

    def __repr__(self) -> str:
        return f"<InferencePlan: {self.method}, because {self.why}; about {self.cost}>"


def inference_plan(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    limit: int = MOST_WORLDS,
    **options: object,
) -> InferencePlan:
    r"""Return the method :func:`ml.infer` would use, why, and its cost; nothing is computed.

    The arguments are those of ``infer``, options of sampling included.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Left(side)\nNear(side, side)\nNear(x, y) ^ Left(x) => Left(y).")
    >>> ml.inference_plan(mln, {"side": 3}).method
    'enumeration'
    >>> ml.inference_plan(mln, {"side": 30}).method
    'lifted'
    >>> ml.inference_plan(mln, {"side": 30}, samples=1_000).method
    'mc-sat'
    >>> ml.inference_plan(ml.MLN.from_text("Left(side)\nUp(side)\n1 Left(x) => Up(x)"), {"side": 30}).method
    'junction-tree'
    """
    return plan_of(opening(mln, db, query, open, given, closed), limit, options)


def plan_of(asked: Opening, limit: int, options: Mapping[str, object]) -> InferencePlan:
    """Return the plan for a question whose atoms need not be listed yet."""
    find_method(SAMPLING).settings(**options)  # refuses misspelt ones
    return chosen_plan(Problem(asked, MARGINALS, {"limit": limit, **options}))


def chosen_plan(problem: Problem) -> InferencePlan:
    """Return the plan of the method that fits a problem best; raise why there is none."""
    return _Choice(problem).plan()


class _Choice:
    """The plans and refusals of methods asked so far; a mutable local of one choice."""

    def __init__(self, problem: Problem) -> None:
        problem.best, problem.automatic = float("inf"), True
        self.problem = problem
        self.reasons: list[str] = []  # why not a method before
        self.refusals: list[MlnlabError] = []
        self.doubted: list[InferencePlan] = []

    def plan(self) -> InferencePlan:
        able = [one for one in methods(self.problem.kind) if one.turn is not None]
        turns = sorted(able, key=lambda one: one.turn or 0)
        exact = self._exact([one for one in turns if one.is_exact])
        sampling = [one for one in turns if not one.is_exact]
        # What lists atoms and grounds them is the last resort where these are too many.
        large = [one for one in sampling if one.lists_atoms and not self.problem.small]
        others = self._first([one for one in sampling if one not in large] + large) if exact is None else None
        self.problem.automatic = False
        found = exact or others or (self.doubted[0] if self.doubted else None)
        if found is not None:
            return found
        raise self.refusals[-1 if sampling else 0]

    def _exact(self, turns: Sequence[Method]) -> InferencePlan | None:
        """Return the plan of the first method if it has no doubts, or else the cheapest one."""
        options = self.problem.options.keys() - {"limit", "seed"}
        found: list[InferencePlan] = []
        for method in turns:
            if method.turn and not all(method.knows(option) for option in options):
                continue  # options of sampling ask for samples
            for plan in self._plans(method):
                if not method.turn:
                    return plan
                if plan.seconds <= budget.MOST_EXACT and fits(plan.memory):
                    found.append(plan)
                    self.problem.best = min(self.problem.best, plan.seconds)
            if not method.turn:
                _refuse_empty_blocks(self.problem.asked)
        best = min(found, key=lambda plan: plan.seconds, default=None)
        return best or (self.doubted[-1] if self.doubted else None)  # a tree adds up fewer than all worlds

    def _first(self, turns: Sequence[Method]) -> InferencePlan | None:
        """Return the plan of the first method that has no doubts about its answer."""
        for method in turns:
            for plan in self._plans(method):
                return plan
        return None

    def _plans(self, method: Method) -> Iterator[InferencePlan]:
        """Yield a method's plan, if it has one without doubts; keep why not."""
        method.options_of(self.problem)  # odd options are refused, not taken for a reason against a method
        try:
            cost = method.cost(self.problem)
        except MlnlabError as refusal:
            self.refusals.append(refusal)
            if not method.turn:
                self.reasons.append(getattr(refusal, "summary", str(refusal)).rstrip("."))
            return
        if cost is None:
            return
        plan = InferencePlan(method.name, self._why(cost), cost.seconds, cost.memory)
        if cost.doubt:
            self.reasons.append(cost.doubt)
            self.doubted.append(plan)
            return
        yield plan

    def _why(self, cost: Cost) -> str:
        return "; ".join([*self.reasons, cost.why] if cost.why else self.reasons)


def _refuse_empty_blocks(asked: Opening) -> None:
    """Refuse facts that leave a block nothing, here as in answers, where these list all atoms."""
    blocks = any(predicate.exclusive for predicate in asked.mln.vocabulary.predicates.values())
    if blocks and sum(open_atoms_of(asked).values()) <= MOST_GROUND:
        list_atoms(asked)


def naming(plan: InferencePlan) -> str:
    """Return the arguments to type so that a plan is begun, however long it takes."""
    hours = ceil(1.5 * plan.seconds / 3600)
    return f'method="{plan.method}"' + f", most_hours={hours}" * (plan.seconds > 3600 * budget.MOST_HOURS)


def refuse_endless(plan: InferencePlan, most_hours: float | None = None) -> None:
    """Refuse an automatic plan that takes hours, or more memory than is free."""
    fewer = "use fewer constants, list more facts, or close predicates"
    refuse_beyond_memory(plan.memory, f"By {plan.method} this", [fewer])
    if plan.seconds <= budget.limit_seconds(most_hours, budget.MOST_SECONDS):
        return
    ways = [
        fewer,
        "ask for fewer samples, samples=",
        "a method that you name starts all the same; after Ctrl-C ml.so_far() returns its results",
    ]
    raise TooLargeError(
        f"By {plan.method} this would take about {plan.cost}: {plan.why}.", plan.seconds, ways
    )
