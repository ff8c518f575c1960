"""Probabilities of atoms and formulas, as every inference method returns them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Protocol

from mlnlab.algebra.doors import probabilities_within, refuse_useless, within
from mlnlab.errors import ArgumentError
from mlnlab.grounding.question.features import number_of_groundings
from mlnlab.logic.formulas.formulas import Atom, Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom, ground_atom
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.ground_atom_text import ground_atom_from

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.inference.answers.sensitivity import Sensitivities
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import State


class UnknownQueryError(ArgumentError, KeyError):
    """The probability of something that was not asked for."""

    def __str__(self) -> str:
        """Return the sentence (a plain KeyError would show its quotes)."""
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A probability from samples, its standard error, its R-hat and its effective sample size."""

    probability: float
    error: float
    r_hat: float
    effective_size: float


class Unseen(Protocol):
    """Atoms that were asked for and are not listed, since no sample made them true."""

    def estimate_of(self, atom: GroundAtom) -> Estimate | None:
        """Return the estimate of an atom that is not listed; ``None`` where it was not asked for."""

    def is_open(self, atom: GroundAtom) -> bool:
        """Return whether evidence leaves an atom open that need not be listed."""

    def list_atoms(self, besides: Container[GroundAtom]) -> Iterator[GroundAtom]:
        """Yield them one by one, or refuse."""


