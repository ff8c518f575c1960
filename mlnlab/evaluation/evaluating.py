"""``ml.evaluate``: how good a model's probabilities are on a database that it does not see.

The atoms of the queried predicates are hidden, all others are evidence, and what inference says of them is
compared with the database. The conditional log-likelihood (CLL) is the mean of the logarithms of the
probabilities given to the atoms' true values (Lowd's thesis, section 4.3.2; Kok and Domingos, ICML 2009,
section 4.3); a small prior keeps a sampler's zero counts from making it infinite. The area under the
precision-recall curve (AUC) says how well true atoms are told from false ones, calibrated or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.calibration import Calibration, measure_calibration
from mlnlab.evaluation.judged_atoms import JudgedAtoms, join_judgements, judge_marginals
from mlnlab.evaluation.precision_recall import PrecisionRecall, areas, precision_recall
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.lazy.unseen_atoms import refuse_many
from mlnlab.model.database.database import Database, databases_of
from mlnlab.model.database.hiding import FalseFacts, hiding
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.steps.step import Observer

PRIOR = 0.5  # samples of either truth value that are added to those of a sampler
RESAMPLES = 400
_MOST_CELLS = 4_000_000  # of counts that are drawn at a time
_SHOWN = 3

Query = Sequence["str | Sequence[str]"]


@dataclass(frozen=True, slots=True)
class Score:
    """A measure and its standard error."""

    value: float
    error: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f}"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures of how good probabilities are; ``of("Smokes")`` for some predicates alone."""

    judged: JudgedAtoms
    answers: tuple[Marginals, ...] = ()
    prior: float = PRIOR
    seed: int = 0

    @cached_property
    def log_probabilities(self) -> NDArray[np.float64]:
        """The logarithm of the probability that each atom's true value was given."""
        samples, said = self.judged.samples, self.judged.probabilities
        with np.errstate(divide="ignore", invalid="ignore"):
            smoothed = (said * samples + self.prior) / (samples + 2 * self.prior)
            chances = np.where(np.isfinite(samples), smoothed, said)
            return np.asarray(np.log(np.where(self.judged.truths, chances, 1.0 - chances)))

    @cached_property
    def cll(self) -> Score:
        """The mean log-probability of the atoms' true values."""
        logs = self.log_probabilities
        if not len(logs):
            return Score(nan, nan)
        mean = float(logs.mean())
        spread = float(logs.std(ddof=1)) if len(logs) > 1 and isfinite(mean) else nan
        return Score(mean, spread / sqrt(len(logs)))

    @cached_property
    def curve(self) -> PrecisionRecall:
        """The precision-recall curve of all atoms together."""
        return precision_recall(self.judged.probabilities, self.judged.truths)

    @cached_property
    def auc(self) -> Score:
        """The area under the precision-recall curve; its error is that of drawing the atoms anew."""
        return Score(self.curve.area, resampled_error(self.judged, np.random.default_rng(self.seed)))

    @cached_property
    def calibration(self) -> Calibration:
        """The calibration: whether a share of about p holds among the atoms with probability p."""
        return measure_calibration(self.judged)

    @property
    def predicates(self) -> tuple[str, ...]:
        """The predicates that were asked for."""
        return self.judged.predicates

    def of(self, *predicates: str) -> Evaluation:
        """Return the evaluation of some of the predicates alone."""
        for name in predicates:
            if name not in self.predicates:
                known = ", ".join(self.predicates) or "none"
                raise ArgumentError(f"{name} was not evaluated; these predicates were: {known}.")
        return Evaluation(self.judged.of(predicates), self.answers, self.prior, self.seed)

    @property
    def impossible(self) -> tuple[str, ...]:
        """The atoms whose truth the model gives probability 0, so that the CLL is minus infinity."""
        places = np.flatnonzero(self.log_probabilities == -inf).tolist()
        return tuple(str(self.judged.atoms[place]) for place in places)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The caveats to read before one believes the numbers."""
        return tuple(_remarks(self))

    def by_predicate(self) -> pd.DataFrame:
        """Return a data frame with a row for each predicate, and one for all atoms together."""
        import pandas as pd

        rows = [_row(name, self.of(name)) for name in self.predicates]
        names = ["predicate", "atoms", "true", "cll", "cll_error", "auc", "auc_error", "average_precision"]
        return pd.DataFrame([*rows, _row("all together", self)], columns=names)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each atom: its probability and its truth."""
        import pandas as pd

        return pd.DataFrame(
            {"atom": list(map(str, self.judged.atoms)), "probability": self.judged.probabilities,
             "true": self.judged.truths, "log_probability": self.log_probabilities}
        )  # fmt: skip

    def __repr__(self) -> str:
        true = int(self.judged.truths.sum())
        return f"<Evaluation of {len(self.judged):,} atoms, {true:,} true: CLL {self.cll}, AUC {self.auc}>"


