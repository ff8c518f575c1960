"""Lazy MC-SAT: marginals of a model that is too large to ground, over the atoms that are ever loose.

A slice of MC-SAT keeps a false atom false where it asks for the atom's own prior, such as ``-12 Same(x, y)``:
with probability 1 - exp(-12). So which atoms are *loose* is drawn first, without listing the others: their
number is binomial, and each set of so many is as probable. All other false atoms are fixed in that slice, and
so is every clause that they satisfy, asked for or not; only clauses over loose atoms, true atoms and those
that other formulas want to be true are ground and drawn as ever. So no clause has to be decided without
being looked at, and each step is just one of MC-SAT on the full model (the idea of holding only what departs
from the default: Poon, Domingos and Sumner, A general method for reducing the complexity of relational
inference and its application to MCMC, AAAI 2008).

Needs: a prior for each predicate with many open atoms, of about the logarithm of their number; other open
predicates are listed. Answers: marginals of atoms. Not for dense answers: where slices leave thousands of
atoms loose, or make very many true, it refuses with the estimate, or stops and keeps what it knows. An atom
without anything for it is loose every exp(s) slices: its probability is known to 1 / samples at best.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.grounding.lazy_priors import lazy_model
from mlnlab.inference.estimates import FEW_SAMPLES, LARGE_R_HAT
from mlnlab.inference.lazy_chains import ChainState, LazyChains
from mlnlab.inference.marginals import Estimate, Marginals
from mlnlab.inference.memory import bytes_of
from mlnlab.inference.method import Method
from mlnlab.inference.seen_times import SeenTimes
from mlnlab.inference.unseen_atoms import CERTAINLY_FALSE, UnseenAtoms
from mlnlab.kernels.sample_sat_components import Effort
from mlnlab.logic.formulas import Atom
from mlnlab.logic.ground_atoms import GroundAtom, ground_atom
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.lazy_priors import LazyModel
    from mlnlab.grounding.question import Opening
    from mlnlab.steps.step import Observer

NAME = "lazy-mc-sat"
BATCHES = 16  # of samples, for standard errors: at least so many
_PER_CLAUSE = 200  # bytes of a ground clause of a few literals, and of what a slice knows of it
MOST_ACTIVE = 200_000  # atoms that may be true at a time


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, from how many chains, and how slices are drawn: as of mc-sat."""

    samples: int = 2_000
    burn_in: int = 200
    chains: int = 4
    seed: int = 0
    tries: int = 100
    jumps: float = 0.2
    walking: float = 0.5
    passes: int = 1
    moves: int = 100

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        least = {"samples": 1, "burn_in": 0, "chains": 1, "seed": 0, "tries": 1, "passes": 1, "moves": 1}
        for name, lowest in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < lowest:
                raise ArgumentError(f"{name} is a whole number from {lowest} on, not {value!r}.")
        for name in ("jumps", "walking"):
            if isinstance(getattr(self, name), bool) or not 0 <= getattr(self, name) <= 1:
                raise ArgumentError(f"{name} is a share between 0 and 1, not {getattr(self, name)!r}.")

    @property
    def effort(self) -> Effort:
        """How components are drawn, for the kernels."""
        return Effort(self.tries, float(self.jumps), float(self.walking), 0.0, self.passes, self.moves)


@dataclass(frozen=True, slots=True, eq=False)
class LazySamplingState:
    """Where all chains are after a batch, what was ground for the last one, and how often atoms were true."""

    chains: tuple[ChainState, ...]
    atoms: int
    clauses: int
    times: SeenTimes

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.times.samples

    def metrics(self) -> Mapping[str, float]:
        """Return how much was sampled, and how much was ground for it."""
        true = sum(len(chain.true) for chain in self.chains) / len(self.chains)
        found = {"samples": self.samples, "atoms": self.atoms, "clauses": self.clauses, "true": true}
        return {name: float(value) for name, value in found.items()}


