"""Exact inference by lifting: one circuit for all constants of which the same is known.

The model becomes a theory over groups of constants, compiled once (Van den Broeck et al. 2011); one pass up
and one down give the probability of every atom. The work grows with the sizes of groups, to the power of the
circuit's nesting, and not with the ground model: thousands of constants are answered exactly where cliques of
a junction tree would be as large as the domain.

Needs: every weight known; facts about constants one by one, and about pairs of a few constants only; formulas
that treat constants alike. Answers: marginals of atoms and formulas, expected counts, log Z, with a bound of
its error. Not for what tells constants apart otherwise: it is refused, and so is what no rule lifts.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.first_order.evaluation_cost import predicted_numbers
from mlnlab.errors import MlnlabError, TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.network_size import open_atoms_of
from mlnlab.grounding.question.question import MOST_OPEN_ATOMS, Opening, Question, list_atoms, soft_formulas
from mlnlab.grounding.question.truth_algebras import extensions
from mlnlab.inference.answers.marginals import Marginals, name_of
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.exact.lifted_trials import Trial, trial_of
from mlnlab.inference.exact.world_counts import least_bits
from mlnlab.inference.method import Method
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.lifted.ask.lift import LiftedCircuit, lift
from mlnlab.lifted.circuit.lifted_questions import symbol_of_atom
from mlnlab.lifted.compile.compiling import MOST_DEFINITIONS
from mlnlab.lifted.theory.evidence import Evidence, Known, Listing, Row, evidence
from mlnlab.lifted.theory.shattering import Symbol, literal_of
from mlnlab.lifted.theory.weighted_theory import WeightedTheory, mentioned_constants
from mlnlab.logic.checked_options import check_options, real
from mlnlab.logic.formulas.formulas import Atom, Constant
from mlnlab.logic.formulas.substitution import free_variables, ground
from mlnlab.logic.formulas.weights import Hard, Soft, WeightedFormula
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mlnlab.lifted.ask.cell_theory import CellTheory
    from mlnlab.lifted.circuit.arithmetic import Evaluated
    from mlnlab.logic.vocabulary import Domain
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.step import Observer

MOST_NAMED = 2  # constants that formulas mention, of what is tried without being asked for
MOST_ASKED = 100  # formulas, conditions and queries
MOST_FACTS, MOST_PAIRS = 200_000, 40
MOST_LISTED = 20_000  # open atoms
MOST_BITS = 10_000_000
MOST_CASES = 1e10  # cases of all sums that are not begun


@dataclass(frozen=True, slots=True)
class Params:
    """The most definitions of the circuit, and the most cases of its sums."""

    limit: int = MOST_DEFINITIONS
    most_cases: float = MOST_CASES

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, limit=real(1, endless=True), most_cases=real(1, endless=True))


def pose_question(asked: Opening) -> Question:
    """List a question's atoms; where these are many, not those of predicates of which no fact needs them."""
    opened = open_atoms_of(asked)
    if sum(opened.values()) <= MOST_LISTED:
        return list_atoms(asked)
    data, known = asked.data, asked.mln.vocabulary.predicates
    whole = {
        name
        for name in asked.opened
        if not (known[name].exclusive and data is not None and name in data.relations)
    }
    return list_atoms(asked, frozenset(whole))


def known_of(question: Question, model: MLN) -> Evidence:
    """Return the facts of each predicate as a listing: the usual value, and the exceptions."""
    vocabulary = question.vocabulary
    states: dict[str, dict[Row, Known]] = {name: {} for name in vocabulary.predicates}
    for atom in question.true:
        states[atom.predicate][atom.arguments] = True
    for choice in question.choices:
        for atom in choice.atoms:
            states[atom.predicate][atom.arguments] = None
    data = question.asked.data if question.asked is not None else None
    if data is not None:
        for name in question.wholly_open & data.relations.keys():
            states[name] |= dict.fromkeys(map(tuple, data.rows(name, "false")), False)
    listings = {
        name: _listing(
            states[name],
            [vocabulary.types[type_] for type_ in predicate.types],
            None if name in question.wholly_open else False,
        )
        for name, predicate in vocabulary.predicates.items()
    }
    return evidence(vocabulary, listings, mentioned_constants(model))


