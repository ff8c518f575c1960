"""Probabilities of atoms and formulas, as every inference method returns them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas import Formula
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.ground_atom_text import ground_atom_from

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.grounding.question import Question
    from mlnlab.inference.explanation import Explanation


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

    def __getitem__(self, query: str | GroundAtom | Formula) -> float:
        """Return the probability of a queried atom or formula."""
        return self.probabilities[self._key(query)]

    def _key(self, query: str | GroundAtom | Formula) -> str:
        name = query if isinstance(query, str) else None
        if name is not None and name in self.probabilities:
            return name
        text = _normal(query, self.question)
        if text in self.probabilities:
            return text
        shown = name if name is not None else text
        raise ArgumentError(f"{shown} was not asked for{did_you_mean(text, self.probabilities) or '.'}")

    def __contains__(self, query: object) -> bool:
        try:
            self._key(query)  # type: ignore[arg-type]
        except (ArgumentError, AttributeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.probabilities)

    def __len__(self) -> int:
        return len(self.probabilities)

    def error(self, query: str | GroundAtom | Formula) -> float:
        """Return a bound on the error of a probability; of an exact method's, that of its rounding."""
        return self[query] * self.rounding

    def why(self, atom: str | GroundAtom) -> Explanation:
        """Explain a probability: each formula's share of the atom's log-odds, in words and as a table."""
        if self.explain is None:
            raise ArgumentError(f"{self.method} cannot explain its probabilities.")
        return self.explain(ground_atom_from(atom, self.question.vocabulary))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each query."""
        import pandas as pd

        return pd.DataFrame(
            {"query": list(self.probabilities), "probability": list(self.probabilities.values())}
        )

    def __repr__(self) -> str:
        shown = [f"  {p:.4f}  {name}" for name, p in list(self.probabilities.items())[:20]]
        rest = len(self) - len(shown)
        more = [f"  ... and {rest} more"] if rest > 0 else []
        return "\n".join([f"<Marginals by {self.method}: {len(self)} queries>", *shown, *more])


def _normal(query: str | GroundAtom | Formula, question: Question) -> str:
    """Return a query as the marginals name it."""
    if isinstance(query, GroundAtom):
        return str(query)
    if not isinstance(query, str):
        return to_text(query)
    try:
        return str(ground_atom_from(query, question.vocabulary))
    except ArgumentError:
        return query
