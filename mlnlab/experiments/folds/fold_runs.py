"""One learner on one fold: tune, learn, test; a function of the module, so that other processes find it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.evaluation.evaluating import Evaluation, Query, evaluate
from mlnlab.evaluation.judged_atoms import join_judgements, judge_marginals
from mlnlab.experiments.folds.fold_results import FoldResult, Judgement
from mlnlab.experiments.folds.folds import Fold
from mlnlab.experiments.folds.learners import Learner
from mlnlab.inference.ask.asking import infer
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

Evidence = Callable[[Database], Database]


@dataclass(frozen=True, slots=True, eq=False)
class Testing:
    """The test of a learned model: hidden predicates, evidence and options of inference."""

    query: tuple[str, ...]
    evidence: Evidence | None = None
    options: FrozenMapping[Any] = FrozenMapping()  # noqa: RUF009 - it is frozen

    def evaluation(self, model: MLN, databases: list[Database], seed: int) -> Evaluation:
        """Return how good the model's answers about these databases are."""
        if self.evidence is None:
            query: Query = list(self.query)
            return evaluate(model, databases, query, seed=seed, **self.options)
        answers = [
            infer(model, self.evidence(db), list(self.query), seed=seed, **self.options) for db in databases
        ]
        parts = [judge_marginals(answer, db) for answer, db in zip(answers, databases, strict=True)]
        return Evaluation(join_judgements(parts), tuple(answers), seed=seed)


@dataclass(frozen=True, slots=True, eq=False)
class FoldTask:
    """Everything that one result depends on; it can be pickled where its functions can."""

    mln: MLN
    databases: FrozenMapping[Database]  # those of the fold alone
    fold: Fold
    learner: Learner
    testing: Testing
    seed: int
    settings: str

    def of(self, names: tuple[str, ...]) -> list[Database]:
        """Return some of the databases."""
        return [self.databases[name] for name in names]


def run_fold(task: FoldTask) -> FoldResult:
    """Return the learner's result on a fold; a failure is recorded in it, so that others go on."""
    learner, fold = task.learner.name, task.fold.name
    try:
        return _run(task)
    except MlnlabError as problem:
        return FoldResult(learner, fold, task.settings, task.seed, problem=str(problem))
    except Exception as problem:  # noqa: BLE001 - a learner is anybody's function, and one fold is not all
        text = f"{type(problem).__name__}: {problem}"
        return FoldResult(learner, fold, task.settings, task.seed, problem=text)


def _run(task: FoldTask) -> FoldResult:
    begin_peak()
    began = time.perf_counter()
    learner, chosen = _tune_learner(task)
    model = learner.learn_model(task.mln, task.of(task.fold.train), task.testing.query, task.seed)
    learned = time.perf_counter()
    found = task.testing.evaluation(model, task.of(task.fold.test), task.seed)
    cll, auc = found.cll, found.auc
    return FoldResult(
        task.learner.name, task.fold.name, task.settings, task.seed,
        cll.value, cll.error, auc.value, auc.error,
        learned - began, time.perf_counter() - learned, peak_bytes(), chosen, Judgement.of(found),
    )  # fmt: skip


def _tune_learner(task: FoldTask) -> tuple[Learner, str]:
    """Return the learner with the options that are best on the validation databases."""
    if not task.learner.grid:
        return task.learner, ""
    if not task.fold.validation:
        raise ArgumentError(
            f"The options of {task.learner.name:.60} cannot be tuned: fold {task.fold.name:.60} has one part "
            "to learn from. With three folds or more, one of them is held out for it."
        )
    best, reached = task.learner, nan
    for candidate in task.learner.candidates():
        model = candidate.learn_model(task.mln, task.of(task.fold.tuning), task.testing.query, task.seed)
        found = task.testing.evaluation(model, task.of(task.fold.validation), task.seed)
        score = (found.cll if task.learner.tune_by == "cll" else found.auc).value
        if not isnan(score) and (isnan(reached) or score > reached):
            best, reached = candidate, score
    if isnan(reached):
        raise ArgumentError(
            f"No options of {task.learner.name:.60} have an {task.learner.tune_by.upper()} on the validation "
            "databases: no hidden atom is true there."
        )
    return best, ", ".join(f"{name}={best.options[name]!r}" for name in task.learner.grid)


# --- memory ---------------------------------------------------------------------------------------


def begin_peak() -> None:
    """Forget the process's peak of memory, where the system lets one."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_bytes() -> float:
    """Return the most memory that the process had at once since then; nan where the system does not tell."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        return float(found[1]) * 1024 if found else nan
    return nan


def settings_of(
    mln: MLN, fingerprints: Mapping[str, str], fold: Fold, learner: Learner, testing: Testing, seed: int
) -> tuple[str, ...]:
    """Return texts that differ where the result may differ."""
    names = [f"{part}: " + ", ".join(fingerprints[name] for name in getattr(fold, part))
             for part in ("train", "test", "validation")]  # fmt: skip
    known = (
        Learner("", testing.evidence, FrozenMapping(), FrozenMapping()).settings if testing.evidence else ""
    )
    options = Learner("", "", testing.options, FrozenMapping()).settings
    return (
        mln.to_text(),
        mln.semantics,
        *names,
        learner.settings,
        ", ".join(testing.query),
        known,
        options,
        str(seed),
    )