def evaluate(
    mln: MLN | Marginals,
    db: Database | Sequence[Database],
    query: str | Query = (),
    *,
    method: str = "auto",
    open: Sequence[str] | str = (),  # noqa: A002 - as in infer
    false_facts: FalseFacts = "data",
    prior: float = PRIOR,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    **options: object,
) -> Evaluation:
    r"""Return how good a model's probabilities of the queried predicates' atoms are.

    Their atoms in the database are hidden from inference, and are the truth that it is compared with.
    ``query=["Actor", "Director"]`` hides both at once; lists in a list are hidden one after the other,
    ``[["Actor", "Director"], ["Movie"]]``, each with the others as evidence. Several databases are
    evaluated one by one and their atoms taken together. ``prior`` is how many samples of either truth value
    are added to a sampler's; exact probabilities are taken as they are. ``method`` and ``options`` are those
    of :func:`infer`. Atoms that a database lists as false are hidden like all others; with
    ``false_facts="evidence"`` they are known, as pairs outside all canopies are, and not judged. Answers
    that are there already are judged by ``ml.evaluate(marginals, truth)``.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> found = ml.evaluate(mln, db, query=["Cancer"])
    >>> found
    <Evaluation of 3 atoms, 2 true: CLL -0.8653 ± 0.4415, AUC 0.5473 ± 0.2791>
    """
    from mlnlab.inference.ask.asking import infer

    if not 0 <= prior < inf:
        raise ArgumentError(f"prior must be a number of samples, at least 0, not {prior!r}.")
    databases = databases_of(db, "A model is judged by")
    if isinstance(mln, Marginals):
        if len(databases) != 1 or query:
            raise ArgumentError("Probabilities are judged by one database: ml.evaluate(marginals, truth).")
        return Evaluation(judge_marginals(mln, databases[0]), (mln,), prior, seed)
    answers, found = [], []
    for group in _groups(query, mln):
        for one in databases:
            hidden = hiding(one, group, false_facts)
            refuse_many(mln.vocabulary_with(hidden), tuple(group))
            answer = infer(
                mln, hidden, group, open=[*group, *_names(open)], method=method, seed=seed,
                observers=observers, **options,  # type: ignore[arg-type]  # infer checks them
            )  # fmt: skip
            answers.append(answer)
            found.append(judge_marginals(answer, one))
    if not found:
        raise ArgumentError("Name at least one database to evaluate on.")
    return Evaluation(join_judgements(found), tuple(answers), prior, seed)


def _names(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _groups(query: str | Query, mln: MLN) -> list[list[str]]:
    """Return the predicates that are hidden together, group by group."""
    asked = [query] if isinstance(query, str) else list(query)
    nested = [not isinstance(item, str) for item in asked]
    groups = [_names(item) for item in asked] if any(nested) else [[str(item) for item in asked]]
    if not any(groups):
        raise ArgumentError('Name the predicates to evaluate: ml.evaluate(mln, db, query=["Smokes"]).')
    names = [name for group in groups for name in group]
    for name in names:
        mln.vocabulary[name]  # says what there is instead
        if names.count(name) > 1:
            raise ArgumentError(f"{name} appears twice in the query; each predicate is evaluated once.")
    return groups


def resampled_error(atoms: JudgedAtoms, random: np.random.Generator) -> float:
    """Return the standard deviation of the area under the curve over sets of atoms drawn with replacement."""
    return resampled_area_error(atoms.probabilities, atoms.truths, random)


def resampled_area_error(
    probabilities: NDArray[np.float64], truths: NDArray[np.bool_], random: np.random.Generator
) -> float:
    """Return the same of atoms of which only this is known."""
    number = len(truths)
    if number < 2 or not truths.any():
        return nan
    thresholds, places = np.unique(-probabilities, return_inverse=True)
    true = np.bincount(places, truths, len(thresholds))
    every = np.bincount(places, minlength=len(thresholds))
    shares = np.concatenate([true, every - true]) / number
    at_once = max(1, _MOST_CELLS // len(shares))
    found: list[NDArray[np.float64]] = []
    for first in range(0, RESAMPLES, at_once):
        drawn = random.multinomial(number, shares, min(at_once, RESAMPLES - first)).astype(np.float64)
        half = len(thresholds)
        found.append(areas(np.cumsum(drawn[:, :half], axis=1), np.cumsum(drawn[:, half:], axis=1)))
    values = np.concatenate(found)
    kept = values[np.isfinite(values)]
    return float(kept.std(ddof=1)) if len(kept) > 1 else nan


def _row(name: str, found: Evaluation) -> tuple[object, ...]:
    cll, auc = found.cll, found.auc
    return (
        name, len(found.judged), int(found.judged.truths.sum()), cll.value, cll.error, auc.value, auc.error,
        found.curve.average_precision,
    )  # fmt: skip


def _remarks(found: Evaluation) -> Iterable[str]:
    if not len(found.judged):
        yield "No atom has a known truth, so there is nothing to compare."
        return
    if not found.judged.truths.any():
        yield "No atom is true, so there is no precision-recall curve."
    impossible = found.impossible
    if impossible:
        more = f" and {len(impossible) - _SHOWN} more" if len(impossible) > _SHOWN else ""
        listed = ", ".join(impossible[:_SHOWN]) + more
        yield f"The CLL is minus infinity: the model says that the database is impossible at {listed}."
    yield from dict.fromkeys(text for answer in found.answers for text in answer.warnings)