def _listing(states: Mapping[Row, Known], domains: Sequence[Domain], others: Known) -> Listing:
    """Return the usual value and its exceptions; ``others`` is the value of unlisted atoms."""
    atoms, values = prod(map(len, domains)), [*states.values()]
    numbers = {known: values.count(known) for known in (True, False, None)}
    numbers[others] += atoms - len(states)
    most = None if 2 * numbers[None] > atoms else 2 * numbers[True] > atoms
    if most is others:
        return Listing(most, {row: known for row, known in states.items() if known is not most})
    everything = {row: states.get(row, others) for row in product(*domains)}  # at most twice those listed
    return Listing(most, {row: known for row, known in everything.items() if known is not most})


def model_of(question: Question) -> MLN:
    """Return a question's model; conditions and formulas that are asked for are of it."""
    conditions = tuple(WeightedFormula(formula, Hard()) for formula in question.given)
    queries = tuple(WeightedFormula(formula, Soft(0.0)) for _, formula in question.query_formulas)
    besides = (*soft_formulas(question), *conditions, *queries)
    # By now the clauses that Alchemy divides weights among are written out.
    return replace(question.mln, formulas=(*question.mln.formulas, *besides), semantics="textbook")


def try_lifting(question: Question) -> Trial | None:
    """Return a lifted model that answers a question, if a moment of work finds it."""
    model = model_of(question)
    if sum(map(len, mentioned_constants(model).values())) > MOST_NAMED:
        return None
    try:
        return trial_of(model, known_of(question, model), by_cells=not question.query_formulas)
    except MlnlabError:
        return None


def compile_question(params: Params, question: Question) -> LiftedCircuit | CellTheory:
    """Compile a question to its fastest lifted model, or to a circuit, however long that takes."""
    trial = try_lifting(question)
    if trial is not None:
        return trial.compiled
    model = model_of(question)
    circuit = lift(model, known_of(question, model), limit=params.limit).compile()
    if circuit.by_floats:
        cases = predicted_numbers(circuit.circuit, circuit.subdomain_sizes(None))
        if cases > params.most_cases:
            raise TooLargeError(
                f"The circuit's sums have {cases:,.2g} cases here (up to {params.most_cases:,.2g}).",
                float(cases),
                ["allow more by most_cases=", "give fewer facts, or ask about smaller domains",
                 "ask a method that samples: mc-sat, gibbs"],
            )  # fmt: skip
    return replace(circuit, budget=params.most_cases)


@contextmanager
def explain_contradiction(question: Question) -> Iterator[None]:
    """Name the contradicting formulas and facts where no world is possible."""
    try:
        yield
    except UnsatisfiableError:
        if question.wholly_open:  # too large to look for what contradicts what
            raise
        raise contradiction(ground_clauses(question)) from None


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:  # noqa: ARG001
    """Return the probability of every queried atom and formula."""
    began = time.perf_counter()
    with explain_contradiction(question):
        lifted = compile_question(params, question)
        if isinstance(lifted, LiftedCircuit):
            found = lifted.evaluate(None, expectations=True)
            counts = lifted.counts_of(found.true, found.false, lifted.domain_sizes(None), found.rounding)
            symbols = lifted.weighted.shattered.symbols
            means = count_of(len(lifted.circuit), "definition")
        else:
            found, counts = lifted.answer(None)
            symbols, means = lifted.model.symbols, count_of(lifted.compiled.cells, "kind of element")
    probabilities = dict(_probabilities(lifted.weighted, symbols, found, question))
    return Marginals(
        probabilities=probabilities,
        method=METHOD.name,
        log_z=found.value,
        number_of_worlds=_number_of_worlds(question),
        seconds=time.perf_counter() - began,
        rounding=found.rounding,
        question=question,
        expected_counts=tuple(counts[: len(question.mln.formulas)]),
        reason=f"{METHOD.name}: {means} stand for all constants of"
        f" which the same is known, so the answer is exact ({found.arithmetic})",
        memory=_count_bytes(question) + bytes_of(probabilities),
    )


