"""Measure calibration: whether a share of about p holds among the atoms with probability p."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.judged_atoms import JudgedAtoms, judge_marginals

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.model.database.database import Database

TOO_FEW = 30  # queries in all: the intervals of their parts say next to nothing
_QUANTILE = 1.959963984540054  # of the normal distribution: intervals of 95 %


@dataclass(frozen=True, slots=True)
class Part:
    """The atoms with a probability from ``low`` to below ``high`` (1 belongs to the last part)."""

    low: float
    high: float
    number: int
    true: int
    mean_probability: float  # NaN where there are none

    @property
    def share_true(self) -> float:
        """The share of them that is true."""
        return self.true / self.number if self.number else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Where that share would lie with more such atoms: Wilson's interval of 95 %."""
        return wilson_interval(self.true, self.number)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Probabilities in parts of equal width, and how many of each part are true."""

    parts: tuple[Part, ...]
    left_out: int = 0  # queries that evidence decides, that are no atoms, or whose truth is not known

    @property
    def number(self) -> int:
        """The number of atoms in all parts."""
        return sum(part.number for part in self.parts)

    @property
    def expected_error(self) -> float:
        """The mean distance of probabilities and shares, each part as heavy as it has atoms (ECE)."""
        filled = [part for part in self.parts if part.number]
        distances = (part.number * abs(part.share_true - part.mean_probability) for part in filled)
        return sum(distances) / self.number if self.number else float("nan")

    @property
    def remark(self) -> str:
        """Say where there are too few atoms to tell; else nothing."""
        if self.number >= TOO_FEW:
            return ""
        if not self.number:
            return "No atom has a known truth, so there is nothing to compare."
        atoms = f"{self.number} atom{'s have' if self.number > 1 else ' has'}"
        return f"Only {atoms} a known truth: too few to tell how well calibrated the probabilities are."

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each part."""
        import pandas as pd

        rows = [
            (p.low, p.high, p.number, p.true, p.mean_probability, p.share_true, *p.interval)
            for p in self.parts
        ]
        names = ["from", "to", "atoms", "true", "mean_probability", "share_true", "at_least", "at_most"]
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        error = f", expected calibration error {self.expected_error:.3g}" if self.number else ""
        return f"<Calibration of {self.number:,} atoms{error}>"


def wilson_interval(true: int, number: int) -> tuple[float, float]:
    """Return the interval of 95 % around a share (Wilson, JASA 1927); all of 0 to 1 without atoms."""
    if not number:
        return 0.0, 1.0
    share, z2 = true / number, _QUANTILE**2
    middle = (share + z2 / (2 * number)) / (1 + z2 / number)
    half = _QUANTILE / (1 + z2 / number) * sqrt(share * (1 - share) / number + z2 / (4 * number**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def calibration(marginals: Marginals, truth: Database, *, parts: int = 10) -> Calibration:
    r"""Measure how well probabilities agree with a database; atoms that it does not list are false.

    Only atoms count whose probability was computed: neither facts of the evidence, nor formulas, nor atoms
    that the database marks as unknown or gives a probability, or whose constants it does not know.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("person = {Anna, Bob, Carla}\nSmokes(person)\n1.5 Smokes(x)")
    >>> answer = ml.infer(mln, ml.Database.from_text("", mln), query=["Smokes"])
    >>> found = ml.calibration(answer, ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)", mln))
    >>> found
    <Calibration of 3 atoms, expected calibration error 0.151>
    >>> found.remark
    'Only 3 atoms have a known truth: too few to tell how well calibrated the probabilities are.'
    """
    if not 1 <= parts <= 1_000:
        raise ArgumentError(f"parts must be a whole number from 1 to 1,000, not {parts!r:.60}.")
    return measure_calibration(judge_marginals(marginals, truth), parts=parts)


def measure_calibration(atoms: JudgedAtoms, *, parts: int = 10) -> Calibration:
    """Return how well the probabilities of some atoms agree with their truth."""
    places = np.minimum((atoms.probabilities * parts).astype(np.int64), parts - 1)
    numbers = np.bincount(places, minlength=parts)
    trues = np.bincount(places, atoms.truths, parts)
    sums = np.bincount(places, atoms.probabilities, parts)
    found = tuple(
        Part(place / parts, (place + 1) / parts, int(n), int(true), float(total / n) if n else float("nan"))
        for place, (n, true, total) in enumerate(zip(numbers, trues, sums, strict=True))
    )
    return Calibration(found, atoms.left_out)
