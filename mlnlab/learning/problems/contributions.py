"""Shares of a formula's gap: of atoms, of ground formulas, or of equiprobable classes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contribution:
    """An atom or a ground formula, one for all that are alike, with their joint share of the gap."""

    text: str
    true: bool  # in the data
    probability: float  # that the model gives it
    change: float  # Δn of an atom; 1 for a ground formula
    share: float
    alike: int
    share_true: float | None = None  # in the data, of those that are alike in probability but not in truth


@dataclass(frozen=True, slots=True)
class Heaviest:
    """The contributions to a formula's gap, the heaviest first; ``remark`` says how they were found."""

    kind: str  # "atoms", "ground formulas" or "classes"
    rows: tuple[Contribution, ...]
    number: int  # of all that contribute
    remark: str
