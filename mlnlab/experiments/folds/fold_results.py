"""Define the record of one learner's result on one fold, and the file that holds it.

A file is named by a hash of everything that the result depends on: a second start finds it only if nothing
changed. It has a checksum (see :mod:`mlnlab.experiments.folds.kept_files`), and its parts are looked at once
more.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.evaluation.precision_recall import precision_recall
from mlnlab.experiments.folds.kept_files import has_declared_types, read_record
from mlnlab.model.database.fingerprints import fingerprint as fingerprint  # noqa: PLC0414 - names the files
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.evaluation.evaluating import Evaluation


@storable("cross_validation.Judgement")
@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The hidden atoms, predicate by predicate, with their predicted probabilities and truth values."""

    predicates: tuple[str, ...]
    numbers: tuple[int, ...]  # of atoms of each predicate, in this order
    probabilities: NDArray[np.float64]
    truths: NDArray[np.bool_]
    log_probabilities: NDArray[np.float64]

    @classmethod
    def of(cls, found: Evaluation) -> Judgement:
        """Extract from an evaluation the parts that later comparisons need."""
        parts = [found.of(name) for name in found.predicates]
        judged = [part.judged for part in parts]
        return cls(
            found.predicates,
            tuple(len(one) for one in judged),
            np.concatenate([np.zeros(0), *(one.probabilities for one in judged)]),
            np.concatenate([np.zeros(0, bool), *(one.truths for one in judged)]),
            np.concatenate([np.zeros(0), *(part.log_probabilities for part in parts)]),
        )

    def alone(self, predicate: str) -> Judgement:
        """Return the atoms of one predicate."""
        if predicate not in self.predicates:
            return Judgement((), (), np.zeros(0), np.zeros(0, bool), np.zeros(0))
        place = self.predicates.index(predicate)
        first = sum(self.numbers[:place])
        part = slice(first, first + self.numbers[place])
        return Judgement(
            (predicate,), (self.numbers[place],), self.probabilities[part], self.truths[part],
            self.log_probabilities[part],
        )  # fmt: skip

    @property
    def cll(self) -> float:
        """The mean log-probability of the atoms' true values."""
        return float(self.log_probabilities.mean()) if len(self.log_probabilities) else nan

    @property
    def auc(self) -> float:
        """The area under the precision-recall curve."""
        return precision_recall(self.probabilities, self.truths).area if self.truths.any() else nan


@storable("cross_validation.FoldResult")
@dataclass(frozen=True, slots=True, eq=False)
class FoldResult:
    """One learner on one fold. ``problem`` is the reason for a missing result."""

    learner: str
    fold: str
    settings: str  # a hash of what the result depends on
    seed: int
    cll: float = nan
    cll_error: float = nan
    auc: float = nan
    auc_error: float = nan
    learning_seconds: float = nan
    testing_seconds: float = nan
    peak_bytes: float = nan  # of the process, while it learned and tested; nan where it cannot be told
    chosen: str = ""  # the options that tuning chose
    judgement: Judgement | None = None
    problem: str = ""

    @property
    def finished(self) -> bool:
        """Whether there is a result."""
        return not self.problem and self.judgement is not None


def hash_texts(*parts: str) -> str:
    """Return a short hash of texts."""
    return hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def file_of(folder: Path, learner: str, fold: str, settings: str) -> Path:
    """Return the path of a result's file, with only letters and digits of its names."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{learner} {fold}").strip("-")[:60]
    return folder / f"{words}-{settings}.json"


def load(folder: Path, learner: str, fold: str, settings: str) -> FoldResult | None:
    """Return a result that was kept before; ``None`` where there is none, or its file is damaged."""
    found = read_record(file_of(folder, learner, fold, settings))
    same = isinstance(found, FoldResult) and (found.learner, found.fold, found.settings) == (
        learner, fold, settings,
    )  # fmt: skip
    return found if same and found.finished and _is_sound(found) else None


def _is_sound(found: FoldResult) -> bool:
    """Say whether all parts of a result are of their types, and fit each other."""
    judged = found.judgement
    if not isinstance(judged, Judgement) or not has_declared_types(found):
        return False
    if not all(type(number) is int and number >= 0 for number in judged.numbers):
        return False
    arrays = (judged.probabilities, "f"), (judged.truths, "b"), (judged.log_probabilities, "f")
    atoms = sum(judged.numbers)
    return (
        len(judged.predicates) == len(judged.numbers)
        and all(type(name) is str for name in judged.predicates)
        and all(_is_array(array, kind, atoms) for array, kind in arrays)
        and bool(((judged.probabilities >= 0) & (judged.probabilities <= 1)).all())
    )


def _is_array(value: object, kind: str, length: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.shape == (length,)
