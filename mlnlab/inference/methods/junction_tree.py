"""Exact inference by a junction tree of the ground model.

The ground clauses become factors over the open atoms; an elimination order turns them into a tree of cliques,
and two messages along each edge give the probability of every atom and formula at once (Lowd's thesis,
section 2.1.1; Shafer and Shenoy 1990). The work grows with the largest clique, 2 to the treewidth, and only
linearly with the number of atoms, so that thousands of atoms are answered exactly where few depend on each
other directly.

Needs: every weight known; finite domains; ground formulas that tie few atoms to each other. Answers:
marginals of atoms and formulas, expected counts, log Z, a most probable world, each with its rounding. Not
for densely connected models: their tables are estimated first and refused.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.algebra.doors import LOSING
from mlnlab.errors import TooLargeError, UnsatisfiableError, count_of
from mlnlab.factors.trees.junction_trees import JunctionTree, junction_tree
from mlnlab.factors.trees.table_limits import MOST_CELLS
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.ground_factors import GroundFactors, atoms_of, ground_factors
from mlnlab.grounding.networks.network_size import open_atoms_of, size_of
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.method import Method
from mlnlab.inference.sampling.chains import added_up, refuse_impossible
from mlnlab.inference.sampling.estimates import asked_of
from mlnlab.inference.sampling.tree_plans import LARGEST as LARGEST_TABLE
from mlnlab.inference.sampling.tree_plans import MOST_CELLS as MOST_TABLES
from mlnlab.inference.sampling.tree_plans import (
    dense_part,
    neighbours_of,
    plan_of_ties,
    scopes_of,
    tied_choices,
)
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.search.world_search import Found
from mlnlab.logic.checked_options import check_options, real
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mlnlab.factors.trees.calibrated_tree import CalibratedTree
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.question.question import Question
    from mlnlab.steps.step import Observer

    Numbers = NDArray[np.float64]

HEAVY = 1e9  # weights added up, beside which exact answers of longer numbers are preferred
MOST_WORK = 1 << 31  # cells of all tables together: a minute or two


@dataclass(frozen=True, slots=True)
class Params:
    """How large one table, and all of them together, may become, in cells; how the order is found."""

    most_cells: int = MOST_CELLS
    most_work: int = MOST_WORK
    order: str = "min-fill"

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges; names of orders are checked where they are used."""
        check_options(self, most_cells=real(1, endless=True), most_work=real(1, endless=True))


@dataclass(frozen=True, slots=True, eq=False)
class Grounded:
    """A question's factor graph and its junction tree."""

    factors: GroundFactors
    tree: JunctionTree


def ground_question(params: Params, question: Question, *, asked: bool = True) -> Grounded:
    """Ground a question, its queries too where these are asked for, and find the tree; nothing is summed."""
    clauses = ground_clauses(question, all_instances(question) if asked else ())
    refuse_impossible(clauses, LOSING)
    _refuse_dense(clauses, params.most_cells)
    factors = ground_factors(clauses)
    tree = junction_tree(factors.graph, method=params.order, most_cells=params.most_cells)
    if tree.cells > params.most_work:
        raise TooLargeError(
            f"Messages between {count_of(len(tree.cliques), 'clique')} would go through tables of"
            f" {tree.cells:,} cells together (up to {params.most_work:,}).", float(tree.cells),
            ["allow more by most_work=, at some 20 million cells a second",
             "give more evidence, so that fewer open atoms are tied together",
             "ask a method that samples or approximates: mc-sat, gibbs, belief-propagation"],
        )  # fmt: skip
    return Grounded(factors, tree)


def _refuse_dense(clauses: GroundClauses, most_cells: int) -> None:
    """Refuse choices so tied that every elimination makes too large a table, before any is begun."""
    scopes = scopes_of(clauses)
    if scopes is None:
        return
    sizes = np.maximum(1, clauses.options).tolist()
    dense = dense_part(neighbours_of(scopes, len(sizes)), sizes, most_cells)
    if dense:
        raise TooLargeError(
            f"Exact answers need a table of more than {most_cells:,} cells: each of {len(dense):,} open atoms"
            f" is tied to {most_cells.bit_length() - 1} of the others, or more.", most_cells + 1.0,
            ["give evidence on some of these atoms: known atoms need no table",
             "allow more by most_cells=, where there is the memory"],
        )  # fmt: skip