def steps(params: Params, model: LazyModel) -> Iterator[LazySamplingState]:
    """Yield a state whenever clauses were ground anew; stop where too much becomes true.

    However many samples are asked for, there are never more slices from one state to the next than what is
    ground serves for, so that a run that is stopped has lost next to nothing.
    """
    sampler = LazyChains(model, params.effort, params.chains, params.seed)
    chains = [sampler.first(number) for number in range(params.chains)]
    times = SeenTimes(max(1, min(sampler.slices, params.samples // BATCHES)))
    waiting = params.burn_in
    while times.samples < params.samples:
        slices = min(sampler.slices, waiting or min(times.room, params.samples - times.samples))
        found: dict[GroundAtom, NDArray[np.int64]] = {}
        atoms = clauses = 0
        for number, chain in enumerate(chains):
            chains[number], true, ground = sampler.advanced(number, chain, slices)
            for atom, often in true.items():
                found.setdefault(atom, np.zeros(params.chains, np.int64))[number] += often
            atoms, clauses = max(atoms, ground.number_of_atoms), max(clauses, ground.number_of_clauses)
        if max(len(chain.true) for chain in chains) > MOST_ACTIVE:
            if len(times.complete) >= 2:
                return
            raise _too_active()
        waiting, times = (waiting - slices, times) if waiting else (0, times.extended(found, slices))
        yield LazySamplingState(tuple(chains), atoms, clauses, times)


def _too_active() -> TooLargeError:
    ways = ["use fewer constants", "give priors that keep more atoms false"]
    sentence = f"More than {MOST_ACTIVE:,} atoms are true at a time: too many to sample lazily."
    return TooLargeError(sentence, MOST_ACTIVE, ways)


def lazy_marginals(asked: Opening, observers: Iterable[Observer] = (), **options: object) -> Marginals:
    """Return the fractions of samples in which atoms that are asked for hold; the whole is never ground.

    Of a predicate that is asked for, the answer holds the facts and the atoms that were true in some sample.
    """
    began = time.perf_counter()
    params: Params = _OPTIONS.settings(**options)
    queries = _queries(asked)
    model = lazy_model(asked)
    last: list[LazySamplingState] = []
    try:
        run(_kept(steps(params, model), last), observers=observers)
    except KeyboardInterrupt:
        if not last or not last[0].samples:
            raise LazyInterrupted(None) from None
        known = _known(params, model, queries, last[0], time.perf_counter() - began)
        raise LazyInterrupted(replace(known, reason=f"stopped early; {known.reason}")) from None
    return _known(params, model, queries, last[0], time.perf_counter() - began)


class LazyInterrupted(KeyboardInterrupt):
    """Somebody stopped the sampling; what it knew by then is not lost."""

    def __init__(self, known: Marginals | None) -> None:
        self._known = known
        super().__init__(f"{NAME} was stopped; so_far() tells what it knew.")

    def so_far(self) -> Marginals | None:
        """Return the probabilities as they were known, or ``None`` where no sample had been drawn."""
        return self._known

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


def _kept(states: Iterator[LazySamplingState], last: list[LazySamplingState]) -> Iterator[LazySamplingState]:
    """Yield the states, and remember the last one."""
    for state in states:
        last[:] = [state]
        yield state


def _queries(asked: Opening) -> tuple[str | GroundAtom, ...]:
    """Return the predicates and the atoms that are asked for; other formulas are refused."""
    found: list[str | GroundAtom] = []
    for name, formula in asked.queries:
        atom = ground_atom(formula) if isinstance(formula, Atom) else None
        if formula is not None and atom is None:
            raise ArgumentError(f"{NAME} tells the probabilities of atoms, not of {formula!s:.100}.")
        found.append(name if atom is None else atom)
    return tuple(found)


def _known(
    params: Params,
    model: LazyModel,
    queries: Sequence[str | GroundAtom],
    state: LazySamplingState,
    seconds: float,
) -> Marginals:
    question = model.ground.clauses.question
    names = tuple(query for query in queries if isinstance(query, str))
    eager = {atom for choice in model.ground.eager.choices for atom in choice.atoms}
    seen = {a for atoms in (question.true, eager, state.times) for a in atoms if a.predicate in names}
    atoms = sorted({*(query for query in queries if isinstance(query, GroundAtom)), *seen})
    sums = state.times.of(atoms, params.chains)
    r_hats = sums.r_hats() if sums.can_tell() else np.full(sums.columns, nan)
    columns = np.array((sums.means(), sums.errors(), r_hats, sums.effective_sizes())).T.tolist()
    *sampled, never = (Estimate(*row) for row in columns)
    unseen = UnseenAtoms(names, model.ground.decided, never)
    estimates = {str(atom): found for atom, found in zip(atoms, sampled, strict=True)}
    for atom in atoms:
        if question.holds(*atom):
            estimates[str(atom)] = Estimate(1.0, 0.0, nan, nan)
        elif atom not in eager and not unseen.is_open(atom):
            estimates[str(atom)] = CERTAINLY_FALSE
    open_atoms = sum(model.open_atoms.values())
    reason = (
        f"{NAME}: {count_of(params.chains, 'chain')} of {count_of(state.samples, 'sample')} each over at most"
        f" {count_of(state.atoms, 'atom')} and {count_of(state.clauses, 'clause')} at a time, of"
        f" {count_of(open_atoms, 'open atom')}; atoms that are not listed were true in no sample"
    )
    return Marginals(
        probabilities={name: estimate.probability for name, estimate in estimates.items()},
        method=NAME, log_z=nan, number_of_worlds=state.samples * params.chains, seconds=seconds, rounding=0.0,
        question=replace(question, query_atoms=tuple(atoms)), expected_counts=(), reason=reason,
        estimates=estimates, warnings=tuple(_warnings(params, state, estimates)),
        memory=bytes_of(model, state, sums, estimates) + state.clauses * _PER_CLAUSE,
        unseen=unseen,
    )  # fmt: skip


def _warnings(params: Params, state: LazySamplingState, estimates: Mapping[str, Estimate]) -> Iterator[str]:
    if state.samples < params.samples:
        yield (
            f"Sampling stopped after {state.samples:,} samples, because more than {MOST_ACTIVE:,} atoms were"
            " true at a time."
        )
    apart = [name for name, one in estimates.items() if one.r_hat > LARGE_R_HAT]
    few = [name for name, one in estimates.items() if one.effective_size < FEW_SAMPLES]
    if apart:
        yield f"The chains disagree (R-hat above {LARGE_R_HAT}) on {len(apart):,} atoms: sample longer."
    if few:
        yield f"Fewer than {FEW_SAMPLES:.0f} effective samples for {len(few):,} atoms: sample longer."


# Reads options as every other method does. It takes questions whose atoms are not listed, so it is no METHOD.
_OPTIONS = Method(
    name=NAME,
    needs="a prior that keeps nearly all atoms of a large predicate false",
    is_exact=False,
    params=Params,
    citation="Poon, Domingos and Sumner 2008",
)
