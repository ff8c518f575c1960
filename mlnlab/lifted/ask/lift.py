r"""``ml.lift``: a model compiled once, asked for any weights and any domain sizes.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
...     "1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)")
>>> circuit = ml.lift(mln).compile()
>>> circuit.log_z({"person": 30_000})
<log Z = 1973832463.2, error below 8e-06, by float logarithms>
>>> round(circuit.marginal("Friends(x, y)", {"person": 10}), 6)
0.495408
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from mlnlab.circuits.first_order.first_order_circuit import FirstOrderCircuit, Unfolded
from mlnlab.circuits.first_order.fold import Bodies, Weights
from mlnlab.errors import ArgumentError, UnsatisfiableError, count_of, require
from mlnlab.lifted.ask.cell_choice import chosen_cells
from mlnlab.lifted.ask.cell_theory import CellTheory, cells_to_sample
from mlnlab.lifted.ask.evaluation_budget import refuse_long, refuse_long_count
from mlnlab.lifted.circuit import lifted_questions as asked
from mlnlab.lifted.circuit.arithmetic import (
    Evaluated,
    Evaluation,
    LiftedValue,
    exact_logs,
    rounded_logs,
    share_within,
)
from mlnlab.lifted.circuit.covariance_differences import covariances_by_differences
from mlnlab.lifted.circuit.covariances import covariances_times
from mlnlab.lifted.circuit.most_probable_counts import MostProbableCounts, most_probable_counts
from mlnlab.lifted.circuit.size_sweeps import Sweep, Swept, sweep
from mlnlab.lifted.compile.compiling import (
    Compilation,
    Compiled,
    CompileParams,
    CompileState,
    NotLiftableError,
)
from mlnlab.lifted.compile.compiling_line import compiling_lines
from mlnlab.lifted.compile.unfolding import Unfolding
from mlnlab.lifted.compile.unlifted_formulas import UnliftedFormulas, formulas_text, unlifted_formulas
from mlnlab.lifted.compile.why_not import WhyNot, why_not
from mlnlab.lifted.theory.canonical_theory import canonical
from mlnlab.lifted.theory.evidence import Evidence, database_evidence
from mlnlab.lifted.theory.symbol_names import with_names
from mlnlab.lifted.theory.theory import Theory
from mlnlab.lifted.theory.theory_text import theory_text
from mlnlab.lifted.theory.weighted_theory import WeightedTheory, mentioned_constants, weighted_theory
from mlnlab.logic.formulas.formulas import Atom, Formula
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.budget import MOST_LIFTED_NUMBERS
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import Observer, notify_observers, number_states

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from mlnlab.lifted.sampling.drawn_worlds import SampledWorlds

Sizes = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Lift:
    """A model as a theory that can be compiled: a source of states, to be stepped and recorded."""

    weighted: WeightedTheory
    params: CompileParams = field(default_factory=CompileParams)

    def __repr__(self) -> str:
        return f"<Lift of {self.weighted.mln!r}>"

    @cached_property
    def compilation(self) -> Compilation:
        """The compilation of the theory in its canonical form."""
        return Compilation(self._canonical[0], self.params, self._formulas_text)

    @cached_property
    def unlifted_formulas(self) -> tuple[UnliftedFormulas, ...]:
        """The formulas that no rule lifts, as they were written, with the reason and the ways out."""
        return unlifted_formulas(self.weighted, self.params)

    def _formulas_text(self, theory: Theory) -> str:
        return formulas_text(theory, self.weighted.shattered.symbols, self.weighted.mln)

    @cached_property
    def _canonical(self) -> tuple[Theory, tuple[int, ...]]:
        return canonical(self.weighted.shattered.theory)

    def text(self, theory: Theory) -> str:
        """Return a theory as text, its pieces by their predicates."""
        require(theory, Theory, "A theory is needed, such as lift.theory")
        return theory_text(theory, self.weighted.shattered.symbols)

    def __iter__(self) -> Iterator[CompileState]:
        try:
            yield from self.compilation
        except NotLiftableError as problem:
            told = "\n".join(map(str, self.unlifted_formulas)) or str(problem)
            raise NotLiftableError(told, problem.theory, problem.reasons) from None

    @overload
    def compile(
        self, observers: Iterable[Observer] = (), method: Literal["rules"] = "rules", *,
        progress: bool | None = None,
    ) -> LiftedCircuit: ...  # fmt: skip
    @overload
    def compile(
        self, observers: Iterable[Observer] = (), *, method: Literal["cells"], progress: bool | None = None
    ) -> CellTheory: ...
    @overload
    def compile(
        self, observers: Iterable[Observer] = (), *, method: Literal["auto"], progress: bool | None = None
    ) -> LiftedCircuit | CellTheory: ...
    def compile(
        self, observers: Iterable[Observer] = (), method: str = "rules", *, progress: bool | None = None
    ) -> LiftedCircuit | CellTheory:
        """Compile to a circuit, or by "cells", which no longer depends on weights and sizes.

        In a plain terminal a line says how far it is; ``progress=True`` or ``False`` decides that.

        "auto" takes cells where the formulas relate at most two constants and these cost fewer terms.
        If it is interrupted, :func:`ml.so_far` returns the circuit of the definitions that are made by then.
        """
        state = CompileState((), 1, 0)
        try:
            cells = chosen_cells(method, self.weighted, self.compilation)
            if cells is not None:
                return cells
            for step in notify_observers(number_states(self), (*observers, *compiling_lines(progress))):
                state = step.state
        except KeyboardInterrupt:
            raise Interrupted(
                f"Compiling was stopped after {count_of(state.done, 'definition')}; ml.so_far() returns the "
                "circuit of these, which takes constants one by one where others are missing.",
                lambda: self._make_circuit(self.compilation.cut_short(state)),
            ) from None
        return self._make_circuit(state)

    def _make_circuit(self, last: CompileState) -> LiftedCircuit:
        """Return the circuit of a state at the end."""
        made = sorted(last.list_definitions(), key=lambda one: one.number)
        types, groups = self.weighted.shattered.types, self.weighted.shattered.groups
        return LiftedCircuit(
            self, self.compilation.circuit(last), tuple(types[b] for b in self._canonical[1]), tuple(made),
            tuple(groups[b] for b in self._canonical[1]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LiftedCircuit:
    """A first-order circuit with its symbols' weights; ``types`` are those of the root's subdomains."""

    lift: Lift
    circuit: FirstOrderCircuit
    types: tuple[str, ...]
    definitions: tuple[Compiled, ...]  # how each came about
    groups: tuple[int, ...]  # of the root's subdomains: which of the type's groups, by evidence
    budget: float = MOST_LIFTED_NUMBERS  # the most numbers that an answer may take

    @property
    def weighted(self) -> WeightedTheory:
        """The theory with the weights of its atoms."""
        return self.lift.weighted

    @property
    def is_signed(self) -> bool:
        """Whether signs cancel or numbers of atoms are prescribed, so that floats do not do."""
        signed = self.circuit.is_signed or any(min(factors) <= 0 for factors in self.weighted.factors)
        return signed or bool(self.weighted.tallies) or not self.circuit.is_complete

    @property
    def by_floats(self) -> bool:
        """Whether logarithms of floats do, all sizes below counting nodes at once."""
        return not self.is_signed and not self.circuit.recursive()

    @property
    def unlifted(self) -> tuple[str, ...]:
        """The theories that no rule lifts, as text: their constants are taken one by one."""
        return tuple(self.lift.text(one.theory) for one in self.definitions if isinstance(one.body, Unfolded))

    @property
    def unlifted_formulas(self) -> tuple[UnliftedFormulas, ...]:
        """The formulas that no rule lifts, as they were written, with the reason and the ways out."""
        return () if self.circuit.is_complete else self.lift.unlifted_formulas

    @property
    def mln(self) -> MLN:
        """The model whose weights are taken where none are given."""
        return self.weighted.mln

    def __repr__(self) -> str:
        order = self.circuit.nesting()
        cost = "no sum over sizes" if not order else f"about n^{order} terms"
        if not self.circuit.is_complete:
            cost = "partly grounded when sizes are known"
        return f"<LiftedCircuit of {len(self.circuit)} definitions, {cost}>"

    # --- questions

    def log_z(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> LiftedValue:
        """Return log Z for domain sizes, and for other weights than the model's."""
        found = self.evaluate(domains, weights, expectations=False)
        return LiftedValue(found.value, found.error, found.arithmetic)

    def expected_counts(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> list[float]:
        """Return E[n_i] of all formulas, by one pass up and one down; of a hard one, its groundings.

        Small circuits are evaluated in balls where floats would be off by more than 1e-9; of all others
        ``evaluated(domains, weights, expectations=True).rounding`` bounds the relative error.
        """
        found = self.evaluate(domains, weights, expectations=True)
        return self.counts_of(found.true, found.false, self.domain_sizes(domains), found.rounding)

    def counts_of(
        self, true: NDArray[np.float64], false: NDArray[np.float64], sizes: Mapping[str, int],
        rounding: float = 0.0,
    ) -> list[float]:  # fmt: skip
        """Return E[n_i] of all formulas from the expected numbers of atoms of all symbols."""
        expected = self.weighted.true.T @ true + self.weighted.false.T @ false
        return asked.counts_within(self.mln, expected.tolist(), sizes, rounding)

    def marginal(
        self,
        query: str | Formula,
        domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> float:
        """Return the probability of an atom; different variables stand for different constants."""
        return self.marginals([query], domains, weights)[0]

    def marginals(
        self,
        queries: Sequence[str | Formula],
        domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the probabilities of atoms, all from one pass up and down."""
        queries = asked.listed_queries(queries)
        literals = [self.symbol_of(query) for query in queries]
        found = self.evaluate(domains, weights, expectations=True)
        total = found.true + found.false
        for query, (number, _) in zip(queries, literals, strict=True):
            if not total[number]:
                raise ArgumentError(f"{query} has no groundings in these domains.")
        pairs = zip(queries, literals, strict=True)
        shares = [
            (share_within(float(found.true[n]), float(found.false[n]), found.rounding, str(query)), positive)
            for query, (n, positive) in pairs
        ]
        return [share if positive else 1.0 - share for share, positive in shares]

    def covariances_times(
        self,
        direction: Sequence[float],
        domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None,
    ) -> NDArray[np.float64]:
        """Return Cov(n) · direction, the Hessian of log Z times a direction of weights.

        Where numbers of true atoms are asked for, by differences of expected counts.
        """
        if self.weighted.tallies:
            numbers = asked.read_weights(self.mln, weights, self.domain_sizes(domains))
            return covariances_by_differences(
                lambda moved: self.expected_counts(domains, moved), numbers,
                asked.read_direction(self.mln, direction),
            )  # fmt: skip
        self.log_weights(weights, self.domain_sizes(domains))  # refuses weights that are no numbers
        return covariances_times(self.within_budget(domains), self.exact_logs(weights), direction)

    def sweep(self, domains: Swept, weights: Sequence[object] | None = None) -> Sweep:
        """Return log Z, expected counts and marginals at many sizes, or for many rows of weights."""
        return sweep(self, domains, weights)

    def most_probable_counts(
        self, domains: Sizes | Database | None = None, weights: Sequence[float] | None = None
    ) -> MostProbableCounts:
        """Return of how many constants each counted atom is true in all, most probably."""
        if self.is_signed:
            raise ArgumentError("Terms that cancel have no largest one; ask for expected counts.")
        symbols = self.weighted.shattered.symbols
        atoms = {
            one.number: ", ".join(str(symbols[one.theory.pieces[piece].symbol]) for piece in one.fired.pieces)
            for one in self.definitions
            if one.fired is not None
        }
        log_z = self.log_z(domains, weights).value
        sizes, weighed = self.subdomain_sizes(domains), Weights(*map(list, self.log_weights(weights)))
        return most_probable_counts(self.circuit, sizes, weighed, log_z, atoms)

    def sample_worlds(
        self, number: int = 1, domains: Sizes | Database | None = None,
        weights: Sequence[float] | None = None, *, seed: int = 0,
    ) -> SampledWorlds:  # fmt: skip
        """Return independent worlds as databases, drawn exactly from the model's distribution, by cells."""
        return cells_to_sample(self.weighted).sample_worlds(number, domains, weights, seed=seed)

    def why_not(self, rule: str, definition: int = 0) -> WhyNot:
        """Return why a rule of compilation did not make a definition: ``why_not("atom counting", 3)``."""
        asked_for: object = definition
        if not isinstance(asked_for, int) or not 0 <= asked_for < len(self.definitions):
            last = len(self.definitions) - 1
            raise ArgumentError(f"Definitions are numbered 0 to {last}, not {definition!r:.60}.")
        found = why_not(rule, self.definitions[definition], self.lift.params)
        theory, symbols = self.definitions[definition].theory, self.weighted.shattered.symbols
        blamed = self.unlifted_formulas if self.definitions[definition].fired is None else ()
        said = " ".join([with_names(found.reason, theory, symbols), *(one.sentence for one in blamed)])
        return replace(found, reason=said)

    def world_count(self, domains: Sizes | Database | None = None) -> int:
        """Return how many worlds satisfy the hard formulas, exactly; weights do not matter."""
        evaluation = self.evaluation(domains)
        refuse_long_count(self, evaluation)
        return evaluation.world_count()

    # --- parts

    def evaluate(
        self, domains: Sizes | Database | None, weights: Sequence[float] | None = None, *, expectations: bool
    ) -> Evaluated:
        """Return log Z, and the expected numbers of true atoms of each symbol."""
        logs = self.log_weights(weights, self.domain_sizes(domains))
        found = self.within_budget(domains).evaluate(
            *logs, expectations=expectations, exact=lambda: self.exact_logs(weights)
        )
        if found.value == -np.inf:
            raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
        return found

    def within_budget(self, domains: Sizes | Database | None) -> Evaluation:
        """Return the circuit with all sizes known; refuse one that takes more numbers than allowed."""
        evaluation = self.evaluation(domains)
        refuse_long(self, evaluation)
        return evaluation

    def evaluation(self, domains: Sizes | Database | None) -> Evaluation:
        """Return the circuit with all sizes known."""
        sizes = self.domain_sizes(domains)
        bodies: Bodies = self.circuit
        if not self.circuit.is_complete:
            theories = [one.theory for one in self.definitions]
            bodies = Unfolding(self.circuit, self.lift.compilation, theories, lambda: self.unlifted_formulas)
        return Evaluation(self.circuit, bodies, self.weighted, self.subdomain_sizes(domains), sizes)

    def log_weights(
        self, weights: Sequence[float] | None, sizes: Sizes | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log weights of true and false atoms of each symbol."""
        numbers = asked.read_weights(self.mln, weights, sizes)
        return rounded_logs(self.weighted.true, numbers), rounded_logs(self.weighted.false, numbers)

    def exact_logs(self, weights: Sequence[float] | None) -> tuple[list[Fraction], list[Fraction]]:
        """Return the same without rounding."""
        numbers = asked.read_weights(self.mln, weights).tolist()
        return exact_logs(self.weighted.true, numbers), exact_logs(self.weighted.false, numbers)

    def subdomain_sizes(self, domains: Sizes | Database | None) -> tuple[int, ...]:
        """Return how many constants each of the root's subdomains has: its type's without named ones."""
        sizes = self.domain_sizes(domains)
        return tuple(
            asked.group_size(self.weighted, type_, group, sizes[type_])
            for type_, group in zip(self.types, self.groups, strict=True)
        )

    def domain_sizes(self, domains: Sizes | Database | None) -> dict[str, int]:
        """Return how many constants each type has."""
        return asked.read_sizes(self.mln, domains)

    def symbol_of(self, query: str | Formula) -> tuple[int, bool]:
        """Return the number of a literal's symbol, and whether it is positive."""
        atom, positive = asked.read_literal(self.mln, query)
        return self.symbol_of_atom(atom), positive

    def symbol_of_atom(self, atom: Atom) -> int:
        """Return the number of an atom's symbol; the atom may carry a formula."""
        return asked.symbol_of_atom(self.weighted, self.weighted.shattered.symbols, atom)


def lift(mln: MLN, given: Database | Evidence | None = None, **options: object) -> Lift:
    r"""Translate a model to a theory for lifted inference; ``.compile()`` makes the circuit.

    The circuit depends on neither weights nor domain sizes; both are given when it is asked. What tells
    constants apart other than by name (comparisons, calculations) is refused. Formulas may mention constants,
    equalities, quantifiers that count, and cardinalities. What no rule lifts is grounded constant by constant
    when sizes are known, or refused with ``recursions=0``; ``limit`` is the most definitions.

    ``given`` are facts that are known: what a database lists as true or false, of predicates of one argument
    for as many constants as there are, of others for a few. What it does not list is unknown, but of closed
    predicates false. Larger domains have more constants of which nothing is listed.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Knows(person, person)\n!Knows(x, x).\nKnows(x, y) => Knows(y, x).")
    >>> circuit = ml.lift(mln).compile()
    >>> circuit.world_count({"person": 5})
    1024
    >>> [one.rule for one in circuit.definitions]
    ['unit propagation', 'independent sets', 'Shannon decomposition', 'unit propagation', 'unit propagation']
    """
    if not isinstance(mln, MLN):
        raise ArgumentError(f"ml.lift needs a model, such as ml.MLN.from_text(...), not {mln!r:.60}.")
    known_options = [one.name for one in fields(CompileParams)]
    for name in options:
        if name not in known_options:
            raise ArgumentError(f"ml.lift has no option {name:.60}; it has {', '.join(known_options)}.")
    params = replace(CompileParams(), **options)  # type: ignore[arg-type]
    if given is None or isinstance(given, Evidence):
        return Lift(weighted_theory(mln, given), params)
    require(given, Database, "What is known of constants is given as a database")
    sized = replace(mln, vocabulary=mln.vocabulary_with(given))
    known = database_evidence(given, mentioned_constants(sized))
    return Lift(weighted_theory(sized, known), params)