def calibrate_tree(params: Params, ground: Grounded) -> CalibratedTree:
    """Pass all messages; where no world is possible, name the contradicting formulas and facts."""
    try:
        return ground.tree.calibrated(most_cells=params.most_cells)
    except UnsatisfiableError:
        raise contradiction(ground.factors.clauses) from None


def rounding(ground: Grounded) -> float:
    """Return a bound on the relative error of sums of weights in float64.

    A log-weight adds one logarithm of each factor, each rounded once; a sum over a clique's table adds as
    many roundings as its cells have bits, and each message passes them on.
    """
    size = added_up(ground.factors.clauses)  # in a factor's logarithms weights may have cancelled already
    sums = sum(ground.tree.cells_of(clique).bit_length() + 4 for clique in range(len(ground.tree.cliques)))
    return float(np.finfo(float).eps) * (size + 2 * sums)


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:  # noqa: ARG001
    """Return the probability of every queried atom and formula."""
    began = time.perf_counter()
    ground = ground_question(params, question)
    found = calibrate_tree(params, ground)
    clauses = ground.factors.clauses
    expected = expected_true(ground, found)
    columns = np.concatenate([atom_probabilities(ground.factors, found), expected])
    asked = asked_of(clauses)
    probabilities = asked.truths.copy()
    drawn = asked.columns >= 0
    probabilities[drawn] = columns[asked.columns[drawn]]
    return Marginals(
        probabilities=dict(zip(asked.names, np.clip(probabilities, 0.0, 1.0).tolist(), strict=True)),
        method=METHOD.name,
        log_z=found.log_z + clauses.decided_log_weight,
        number_of_worlds=prod(choice.options for choice in question.choices),
        seconds=time.perf_counter() - began,
        rounding=2 * rounding(ground),
        question=question,
        expected_counts=tuple(
            float(tally.groundings) if source.hard else tally.true + float(number)
            for source, tally, number in zip(clauses.sources, clauses.tallies, expected, strict=True)
            if source.kind == "formula"
        ),
        reason=f"{METHOD.name}: {_size_in_words(ground)}, so the answer is exact",
        memory=count_bytes(ground, found) + bytes_of(asked),
    )


def count_bytes(ground: Grounded, found: CalibratedTree) -> int:
    """Return the bytes of the clauses, factors, cliques and messages, and of the largest clique's table."""
    question = ground.factors.clauses.question
    atoms = (question.true, question.choices, question.query_atoms)
    return bytes_of(*atoms, ground.factors, ground.tree, found) + 8 * ground.tree.largest


def _size_in_words(ground: Grounded) -> str:
    cliques = count_of(len(ground.tree.cliques), "clique")
    return f"{cliques} of at most {count_of(ground.tree.width + 1, 'variable')}"


def atom_probabilities(factors: GroundFactors, found: CalibratedTree) -> Numbers:
    """Return the probability of each open atom."""
    return np.array(
        [
            found[factors.variable(number).name][factors.variable(number).values[option]]
            for number, choice in enumerate(factors.clauses.question.choices)
            for option in range(len(choice.atoms))
        ],
        np.float64,
    )


