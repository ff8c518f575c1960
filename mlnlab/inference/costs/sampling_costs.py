"""Estimate the cost of sampling, of approximating and of searching, by the size of the ground model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.grounding.networks.network_size import size_of
from mlnlab.grounding.question.question import Opening, refuse_unlistable
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.search.landscape import LARGEST
from mlnlab.logic.formulas.formulas import Cardinality, Quantified
from mlnlab.logic.formulas.traversal import subformulas
from mlnlab.steps import budget
from mlnlab.steps.budget import BOUNDLESS, SweepSeconds

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


def sampling_cost(params: Any, problem: Problem, each: SweepSeconds) -> Cost:  # noqa: ANN401
    """Estimate the cost of a sampler by that of its sweeps."""
    refuse_unlistable(problem.asked)
    looking, memory = sweep_cost(problem, each)
    sweeps = min(params.chains * (params.burn_in + params.samples * getattr(params, "thin", 1)), BOUNDLESS)
    held = memory + bytes_of_chains(problem.asked, params.chains, getattr(params, "rungs", 1))
    return Cost(float(each.beginning + sweeps * looking), held)


def approximation_cost(params: Any, problem: Problem) -> Cost | None:  # noqa: ANN401, ARG001
    """Estimate the cost of passing messages, or of ascending, until they converge."""
    clauses = problem.ground if problem.small else None
    if clauses is None or problem.weight > LARGEST or len(clauses.gates.roots):
        return None
    size = len(clauses.literals) + len(clauses.scope) + len(clauses.options)
    seconds = budget.APPROXIMATION_BEGINNING + size * budget.APPROXIMATION_LITERAL
    return Cost(seconds, size * budget.SEARCHED)


def search_cost(params: Any, problem: Problem) -> Cost | None:  # noqa: ANN401
    """Estimate the cost of a search, which ends after its flips or sweeps."""
    ground = problem.ground if problem.small else None
    if ground is None or problem.weight > LARGEST:
        return None
    atoms, literals = len(ground.options), len(ground.literals)
    steps = getattr(params, "flips", 0) or getattr(params, "sweeps", 30) * atoms
    tries = min(getattr(params, "tries", 1), BOUNDLESS)
    seconds = budget.SEARCH_BEGINNING + tries * min(steps, BOUNDLESS) * budget.SEARCH_STEP
    return Cost(seconds, (atoms + literals) * budget.SEARCHED)


def sweep_cost(problem: Problem, each: SweepSeconds) -> tuple[float, float]:
    """Estimate the seconds of one sweep of one chain, and the bytes of the ground model."""
    asked, size = problem.asked, problem.once(size_of)
    ground = size.most_open + size.open_atoms
    looking, held = ground * each.grounding, 0
    counting = any(
        isinstance(p, Quantified | Cardinality) for w in asked.mln.formulas for p in subformulas(w.formula)
    )
    clauses = problem.ground if counting else None
    if clauses is not None:  # one grounding may be thousands of clauses, or a tree of counts
        looking, held = sweep_seconds(clauses, each), budget.LITERAL * len(clauses.literals)
    few = min(ground, budget.FEW_GROUND)
    memory = budget.LEAST + few * budget.GROUND + (ground - few) * budget.GROUND_OF_MANY
    memory += size.open_atoms * budget.OPEN_ATOM + held
    return float(looking), float(memory)


def bytes_of_chains(asked: Opening, chains: int, rungs: int = 1) -> float:
    """Return about how many bytes chains take: each its world, its counts, and sums over its samples."""
    size = size_of(asked)
    ground = size.most_open + size.open_atoms
    of_each = budget.CHAIN + size.open_atoms * budget.CHAIN_OPEN + ground * budget.CHAIN_GROUND
    return min(chains, BOUNDLESS) * float(of_each) + 8 * min(rungs - 1, BOUNDLESS) * float(ground)


def sweep_seconds(clauses: GroundClauses, each: SweepSeconds) -> float:
    """Estimate the seconds of a sweep over a ground model: its choices, literals, scopes and gates."""
    return (
        len(clauses.options) * each.choice + len(clauses.literals) * each.literal
        + len(clauses.scope) * each.of_table + len(set(clauses.gates.scope)) * each.of_gate
    )  # fmt: skip