def _number_of_worlds(question: Question) -> int:
    """Return the number of worlds; counts beyond 2^(10^7) are cut off there."""
    options = Counter(choice.options for choice in question.choices)
    for name in question.wholly_open:
        predicate = question.vocabulary[name]
        sizes = [len(question.vocabulary.domain(type_)) for type_ in predicate.types]
        if predicate.exclusive:  # no fact lists any of them
            blocks = prod(sizes[place] for place in predicate.block_keys)
            members = prod(sizes[place] for place in predicate.exclusive)
            options[members + predicate.at_most_one] += min(blocks, MOST_BITS // max(1, members.bit_length()))
        elif question.asked is not None:
            options[2] += int(min(least_bits(question.asked, predicate), MOST_BITS))
    return prod(number**times for number, times in options.items())


def _probabilities(
    weighted: WeightedTheory, symbols: Sequence[Symbol], found: Evaluated, question: Question
) -> Iterator[tuple[str, float]]:
    total = found.true + found.false
    shares = found.true / np.where(total > 0, total, 1.0)
    for atom in question.query_atoms:
        arguments = zip(atom.arguments, question.vocabulary[atom.predicate].types, strict=True)
        lifted = Atom(atom.predicate, tuple(Constant(name, type_) for name, type_ in arguments))
        yield str(atom), float(shares[symbol_of_atom(weighted, symbols, lifted)])
    for name, carrier, positive in _instances(question):
        share = float(shares[symbol_of_atom(weighted, symbols, carrier)])
        yield name, share if positive else 1.0 - share


def _count_bytes(question: Question) -> int:
    return bytes_of(question.true, question.choices, question.query_atoms)


def _instances(question: Question) -> Iterator[tuple[str, Atom, bool]]:
    """Yield the groundings of queried formulas, by the atom that carries each, and its sign."""
    first = len(question.mln.formulas) + len(question.soft) + len(question.given)
    for number, (text, formula) in enumerate(question.query_formulas):
        variables = free_variables(formula)
        carrier, positive = literal_of(formula) or (Atom(f"formula#{first + number}", variables), True)
        if not variables:
            yield text or name_of(formula), carrier, positive
            continue
        for binding in extensions(variables, formula, question.vocabulary)({}):
            instance = ground(carrier, binding)
            if isinstance(instance, Atom):
                yield name_of(ground(formula, binding)), instance, positive


def log_partition(params: Params, question: Question) -> tuple[float, float, int]:
    """Return log Z over the worlds that agree with the evidence (notes, eq. 15), its error, and bytes."""
    with explain_contradiction(question):
        found = compile_question(params, question).log_z()
    return found.value, found.error, _count_bytes(question)


def lift_cheaply(asked: Opening) -> Trial | None:
    """Return a lifted model found within moments; ``None`` where it takes longer, or is impossible."""
    if len(asked.mln.formulas) + len(asked.given) + len(asked.queries) > MOST_ASKED:
        return None
    data = asked.data
    if data is not None and _facts(data) > MOST_FACTS:
        return None
    try:
        return try_lifting(
            pose_question(replace(asked, queries=tuple(q for q in asked.queries if q[1] is not None)))
        )
    except MlnlabError:
        return None


def _facts(data: Database) -> int:
    """Return how many facts there are, where each about a pair counts as many that split a domain."""
    known = data.vocabulary.predicates
    weights = {name: 1 if known[name].arity < 2 else MOST_FACTS // MOST_PAIRS for name in data.relations}
    return sum(weights[name] * relation.listed for name, relation in data.relations.items())


def estimate_cost(params: Params, problem: Problem) -> Cost | None:  # noqa: ARG001 - a trial has its own limits
    """Estimate the cost of a lifted model that a moment of work finds, and of listing the answers."""
    trial = problem.once(lift_cheaply)
    if trial is None:
        return None
    domains = problem.asked.mln.vocabulary.types
    named = {name for name, formula in problem.asked.queries if formula is None}
    atoms = sum(prod(len(domains[t]) for t in problem.asked.mln.vocabulary[name].types) for name in named)
    if atoms > MOST_OPEN_ATOMS:
        return None  # answers could not be listed
    return Cost(
        trial.seconds + atoms * budget.LIFTED_ATOM,
        budget.LEAST + atoms * budget.ANSWER + trial.memory,
        f"{trial.text} and give exact answers all the same",
    )


METHOD = Method(
    name="lifted",
    needs="every weight known; finite domains; facts about single constants; formulas that treat all alike",
    is_exact=True,
    params=Params,
    citation="Van den Broeck et al. 2011; Van den Broeck and Davis 2012",
    marginals=marginals,
    log_z=log_partition,
    answers_all=False,
    pose=pose_question,
    estimate_cost=estimate_cost,
    turn=1,
)
