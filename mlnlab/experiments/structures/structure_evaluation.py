"""Evaluate learned structures on databases that they did not see: ``ml.evaluate_structure``.

The protocol of Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML
2009), section 4.3: leave one fold out; predict the groundings of each predicate from those of all others,
predicates that decide each other together; CLL and the area under the precision-recall curve over all test
atoms; paired tests over folds. What a system learned, and what it reached on each fold, is kept in a folder
where one is named, from which a second start goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counting_methods import check_executor
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.evaluation.evaluating import PRIOR
from mlnlab.experiments.folds.cross_validation import Progress
from mlnlab.experiments.folds.elsewhere import Executor, results_elsewhere
from mlnlab.experiments.folds.fold_results import (
    FoldResult,
    Judgement,
    file_of,
    fingerprint,
    hash_texts,
    load,
)
from mlnlab.experiments.folds.fold_runs import peak_bytes
from mlnlab.experiments.folds.folds import Fold, folds, name_databases
from mlnlab.experiments.folds.kept_files import Shelf
from mlnlab.experiments.folds.validated import stopped_after
from mlnlab.experiments.structures.structure_results import (
    StructureEvaluation,
)
from mlnlab.experiments.structures.structure_systems import (
    System,
    for_testing,
    learned_on,
    relearn_weights,
    systems_of,
)
from mlnlab.experiments.structures.structure_testing import (
    EVIDENCE,
    EvidenceKind,
    StructureTesting,
    groups_of,
    without_predicates,
)
from mlnlab.inference.ask.asking import infer
from mlnlab.inference.ask.choosing import SAMPLING
from mlnlab.inference.method import MARGINALS
from mlnlab.inference.method_registry import find_method
from mlnlab.logic.checked_options import checked_seed, is_number
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.steps.safe_files import make_folder
from mlnlab.steps.step import Observer, notify_observers, number_states

if TYPE_CHECKING:
    from mlnlab.model.database.database import Database


@dataclass(frozen=True, slots=True, eq=False)
class StructureTask:
    """One system on one fold: everything that its result depends on."""

    system: System
    fold: Fold
    databases: FrozenMapping[Database]
    testing: StructureTesting
    seed: int
    folder: Path | None
    learning_settings: str  # hashes
    settings: str

    def of(self, names: Sequence[str]) -> list[Database]:
        """Return some of the databases."""
        return [self.databases[name] for name in names]


def evaluate_structure(
    systems: object,
    dbs: Mapping[str, Database] | Sequence[Database],
    *,
    groups: Sequence[Sequence[str]] = (),
    predicates: Sequence[str] | None = None,
    omit: Sequence[str] = (),
    evidence: EvidenceKind = "other-predicates",
    method: str = "auto",
    exact: bool = False,
    prior: float = PRIOR,
    smoothing: float | None = None,
    number: int | None = None,
    only: Sequence[str] = (),
    executor: Executor | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    **inference: object,
) -> StructureEvaluation:
    r"""Learn structure from all databases but one, predict each predicate of that one, for each of them.

    A system is a method of :func:`mlnlab.learn_structure` (``"lhl"``), ``{"method": "lhl", "longest": 4}``
    with options, a function ``(databases, seed) -> model``, or models that were made before: one for all
    folds, a list of one for each, or ``{fold: model}``. Several systems have names: ``{"LHL": "lhl", ...}``.
    With ``"weights": {"method": "pll", "deviation": 1.0}`` among its options, a system's clauses are as it
    learned them, and their weights are learned anew under a Gaussian prior. ``"most_seconds": 600`` stops
    learning on a fold after so many seconds of the processor, with the best model so far; with a ``folder``
    a second start with more seconds goes on from there.

    ``groups`` are predicates that are predicted together, because one decides the other: ``[("Actor",
    "Director")]``. ``predicates`` names those to predict, all others being evidence always; ``omit`` those
    that the data are to be without. ``evidence="all-other-atoms"`` asks for each atom given all other
    ground atoms, an easier question. ``method`` and further options are those of :func:`mlnlab.infer`; with
    ``exact=True`` predicates whose junction tree is small enough are answered by that all the same, which
    tells a model's faults from a sampler's. ``smoothing=10_000`` takes every probability, exact or not, as
    a share of so many samples to which the ``prior`` is added, as Alchemy writes its answers.

    ``only`` names folds to test on; with a ``folder`` a second start goes on where the first one stopped. An
    ``executor`` of processes takes one system on one fold at a time; functions have to be found by name.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1 Smokes(x) <=> Cancer(x)")
    >>> texts = ["Smokes(A)\nCancer(A)", "Smokes(B)\nCancer(B)\nSmokes(C)", "Cancer(D)\nSmokes(D)"]
    >>> dbs = {name: ml.Database.from_text(text, mln) for name, text in zip("abc", texts)}
    >>> found = ml.evaluate_structure({"by hand": mln, "empty": mln.without(0)}, dbs)
    >>> found
    <StructureEvaluation of 2 systems on 3 folds, 6 finished>
    >>> [round(value, 3) for value in found.summary()["cll"]]
    [-0.563, -0.693]
    """
    how = (groups, predicates, evidence, method, prior, inference, exact, smoothing)
    place = None if folder is None else make_folder(folder)  # refused before anything is learned
    tasks = _tasks(systems, name_databases(dbs), omit, how, number, only, place, checked_seed(seed))
    check_executor(executor)
    order = [(task.system.name, task.fold.name) for task in tasks]
    results: list[FoldResult] = []
    steps = notify_observers(number_states(_states(tasks, executor)), observers)
    try:
        for step in steps:
            results.append(step.state.result)  # noqa: PERF401 - an interrupt keeps what came before it
    except KeyboardInterrupt:
        found = StructureEvaluation.of(results, order, tasks[0].testing)
        raise stopped_after(len(results), len(order), "systems", found) from None
    finally:
        steps.close()
    found = StructureEvaluation.of(results, order, tasks[0].testing)
    if not any(result.finished for result in results):
        raise ArgumentError(f"No system finished on any fold. The first problem: {results[0].problem:.600}")
    return found


def _tasks(
    systems: object, databases: Mapping[str, Database], omit: Sequence[str], how: tuple[object, ...],
    number: int | None, only: Sequence[str], folder: Path | None, seed: int,
) -> list[StructureTask]:  # fmt: skip
    """Return a task for each system and fold; the same seed for all systems of a fold."""
    for word, given in (("omit", omit), ("only", only)):
        if isinstance(given, str):
            raise ArgumentError(f'{word} must be a list, as in {word}=["{given:.40}"].')
    used = {name: without_predicates(db, omit) for name, db in databases.items()}
    splits = folds(list(used), number)
    for name in only:
        if name not in {fold.name for fold in splits}:
            raise ArgumentError(f"There is no fold {name:.60}{did_you_mean(name, used) or '.'}")
    testing = _testing(used, *how)  # type: ignore[arg-type]  # as the caller gave them
    prints = {name: fingerprint(db) for name, db in used.items()}
    every = systems_of(systems, [fold.name for fold in splits])
    tasks = []
    for place, fold in enumerate(splits):
        own = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        parts = FrozenMapping({name: used[name] for name in (*fold.train, *fold.test)})
        trained = [prints[name] for name in fold.train]
        tested = [prints[name] for name in fold.test]
        for system in every if not only or fold.name in only else ():
            learning = hash_texts(system.settings(fold.name), *trained, str(own))
            anew = repr(sorted(system.weights.items())) if system.weights else ""
            settings = hash_texts(learning, *tested, testing.settings(), *([anew] if anew else []))
            tasks.append(StructureTask(system, fold, parts, testing, own, folder, learning, settings))
    return tasks


def _testing(
    databases: Mapping[str, Database], groups: Sequence[Sequence[str]], predicates: Sequence[str] | None,
    evidence: EvidenceKind, method: str, prior: float, inference: Mapping[str, object], exact: bool,
    smoothing: float | None,
) -> StructureTesting:  # fmt: skip
    if evidence not in EVIDENCE:
        raise ArgumentError(f'evidence is "other-predicates" or "all-other-atoms", not {evidence!r:.60}.')
    first = next(iter(databases.values()))
    for name, db in databases.items():
        if db.vocabulary.predicates != first.vocabulary.predicates:
            raise ArgumentError(f"All databases need the same predicates; those of {name:.60} differ.")
    if smoothing is not None and not (is_number(smoothing) and smoothing > 0):
        raise ArgumentError(f"smoothing must be a number of samples above 0, or None, not {smoothing!r:.60}.")
    if not is_number(prior) or prior < 0:
        raise ArgumentError(f"prior must be a number of samples, at least 0, not {prior!r:.60}.")
    _refuse_odd_inference(method, inference)
    found = groups_of(first.vocabulary, groups, predicates)
    return StructureTesting(
        found, evidence, method, prior, FrozenMapping(dict(inference)), bool(exact), smoothing
    )


def _refuse_odd_inference(method: str, options: Mapping[str, object]) -> None:
    """Refuse misspelt methods and options before anything is learned, which may take hours."""
    of_questions = signature(infer).parameters
    own = {name: value for name, value in options.items() if name not in of_questions}
    if method != "lifted":
        find_method(SAMPLING if method == "auto" else method, MARGINALS).settings(**own)


def _states(tasks: Sequence[StructureTask], executor: Executor | None) -> Iterator[Progress]:
    """Yield finished results: first those from the folder, then the others as they come."""
    left, done = [], 0
    for task in tasks:
        known = load(task.folder, task.system.name, task.fold.name, task.settings) if task.folder else None
        if known is None:
            left.append(task)
        else:
            done += 1
            yield Progress(done, len(tasks), known, reused=True)
    shelf = Shelf()
    try:
        for task, result in _results(left, executor):
            if task.folder is not None and result.finished:
                shelf.put(file_of(task.folder, result.learner, result.fold, result.settings), result)
            done += 1
            yield Progress(done, len(tasks), result, reused=False)
    finally:
        shelf.close()


def _results(
    tasks: Sequence[StructureTask], executor: Executor | None
) -> Iterator[tuple[StructureTask, FoldResult]]:
    if executor is None:
        yield from ((task, run_task(task)) for task in tasks)
        return
    yield from results_elsewhere(executor, run_task, tasks, _record_failure)


def _record_failure(task: StructureTask, problem: str) -> FoldResult:
    return FoldResult(task.system.name, task.fold.name, task.settings, task.seed, problem=problem)


def run_task(task: StructureTask) -> FoldResult:
    """Return the system's result on a fold; a failure is recorded in it, so that others go on."""
    try:
        return _run(task)
    except MlnlabError as problem:
        return _record_failure(task, str(problem))
    except Exception as problem:  # noqa: BLE001 - a system is anybody's function, and one fold is not all
        return _record_failure(task, f"{type(problem).__name__}: {problem}")


def _run(task: StructureTask) -> FoldResult:
    train, test = task.of(task.fold.train), task.of(task.fold.test)
    model, learned = learned_on(
        task.system, task.fold.name, train, task.seed, task.learning_settings, task.folder
    )
    began = time.process_time()
    model = relearn_weights(model, train, task.system, task.seed)
    weighed = time.process_time() - began if task.system.weights else 0.0
    began = time.process_time()
    found = task.testing.evaluation(for_testing(model, test[0].vocabulary), test, task.seed)
    cll, auc = found.cll, found.auc
    return FoldResult(
        task.system.name, task.fold.name, task.settings, task.seed,
        cll.value, cll.error, auc.value, auc.error,
        learned.seconds + weighed, time.process_time() - began, max(learned.peak_bytes, peak_bytes()),
        learned.told, Judgement.of(found),
    )  # fmt: skip
