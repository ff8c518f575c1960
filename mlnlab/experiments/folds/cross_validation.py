"""``ml.cross_validate``: several learners on the same folds, each tested on databases that it did not see.

Folds and learners are independent of each other, so that they can be shared out to any executor, and each
finished one is kept: in memory as it comes, and in a folder where one is named, from which a second start
goes on. The protocol is that of the thesis (sections 4.3.2 and 4.3.3): CLL and AUC of the query predicates'
atoms given all others, tuned on validation databases where a learner has a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counting_methods import check_executor
from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.elsewhere import Executor, results_elsewhere
from mlnlab.experiments.folds.fold_results import FoldResult, file_of, fingerprint, hash_texts, load
from mlnlab.experiments.folds.fold_runs import Evidence, FoldTask, Testing, run_fold, settings_of
from mlnlab.experiments.folds.folds import folds, name_databases
from mlnlab.experiments.folds.kept_files import Shelf
from mlnlab.experiments.folds.learners import Learner, learners_of
from mlnlab.experiments.folds.validated import CrossValidation, stopped_after
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.safe_files import make_folder
from mlnlab.steps.step import Observer, notify_observers, number_states

if TYPE_CHECKING:
    from mlnlab.model.database.database import Database


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a cross-validation: the newest result, and the numbers done and in all."""

    done: int
    total: int
    result: FoldResult
    reused: bool  # read from the folder

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers done and in all, and the CLL and AUC of the newest result."""
        return {"done": self.done, "total": self.total, "cll": self.result.cll, "auc": self.result.auc}


def cross_validate(
    mln: MLN,
    dbs: Mapping[str, Database] | Sequence[Database],
    learners: Mapping[str, object] | Sequence[str],
    query: Sequence[str] | str,
    *,
    number: int | None = None,
    evidence: Evidence | None = None,
    executor: Executor | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    **inference: object,
) -> CrossValidation:
    r"""Learn on all databases but one, test on that one, for each of them and each learner.

    A learner is a method of :func:`mlnlab.learn_weights`, ``{"method": "cd", "rate": 0.01}`` with options, or
    a function ``(mln, databases, seed) -> model``. ``grid={"rate": [0.1, 0.01]}`` among the options has them
    chosen on one of the training databases, by CLL or by ``tune_by="auc"``, and learned anew from all.

    ``query`` names the predicates that are hidden in the test database; ``inference`` are options of
    :func:`mlnlab.evaluate`, such as ``method="mc-sat"``. ``evidence``, a function from a database to what is
    known of it, replaces hiding them. ``number`` makes fewer folds. Each result is kept in ``folder``; a
    second start with the same settings goes on where the first one stopped. An ``executor`` of processes
    needs functions that can be found by name, and processes that are spawned.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\n!Cancer(x)")
    >>> texts = ["Smokes(A)\nCancer(A)\nSmokes(B)", "Smokes(C)\nCancer(C)", "Cancer(E)\nSmokes(F)"]
    >>> dbs = {name: ml.Database.from_text(text, mln) for name, text in zip("abc", texts)}
    >>> def guess(mln, databases, seed):
    ...     return mln.with_weights([0.5, 0.0])
    >>> found = ml.cross_validate(mln, dbs, {"pll": "pll", "guess": guess}, query=["Cancer"])
    >>> found
    <CrossValidation of 2 learners on 3 folds, 6 finished>
    >>> found.to_frame()[["learner", "fold"]].values.tolist()[0]
    ['pll', 'a']
    """
    tasks = _tasks(
        mln, name_databases(dbs), learners_of(learners), _names(mln, query), number, evidence, seed, inference
    )
    check_executor(executor)
    place = None if folder is None else make_folder(folder)
    order = [(task.learner.name, task.fold.name) for task in tasks]
    results: list[FoldResult] = []
    steps = notify_observers(number_states(_states(tasks, executor, place)), observers)
    try:
        for step in steps:
            results.append(step.state.result)  # noqa: PERF401 - an interrupt keeps what came before it
    except KeyboardInterrupt:
        found = CrossValidation.of(results, order)
        raise stopped_after(len(results), len(order), "learners", found) from None
    finally:
        steps.close()
    found = CrossValidation.of(results, order)
    if not any(result.finished for result in found.results):
        first = found.results[0].problem
        raise ArgumentError(f"No learner finished on any fold. The first problem: {first:.600}")
    return found


def _names(mln: MLN, query: Sequence[str] | str) -> tuple[str, ...]:
    names = (query,) if isinstance(query, str) else tuple(query)
    if not names:
        raise ArgumentError('Name the predicates to predict: ml.cross_validate(..., query=["Smokes"]).')
    for name in names:
        mln.vocabulary[name]  # says what there is instead
    return names


def _tasks(
    mln: MLN, databases: Mapping[str, Database], learners: Sequence[Learner], query: tuple[str, ...],
    number: int | None, evidence: Evidence | None, seed: int, inference: Mapping[str, object],
) -> list[FoldTask]:  # fmt: skip
    """Return a task for each learner and fold; the same seed for all learners of a fold."""
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    splits = folds(list(databases), number)
    testing = Testing(query, evidence, FrozenMapping(dict(inference)))
    prints = {name: fingerprint(db) for name, db in databases.items()}
    tasks = []
    for place, fold in enumerate(splits):
        own = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        used = FrozenMapping({name: databases[name] for name in (*fold.train, *fold.test)})
        for learner in learners:
            settings = hash_texts(*settings_of(mln, prints, fold, learner, testing, own))
            tasks.append(FoldTask(mln, used, fold, learner, testing, own, settings))
    return tasks


def _states(tasks: Sequence[FoldTask], executor: Executor | None, folder: Path | None) -> Iterator[Progress]:
    """Yield finished results: first those from the folder, then the others as they come."""
    left, done = [], 0
    for task in tasks:
        known = load(folder, task.learner.name, task.fold.name, task.settings) if folder is not None else None
        if known is None:
            left.append(task)
        else:
            done += 1
            yield Progress(done, len(tasks), known, reused=True)
    shelf = Shelf()
    try:
        for result in _results(left, executor):
            if folder is not None and result.finished:
                shelf.put(file_of(folder, result.learner, result.fold, result.settings), result)
            done += 1
            yield Progress(done, len(tasks), result, reused=False)
    finally:
        shelf.close()


def _results(tasks: Sequence[FoldTask], executor: Executor | None) -> Iterator[FoldResult]:
    if executor is None:
        yield from map(run_fold, tasks)
    else:
        yield from (result for _, result in results_elsewhere(executor, run_fold, tasks, _record_failure))


def _record_failure(task: FoldTask, problem: str) -> FoldResult:
    return FoldResult(task.learner.name, task.fold.name, task.settings, task.seed, problem=problem)
