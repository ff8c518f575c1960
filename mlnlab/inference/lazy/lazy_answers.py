"""Read the answers of lazy sampling: estimates of listed atoms, and one for all atoms never true."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import nan, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError, count_of
from mlnlab.grounding.question.features import number_of_groundings
from mlnlab.grounding.question.question import MOST_OPEN_ATOMS
from mlnlab.inference.answers.marginals import Estimate, Marginals
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.lazy.unseen_atoms import UnseenAtoms
from mlnlab.inference.sampling.estimates import FEW_SAMPLES, LARGE_R_HAT, QueryEstimates
from mlnlab.logic.formulas.formulas import Atom, Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom, ground_atom

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.lazy.lazy_priors import LazyModel
    from mlnlab.inference.lazy.lazy_chains import LazyState
    from mlnlab.inference.lazy.seen_times import Seen
    from mlnlab.inference.sampling.batches import Batches

MOST_INSTANCES = 10_000  # of a formula that is asked for
_PER_CLAUSE = 200  # bytes of a ground clause of a few literals, and of what a slice knows of it


@dataclass(frozen=True, eq=False)
class LazyReader:
    """Reads states of lazy sampling. ``asked`` holds the atoms and formulas listed before sampling.

    Of predicates whose atoms are not listed these are the facts and what formulas want to be true; the
    marginals of a state have besides what was true in one of its samples.
    """

    method: str
    model: LazyModel
    whole: tuple[str, ...]  # the predicates of which all atoms are asked
    asked: tuple[Seen, ...]
    burn_in: int  # slices of each chain that are thrown away
    samples: int  # of each chain in a whole run

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that are listed from the start: atoms, then formulas."""
        return tuple(map(str, self.asked))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of them evidence decides."""
        return np.array([self._find_decided_truth(seen) is not None for seen in self.asked], np.bool_)

    @cached_property
    def _open_from_start(self) -> frozenset[GroundAtom]:
        return frozenset(atom for choice in self.model.ground.eager.choices for atom in choice.atoms)

    def _find_decided_truth(self, seen: Seen) -> float | None:
        """Return the truth of an atom that evidence decides; ``None`` of all others."""
        if isinstance(seen, str) or seen in self._open_from_start:
            return None
        if self.model.ground.clauses.question.holds(*seen):
            return 1.0
        decided = self.model.ground.decided
        return None if seen.predicate in decided.keys and seen not in decided else 0.0

    def marginals(self, state: LazyState, seconds: float = 0.0) -> Marginals:
        """Return the probabilities as far as they are known in a state."""
        more = {a for a in state.times.atoms() if a.predicate in self.whole} - set(self.asked)
        formulas = [seen for seen in self.asked if isinstance(seen, str)]
        asked = [*self.asked[: len(self.asked) - len(formulas)], *sorted(more), *formulas]
        sums = state.times.of(asked, len(state.chains))
        *rows, never = _rows(sums)
        estimates: dict[str, Estimate] = {}
        for seen, row in zip(asked, rows, strict=True):
            decided = self._find_decided_truth(seen)
            estimates[str(seen)] = row if decided is None else Estimate(decided, 0.0, nan, nan)
        question = self.model.ground.clauses.question
        return Marginals(
            probabilities={name: estimate.probability for name, estimate in estimates.items()},
            method=self.method, log_z=nan, number_of_worlds=state.samples * len(state.chains),
            seconds=seconds, rounding=0.0,
            question=replace(question, query_atoms=tuple(a for a in asked if not isinstance(a, str))),
            expected_counts=(), reason=self._reason(state), estimates=estimates,
            warnings=tuple(self._warnings(state, estimates)),
            memory=bytes_of(self.model, state, sums, estimates) + state.clauses * _PER_CLAUSE,
            unseen=UnseenAtoms(self.whole, self.model.ground.decided, never),
        )  # fmt: skip

    def estimates(self, state: LazyState) -> QueryEstimates:
        """Return the estimates of the atoms listed from the start; NaN before there are samples."""
        found = self.marginals(state).estimates
        rows = [found[name] for name in self.names]
        numbers = QueryEstimates(
            np.array([row.probability for row in rows], np.float64),
            np.array([row.error for row in rows], np.float64),
            np.array([row.r_hat for row in rows], np.float64),
            np.array([row.effective_size for row in rows], np.float64),
        )
        if state.samples:
            return numbers
        return replace(numbers, probabilities=np.where(self.known, numbers.probabilities, nan))

    def warnings(self, state: LazyState) -> tuple[str, ...]:
        """Return sentences on why these probabilities may be wrong."""
        return self.marginals(state).warnings

    def _reason(self, state: LazyState) -> str:
        open_atoms = sum(self.model.open_atoms.values())
        rest = "; atoms that are not listed were true in no sample" if self.model.strengths else ""
        return (
            f"{self.method}: {count_of(len(state.chains), 'chain')} of {count_of(state.samples, 'sample')}"
            f" each over at most {count_of(state.atoms, 'atom')} and {count_of(state.clauses, 'clause')} at a"
            f" time, of {count_of(open_atoms, 'open atom')}{rest}"
        )

    def _warnings(self, state: LazyState, estimates: Mapping[str, Estimate]) -> Iterator[str]:
        apart = [name for name, one in estimates.items() if one.r_hat > LARGE_R_HAT]
        few = [name for name, one in estimates.items() if one.effective_size < FEW_SAMPLES]
        if apart:
            yield f"The chains disagree (R-hat above {LARGE_R_HAT}) on {len(apart):,} atoms: sample longer."
        if few and state.samples:  # a burn-in has few samples by design
            yield f"Fewer than {FEW_SAMPLES:.0f} effective samples for {len(few):,} atoms: sample longer."


def _rows(sums: Batches) -> list[Estimate]:
    """Return the estimate of each column."""
    if not sums.complete:
        return [Estimate(mean, 0.5, nan, 1.0) for mean in sums.means().tolist()]
    r_hats = sums.r_hats() if sums.can_tell() else np.full(sums.columns, nan)
    columns = np.array((sums.means(), sums.errors(), r_hats, sums.effective_sizes())).T.tolist()
    return [Estimate(*row) for row in columns]


def lazy_reader(method: str, model: LazyModel, burn_in: int, samples: int) -> LazyReader:
    """Return a reader of the states of a run over a model."""
    queries = model.ground.asked.queries
    whole = tuple(name for name, formula in queries if formula is None)
    atoms: list[GroundAtom] = []
    for name, formula in queries:
        if formula is None:
            atoms += _from_start(model, name)
        elif isinstance(formula, Atom) and (atom := ground_atom(formula)) is not None:
            atoms.append(atom)
    formulas = (text for text, _ in formulas_of(model))
    return LazyReader(method, model, whole, tuple(dict.fromkeys((*atoms, *formulas))), burn_in, samples)


def _from_start(model: LazyModel, name: str) -> list[GroundAtom]:
    """Return the atoms of a predicate that are told whatever samples say: all, where they are listed."""
    vocabulary, ground = model.ground.asked.mln.vocabulary, model.ground
    domains = [vocabulary.domain(type_) for type_ in vocabulary[name].types]
    if name not in model.strengths and prod(map(len, domains)) <= MOST_OPEN_ATOMS:
        return [GroundAtom(name, arguments) for arguments in product(*domains)]
    facts = (atom for atom in ground.clauses.question.true if atom.predicate == name)
    wanted = (atom for atom in ground.active if atom.predicate == name)
    marked = (a for choice in ground.eager.choices for a in choice.atoms if a.predicate == name)
    return sorted({*facts, *wanted, *marked})


def formulas_of(model: LazyModel) -> tuple[tuple[str, Formula], ...]:
    """Return the groundings of the formulas that are asked for, or refuse to list them."""
    question = model.ground.clauses.question
    asked = tuple((t, f) for t, f in model.ground.asked.queries if f is not None and not _is_ground_atom(f))
    for text, formula in asked:
        number = number_of_groundings(formula, question)
        if number > MOST_INSTANCES:
            raise TooLargeError(
                f"{text or formula!s:.200} has {number:,} groundings; each would be answered, and the limit"
                f" is {MOST_INSTANCES:,}.", number,
                ["quantify its variables", "name constants in it", "use fewer constants"],
            )  # fmt: skip
    return all_instances(replace(question, query_formulas=asked))


def _is_ground_atom(formula: Formula) -> bool:
    return isinstance(formula, Atom) and ground_atom(formula) is not None
