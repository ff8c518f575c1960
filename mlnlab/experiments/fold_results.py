"""What one learner reached on one fold, as a record, and the file that holds it.

A file is named by a hash of everything that the result depends on: a second start finds it only if nothing
changed. It is JSON, written beside and renamed, so that it is whole or not there.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.evaluation.precision_recall import precision_recall
from mlnlab.model.fingerprints import fingerprint as fingerprint  # noqa: PLC0414 - names the files
from mlnlab.steps.encoding import REGISTRY, storable
from mlnlab.steps.safe_files import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.evaluation.evaluating import Evaluation


@storable("cross_validation.Judgement")
@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The hidden atoms, predicate by predicate: what was said of each, and whether it is true."""

    predicates: tuple[str, ...]
    numbers: tuple[int, ...]  # of atoms of each predicate, in this order
    probabilities: NDArray[np.float64]
    truths: NDArray[np.bool_]
    log_probabilities: NDArray[np.float64]

    @classmethod
    def of(cls, found: Evaluation) -> Judgement:
        """Take from an evaluation what later comparisons need."""
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
    """One learner on one fold. ``problem`` says why there is no result, where there is none."""

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


def hashed(*parts: str) -> str:
    """Return a short hash of texts."""
    return hashlib.sha256("\0\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def file_of(folder: Path, learner: str, fold: str, settings: str) -> Path:
    """Return where a result is kept; of the names only what every file system takes is part of it."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{learner} {fold}").strip("-")[:60]
    return folder / f"{words}-{settings}.json"


def save(folder: Path, result: FoldResult) -> None:
    """Write a result."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(REGISTRY.encoded(result), allow_nan=False)
    with replacing(file_of(folder, result.learner, result.fold, result.settings)) as file:
        file.write(text.encode())


def load(folder: Path, learner: str, fold: str, settings: str) -> FoldResult | None:
    """Return a result that was written before; ``None`` where there is none, or its file is damaged."""
    file = file_of(folder, learner, fold, settings)
    try:
        found = REGISTRY.decoded(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, MlnlabError):
        return None
    same = isinstance(found, FoldResult) and (found.learner, found.fold, found.settings) == (
        learner,
        fold,
        settings,
    )
    return found if same and isinstance(found, FoldResult) and found.finished else None
