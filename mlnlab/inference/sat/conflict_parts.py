"""Describe the parts of a conflict: formulas, facts and blocks, and where they were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.model.database.fact_places import Place

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.logic.formulas.ground_atoms import GroundAtom


class Part(NamedTuple):
    """One of the things that contradict each other."""

    kind: str  # "formula", "condition", "fact", "closed" or "block"
    text: str
    binding: tuple[tuple[str, str], ...] = ()  # of the formula's variables
    place: Place | None = None  # where it was written, if that is known
    source: int | None = None  # the formula's number in the expanded model
    atom: GroundAtom | None = None  # of a fact, and of what is closed

    def __str__(self) -> str:
        """Return it as one line."""
        if not self.binding:
            return self.text
        values = ", ".join(f"{variable} = {constant}" for variable, constant in self.binding)
        return f"{self.text}    where {values}"

    def in_words(self) -> str:
        """Return it with its kind."""
        return str(self) if self.kind == "closed" else f"the {self.kind} {self}"

    def lines(self) -> list[str]:
        """Return the part with its place, and the line there with a caret below."""
        if self.place is None:
            return [f"  - {self.in_words()}"]
        excerpt = [f"    {line}" for line in self.place.excerpt()]
        return [f"  - {self.in_words()}    ({self.place.everywhere})", *excerpt]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that resolves a conflict; ``suffices`` says whether a world is possible then, if tried."""

    kind: str  # "drop", "delete", "unknown", "open" or "condition"
    text: str
    part: Part
    suffices: bool | None = None

    def __str__(self) -> str:
        """Return the remedy in words."""
        return self.text


@dataclass(frozen=True, slots=True)
class Conflict:
    r"""Formulas, facts and blocks that contradict each other, and remedies.

    ``minimal`` says that none of the parts can be left out; otherwise there was no time to prove that, or the
    search for the facts was given up (then there are only formulas).

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x).\n!Cancer(Anna).")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)", mln, name="smoking.db")
    >>> found = ml.conflict(mln, db)
    >>> for part in found.parts:
    ...     print(part.place.words, part)
    <text>:3:1 Smokes(x) => Cancer(x).    where x = Anna
    <text>:4:1 !Cancer(Anna).
    smoking.db:1:1 Smokes(Anna)
    >>> for remedy in found.remedies:
    ...     print(remedy)
    drop the formula, or give it a weight: Smokes(x) => Cancer(x).
    drop the formula, or give it a weight: !Cancer(Anna).
    delete the fact Smokes(Anna) (smoking.db:1:1)
    """

    parts: tuple[Part, ...]
    minimal: bool = True
    remedies: tuple[Remedy, ...] = field(default=(), compare=False)

    def of(self, kind: str) -> tuple[Part, ...]:
        """Return the parts of a kind: ``formula``, ``condition``, ``fact``, ``closed`` or ``block``."""
        return tuple(part for part in self.parts if part.kind == kind)

    @property
    def heading(self) -> str:
        """The status of the parts, in a sentence that ends in a colon."""
        if self.minimal:
            return "These contradict each other, and none of them can be left out:"
        if all(part.kind in {"formula", "condition"} for part in self.parts):
            return "These contradict each other together with some of the evidence (not proven minimal):"
        return "These contradict each other (not proven minimal: some of them may not be needed):"

    @property
    def advice(self) -> str:
        """The status of the remedies, in a sentence that ends in a colon; empty where there are none."""
        if not self.remedies:
            return ""
        if any(remedy.suffices for remedy in self.remedies):
            return "Each of these would resolve it:"
        if all(remedy.suffices is False for remedy in self.remedies):
            return "Each of these would resolve it, but other things contradict each other, too:"
        return "Each of these would resolve it, if nothing else is contradictory:"

    @property
    def advised(self) -> tuple[Remedy, ...]:
        """The remedies after which a world is possible; where there are none, all of them."""
        return tuple(remedy for remedy in self.remedies if remedy.suffices) or self.remedies

    def __str__(self) -> str:
        """Return a sentence, each part with its place, and the remedies."""
        lines = [self.heading, *(line for part in self.parts for line in part.lines())]
        if self.advice:
            lines += [self.advice, *(f"  - {remedy}" for remedy in self.advised)]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each part."""
        import pandas as pd

        rows = [
            (part.kind, part.text, dict(part.binding), part.place.words if part.place else "")
            for part in self.parts
        ]
        return pd.DataFrame(rows, columns=["kind", "text", "binding", "place"])