def expected_true(ground: Grounded, found: CalibratedTree) -> Numbers:
    """Return E[n] of each source's open groundings: beliefs times true groundings, cell by cell."""
    graph, scopes = found.passing.graph, found.passing.scopes
    holding: dict[int, set[int]] = {}
    for clique, scope in enumerate(scopes):
        for variable in scope:
            holding.setdefault(variable, set()).add(clique)
    waiting: dict[int, list[tuple[tuple[int, ...], dict[int, Numbers]]]] = {}
    expected = np.zeros(len(ground.factors.clauses.sources))
    for counts in ground.factors.counts:
        fixed = tuple(slice(None) if name in graph else 0 for name in counts.variables)
        of_sources = {source: true[fixed] for source, true in counts.of_sources.items()}
        variables = tuple(graph.number(name) for name in counts.variables if name in graph)
        if not variables:
            for source, true in of_sources.items():
                expected[source] += float(true)
            continue
        together = set.intersection(*(holding[variable] for variable in variables))
        waiting.setdefault(min(together, key=lambda c: len(scopes[c])), []).append((variables, of_sources))
    for clique, parts in waiting.items():
        belief = found.belief(clique).weights
        for variables, of_sources in parts:
            shares = _summed_to(belief, scopes[clique], variables)
            for source, true in of_sources.items():
                expected[source] += float((shares * true).sum())
    return expected


def _summed_to(belief: Numbers, scope: tuple[int, ...], kept: tuple[int, ...]) -> Numbers:
    """Return the distribution of some of a clique's variables, an axis for each, in their order."""
    shares: Numbers = belief.sum(axis=tuple(axis for axis, v in enumerate(scope) if v not in kept))
    left = [variable for variable in scope if variable in kept]
    return shares.transpose([left.index(variable) for variable in kept])


def log_partition(params: Params, question: Question) -> tuple[float, float, int]:
    """Return log Z over the worlds that agree with the evidence (notes, eq. 15), its error, and bytes."""
    ground = ground_question(params, question, asked=False)
    found = calibrate_tree(params, ground)
    log_z = found.log_z + ground.factors.clauses.decided_log_weight
    return log_z, rounding(ground), count_bytes(ground, found)


def most_probable(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Found:  # noqa: ARG001
    """Return a most probable world: maxima in the place of sums."""
    ground = ground_question(params, question, asked=False)
    found = calibrate_tree(params, ground)
    best = found.most_probable()
    true = atoms_of(ground.factors, dict(best))
    log_weight = best.log_weight + ground.factors.clauses.decided_log_weight
    how = f"{METHOD.name}: maxima over {_size_in_words(ground)}"
    return Found(question.true | true, log_weight, 0.0, how, memory=count_bytes(ground, found))


def estimate_cost(params: Params, problem: Problem) -> Cost | None:
    """Estimate the cost by a trial of the elimination, unless that takes longer than the best plan so far."""
    asked, seconds = problem.asked, budget.TREE
    known, opened = asked.mln.vocabulary.predicates, open_atoms_of(asked)
    alone = sum(number for name, number in opened.items() if not known[name].exclusive)
    # Each open atom without a block is a clique.
    if problem.weight > LOSING or seconds.beginning + alone * seconds.clique >= problem.best:
        return None
    clauses = None if problem.asks_formulas else problem.ground
    bounds = (LARGEST_TABLE, MOST_TABLES) if problem.automatic else (params.most_cells, params.most_work)
    tree = plan_of_ties(problem.once(tied_choices, clauses), *bounds)
    if tree is None:
        return None
    size = problem.once(size_of)
    return Cost(
        seconds.beginning + tree.cliques * seconds.clique + tree.factors * seconds.factor
        + tree.cells * seconds.cell + tree.products * seconds.product + tree.passed * seconds.passed,
        budget.LEAST + (size.most_open + size.open_atoms) * budget.GROUND + tree.cells * budget.CELL,
        f"cliques of at most {count_of(tree.variables, 'variable')} give exact answers all the same",
        "a tree's floats round small weights beside large ones" if problem.weight > HEAVY else "",
    )  # fmt: skip


METHOD = Method(
    name="junction-tree",
    needs="every weight known; finite domains; few open atoms in each part that formulas tie together",
    is_exact=True,
    params=Params,
    citation="Lowd's thesis, section 2.1.1; Shafer and Shenoy 1990; Jensen and Jensen 1994",
    marginals=marginals,
    most_probable=most_probable,
    log_z=log_partition,
    estimate_cost=estimate_cost,
    turn=2,
)