@dataclass(frozen=True, slots=True, eq=False)
class Marginals(Mapping[str, float]):
    """A mapping from queries to probabilities: ``marginals["Smokes(Anna)"]``."""

    probabilities: Mapping[str, float]
    method: str
    log_z: float
    number_of_worlds: int
    seconds: float
    rounding: float
    question: Question
    expected_counts: tuple[float, ...]
    reason: str = ""
    explain: Callable[[GroundAtom], Explanation] | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)  # of a method that samples
    warnings: tuple[str, ...] = ()
    inexact: frozenset[str] = frozenset()  # of an approximation: the queries whose errors nobody knows
    trace: Trace[State] | None = None
    changing: Callable[..., Sensitivities] | None = None
    memory: int = 0  # bytes that the method held at its largest, as counted from its arrays; 0: not known
    unseen: Unseen | None = None  # atoms that were asked for, true in no sample, and are not listed

    def __post_init__(self) -> None:
        """Let nothing through that cannot be: this is the door of every method's answer."""
        refuse_useless(self.rounding, self.method)
        if all(0.0 <= p <= 1.0 for p in self.probabilities.values()) and not self.expected_counts:
            return
        known = ((name, p) for name, p in self.probabilities.items() if not self._is_unknown(name))
        found = probabilities_within(known, self.rounding)
        object.__setattr__(self, "probabilities", {**self.probabilities, **found})
        most = [float(number_of_groundings(one.formula, self.question)) for one in self.question.mln.formulas]
        if len(most) == len(self.expected_counts):
            told = zip(self.expected_counts, most, self.question.mln.formulas, strict=True)
            counts = (
                within(count, number, self.rounding, f"The expected count of {one.formula!s:.200}")
                for count, number, one in told
            )
            object.__setattr__(self, "expected_counts", tuple(counts))

    def _is_unknown(self, name: str) -> bool:
        """Return whether a method says itself that it does not know yet, as before its first sample."""
        return name in self.estimates and isnan(self.estimates[name].error)

    def __getitem__(self, query: str | GroundAtom | Formula) -> float:
        """Return the probability of a queried atom or formula."""
        unseen = self._estimate_unseen_atom(query)
        return self.probabilities[self._key(query)] if unseen is None else unseen.probability

    def _key(self, query: object) -> str:
        for name in _names(query, self.question):
            if name in self.probabilities:
                return name
        spaceless = {_without_spaces(name): name for name in self.probabilities}
        found = spaceless.get(_without_spaces(str(query))) if isinstance(query, str) else None
        if found is None:
            hint = did_you_mean(str(query), self.probabilities) or "."
            raise UnknownQueryError(f"{query} was not asked for{hint}")
        return found

    def _estimate_unseen_atom(self, query: object) -> Estimate | None:
        """Return the estimate of an atom that was asked for but is not listed; ``None`` of all others."""
        if self.unseen is None:
            return None
        for name in _names(query, self.question):
            if name in self.probabilities:
                return None
        with suppress(ArgumentError):
            if isinstance(query, str | GroundAtom | Atom):
                return self.unseen.estimate_of(ground_atom_from(query, self.question.vocabulary))
        return None

    def __contains__(self, query: object) -> bool:
        if self._estimate_unseen_atom(query) is not None:
            return True
        try:
            self._key(query)
        except UnknownQueryError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.probabilities)

    def __len__(self) -> int:
        return len(self.probabilities)

    def error(self, query: str | GroundAtom | Formula) -> float:
        """Return the standard error of an estimate, or a bound on the rounding of an exact probability.

        Of an approximation nobody knows the error: then this is not a number (``nan``).
        """
        unseen = self._estimate_unseen_atom(query)
        if unseen is not None:
            return unseen.error
        name = self._key(query)
        if name in self.inexact:
            return nan
        estimate = self.estimates.get(name)
        return self[query] * self.rounding if estimate is None else estimate.error

    def why(self, atom: str | GroundAtom) -> Explanation:
        """Explain a probability: each formula's share of the atom's log-odds, in words and as a table."""
        if self.explain is None:
            raise ArgumentError(
                f"The question put to {self.method} is not known here, so it cannot explain its answers;"
                " answers of ml.infer can."
            )
        return self.explain(ground_atom_from(atom, self.question.vocabulary))

    def sensitivities(
        self,
        of: str | GroundAtom | Formula | None = None,
        *,
        facts: int | None = None,
        unlisted: bool = False,
    ) -> Sensitivities:
        """Return how a probability depends on each weight, by its derivative, and on each fact.

        The same method answers again with a fact otherwise. ``facts`` bounds how many facts are tried, the
        nearest first; ``unlisted`` tries also what is false because no fact lists it.
        """
        if self.changing is None:
            raise ArgumentError(f"{self.method} cannot ask again; ml.sensitivities does.")
        return self.changing(of, facts=facts, unlisted=unlisted)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each query."""
        import pandas as pd

        frame = pd.DataFrame(
            {"query": list(self.probabilities), "probability": list(self.probabilities.values())}
        )
        if self.estimates:
            found = [self.estimates[name] for name in self.probabilities]
            frame["error"] = [estimate.error for estimate in found]
            frame["r_hat"] = [estimate.r_hat for estimate in found]
            frame["effective_size"] = [estimate.effective_size for estimate in found]
        return frame

    def __repr__(self) -> str:
        shown = [
            f"  {'unknown' if isnan(p) else format(p, '.4f')}  {name}"
            for name, p in list(self.probabilities.items())[:20]
        ]
        rest = len(self) - len(shown)
        more = [f"  ... and {rest} more"] if rest > 0 else []
        warned = [f"  Warning: {warning}" for warning in self.warnings]
        return "\n".join([f"<Marginals by {self.method}: {len(self)} queries>", *shown, *more, *warned])


def name_of(formula: Formula) -> str:
    """Return how marginals call a formula: a ground atom as in a fact file, else as text."""
    atom = ground_atom(formula) if isinstance(formula, Atom) else None
    return to_text(formula) if atom is None else str(atom)


def _names(query: object, question: Question) -> Iterator[str]:
    """Yield the names under which a query may be found."""
    if isinstance(query, Formula):
        yield name_of(query)
    elif isinstance(query, GroundAtom):
        yield str(query)
    elif isinstance(query, str):
        yield query
        with suppress(ArgumentError):
            yield str(ground_atom_from(query, question.vocabulary))


def _without_spaces(text: str) -> str:
    return "".join(text.split())
