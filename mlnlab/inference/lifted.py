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
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.evaluation_cost import predicted_numbers
from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError, UnsatisfiableError, count_of
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import listed, soft_formulas
from mlnlab.grounding.truth_algebras import extensions
from mlnlab.inference.conflicts import contradiction
from mlnlab.inference.lifted_counts import takes_a_moment
from mlnlab.inference.marginals import Marginals, name_of
from mlnlab.inference.memory import bytes_of
from mlnlab.inference.method import Method
from mlnlab.lifted.compiling import MOST_DEFINITIONS
from mlnlab.lifted.evidence import Evidence, Listing, evidence
from mlnlab.lifted.lift import lift
from mlnlab.lifted.shattering import literal_of
from mlnlab.lifted.weighted_theory import mentioned_constants
from mlnlab.logic.formulas import Atom, Constant
from mlnlab.logic.substitution import free_variables, ground
from mlnlab.logic.weights import Hard, Soft, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mlnlab.grounding.question import Opening, Question
    from mlnlab.lifted.arithmetic import Evaluated
    from mlnlab.lifted.evidence import Known, Row
    from mlnlab.lifted.lift import LiftedCircuit
    from mlnlab.logic.relations import Relation
    from mlnlab.logic.vocabulary import Domain
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import Observer

MOST_FORMULAS, MOST_NAMED, MOST_CHEAP = 60, 2, 300  # of what is tried without being asked for
MOST_CASES = 1e10  # cases of all sums that are not begun


@dataclass(frozen=True, slots=True)
class Params:
    """The most definitions of the circuit, and the most cases of its sums."""

    limit: int = MOST_DEFINITIONS
    most_cases: float = MOST_CASES

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("limit", "most_cases"):
            if getattr(self, name) < 1:
                raise ArgumentError(f"{name} is a number from 1 on, not {getattr(self, name)!r}.")


def known_of(question: Question, model: MLN) -> Evidence:
    """Return what a question's facts say of each predicate: the usual, and what is otherwise."""
    vocabulary = question.vocabulary
    states: dict[str, dict[Row, Known]] = {name: {} for name in vocabulary.predicates}
    for atom in question.true:
        states[atom.predicate][atom.arguments] = True
    for choice in question.choices:
        for atom in choice.atoms:
            states[atom.predicate][atom.arguments] = None
    listings = {
        name: _listing(states[name], [vocabulary.types[type_] for type_ in predicate.types])
        for name, predicate in vocabulary.predicates.items()
    }
    return evidence(vocabulary, listings, mentioned_constants(model))


def _listing(states: Mapping[Row, Known], domains: Sequence[Domain]) -> Listing:
    """Return what most atoms are, as the usual; atoms that no list names are false."""
    atoms = prod(map(len, domains))
    unknown = sum(known is None for known in states.values())
    most = None if 2 * unknown > atoms else 2 * (len(states) - unknown) > atoms
    if most is False:
        return Listing(False, dict(states))
    everything = {row: states.get(row, False) for row in product(*domains)}  # at most twice as many as listed
    return Listing(most, {row: known for row, known in everything.items() if known is not most})


def asked_of(params: Params, question: Question, **options: object) -> LiftedCircuit:
    """Compile the circuit of a question; conditions and formulas that are asked for are of its model."""
    conditions = tuple(WeightedFormula(formula, Hard()) for formula in question.given)
    queries = tuple(WeightedFormula(formula, Soft(0.0)) for _, formula in question.query_formulas)
    besides = (*soft_formulas(question), *conditions, *queries)
    # By now the clauses that Alchemy divides weights among are written out.
    model = replace(question.mln, formulas=(*question.mln.formulas, *besides), semantics="textbook")
    circuit = lift(model, known_of(question, model), limit=params.limit, **options).compile()
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
def explained(question: Question) -> Iterator[None]:
    """Say what contradicts what where no world is possible."""
    try:
        yield
    except UnsatisfiableError:
        raise contradiction(ground_clauses(question)) from None


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:  # noqa: ARG001
    """Return the probability of every queried atom and formula."""
    began = time.perf_counter()
    with explained(question):
        circuit = asked_of(params, question)
        found = circuit.evaluated(None, expectations=True)
    counts = circuit.counts_of(found.true, found.false, circuit.domain_sizes(None))
    probabilities = dict(_probabilities(circuit, found, question))
    return Marginals(
        probabilities=probabilities,
        method=RECORD.name,
        log_z=found.value,
        number_of_worlds=prod(choice.options for choice in question.choices),
        seconds=time.perf_counter() - began,
        rounding=found.error,
        question=question,
        expected_counts=tuple(counts[: len(question.mln.formulas)]),
        reason=f"{RECORD.name}: {count_of(len(circuit.circuit), 'definition')} stand for all constants of"
        f" which the same is known, so the answer is exact ({found.arithmetic})",
        memory=_held(question) + bytes_of(probabilities),
    )


def _probabilities(
    circuit: LiftedCircuit, found: Evaluated, question: Question
) -> Iterator[tuple[str, float]]:
    total = found.true + found.false
    shares = np.clip(found.true / np.where(total > 0, total, 1.0), 0.0, 1.0)
    for atom in question.query_atoms:
        arguments = zip(atom.arguments, question.vocabulary[atom.predicate].types, strict=True)
        lifted = Atom(atom.predicate, tuple(Constant(name, type_) for name, type_ in arguments))
        yield str(atom), float(shares[circuit.symbol_of_atom(lifted)])
    for name, carrier, positive in _instances(question):
        share = float(shares[circuit.symbol_of_atom(carrier)])
        yield name, share if positive else 1.0 - share


def _held(question: Question) -> int:
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
    with explained(question):
        found = asked_of(params, question).log_z()
    return found.value, found.error, _held(question)


def cheap_definitions(asked: Opening) -> int:
    """Return how many definitions answer a question in a moment; 0 where it takes more, or cannot be."""
    vocabulary, data = asked.mln.vocabulary, asked.data
    pairs = [name for name, predicate in vocabulary.predicates.items() if len(predicate.types) > 1]
    if data is not None and any(_has_facts(data.relation(name)) for name in pairs):
        return 0
    formulas = (*asked.mln.formulas, *(formula for _, formula in asked.queries if formula is not None))
    if asked.given or len(formulas) > MOST_FORMULAS:
        return 0
    named = [name for names in mentioned_constants(asked.mln).values() for name in names]
    if len(named) > MOST_NAMED or (data is not None and next(iter(data.soft_evidence()), None)):
        return 0
    try:
        circuit = asked_of(Params(limit=MOST_CHEAP), listed(asked), recursions=0)
    except MlnlabError:
        return 0
    return len(circuit.circuit) if takes_a_moment(circuit) else 0


def _has_facts(relation: Relation) -> bool:
    return any(len(rows) for rows in (relation.true, relation.false, relation.unknown, relation.soft))


# No METHOD, which the registry would find: it does not answer whatever small model the others answer.
RECORD = Method(
    name="lifted",
    needs="every weight known; finite domains; facts about single constants; formulas that treat all alike",
    is_exact=True,
    params=Params,
    citation="Van den Broeck et al. 2011; Van den Broeck and Davis 2012",
    marginals=marginals,
    log_z=log_partition,
)
