"""One result of Table 1 of Van den Broeck, Meert and Davis (2013): weights learned, and judged on a fold."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError, count_of
from mlnlab.experiments.folds.fold_runs import peak_bytes
from mlnlab.experiments.reproduce.table_1_data import Split
from mlnlab.experiments.reproduce.table_1_results import PAPER_MOST_FORMULAS, Result
from mlnlab.inference.ask.likelihoods import log_likelihood
from mlnlab.learning.ask.learn_weights import learn_weights
from mlnlab.learning.ask.learner import weight_learner
from mlnlab.learning.objectives.lifted_by_cells import LikelihoodByCells
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood, refuse_costly
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.lifted.ask.cell_likelihood import cell_likelihood
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.lifted.ask.lift import lift
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError
from mlnlab.logic.formulas.weights import weight_value
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.steps import budget

OPTIONS: Mapping[str, Mapping[str, Any]] = {"lwl": {"tolerance": 1e-10}}
MANY, FEW_TERMS = 20, 100_000  # formulas; terms of a sum over cells
MOST_JUDGING = 300.0  # seconds of a sum over cells


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that results depend on."""

    deviation: float = 100.0  # of the prior
    seconds: float = 60.0  # of a learner on a fold, after which its weights are taken as they are
    seed: int = 0
    structure_seconds: float = inf  # of the processor, for BUSL and MSL on a fold


def result(
    dataset: str, structure: str, split: Split, learner: str, mln: MLN, settings: Settings, key: str = ""
) -> Result:
    """Learn the weights of a structure in one way, and judge them on the fold that was held out."""
    names = (dataset, structure, split.name, learner, len(mln.formulas))
    told: dict[str, Any] = {}
    try:
        cells = _compile_cells(mln, split, settings, told)
        began = time.perf_counter()
        model, ended, told["compiling_seconds"] = _learn_weights(mln, split, learner, settings, cells)
        learned = time.perf_counter()
        test = _judge_databases(model, [split.test], cells)
        tested = time.perf_counter()
        training = _judge_databases(model, split.train, cells)
        told["peak_megabytes"] = peak_bytes() / 1e6
        return Result(
            *names, test, training, learned - began, testing_seconds=tested - learned, ended=ended,
            model=model.to_text(), key=key, **told,
        )  # fmt: skip
    except MlnlabError as problem:
        reason, *_ = str(problem).splitlines()  # without the ways out
        return Result(*names, problem=reason, key=key, **told)


def _compile_cells(mln: MLN, split: Split, settings: Settings, told: dict[str, Any]) -> CellTheory | None:
    """Return the cells of a theory that rules compile too slowly or too largely, else `None`.

    Theories of over twenty formulas are summed over cells where that takes few terms. Of those of over fifty
    rules are not tried: what they make of them takes a day for a step.
    """
    cells = cells_of(mln) if len(mln.formulas) > MANY else None
    if cells is not None and len(mln.formulas) <= PAPER_MOST_FORMULAS:
        terms = max(cells.terms(_sizes(mln, db)) for db in (*split.train, split.test))
        cells = cells if terms <= FEW_TERMS else None
    if cells is None:
        try:
            _refuse(mln, split, settings, told)
        except TooLargeError as problem:
            cells = cells_of(mln)
            if cells is None:
                raise problem from None
    if cells is not None:
        told |= {"cells": cells.compiled.cells, "order": cells.order}
    return cells


def cells_of(mln: MLN) -> CellTheory | None:
    """Return the cells of a theory; nothing where it has none in whose sums terms can be dropped."""
    try:
        cells = lift(mln).compile(method="cells")
    except (TooManyVariablesError, TooLargeError):
        return None
    return None if cells.is_signed else cells


def _refuse(mln: MLN, split: Split, settings: Settings, told: dict[str, Any]) -> None:
    """Refuse a theory that rules do not compile, or that is slow to evaluate; fill ``told`` meanwhile."""
    refuse_endless(mln, settings.seconds)
    began = time.perf_counter()
    circuit = lift(mln).compile()
    if circuit.unlifted:
        raise ArgumentError(circuit.unlifted_formulas[0].sentence)
    told |= {
        "compiling_seconds": time.perf_counter() - began, "definitions": len(circuit.circuit),
        "order": circuit.circuit.nesting(), "peak_megabytes": peak_bytes() / 1e6,
    }  # fmt: skip
    for db in (*split.train, split.test):
        refuse_costly(circuit, _sizes(mln, db), min(budget.MOST_LIFTED_STEP, settings.seconds / 20))


def _sizes(mln: MLN, db: Database) -> dict[str, int]:
    return {type_: len(db.domain(type_)) for type_ in mln.vocabulary.types}


def _judge_databases(model: MLN, databases: Sequence[Database], cells: CellTheory | None) -> float:
    """Return the exact log-likelihood of databases."""
    if cells is None:
        return log_likelihood(model, list(databases), method="lifted")
    weights = [weight_value(one.weight) or 0.0 for one in model.formulas]
    return sum(
        cell_likelihood(cells, _sizes(model, db), count(model, db).numbers, MOST_JUDGING).value(weights)
        for db in databases
    )


def refuse_endless(mln: MLN, seconds: float) -> None:
    """Refuse a theory whose compilation takes more than some seconds, by compiling it once."""
    began = time.perf_counter()
    for state in lift(mln):
        if time.perf_counter() - began > seconds:
            waiting = state.named - state.done
            raise TooLargeError(
                f"Compiling was given up after {seconds:g} seconds, with {count_of(state.done, 'definition')}"
                f" made and {waiting:,} waiting.", float(state.named), ["allow more --seconds"],
            )  # fmt: skip


def _learn_weights(
    mln: MLN, split: Split, name: str, settings: Settings, cells: CellTheory | None
) -> tuple[MLN, str, float]:
    """Return a model with learned weights, why learning ended, and the seconds of compiling.

    Where cells are summed over, lifted learning begins at the pseudo-likelihood's weights.
    """
    began, ended = time.perf_counter(), ""
    options = {**OPTIONS.get(name, {}), "seed": settings.seed}
    if name == "lwl" and cells is not None:
        options |= {"counts": "cells", "start": _weights_by_pll(mln, split, settings)}
    learner = weight_learner(name, mln, list(split.train), prior=Gaussian(0, settings.deviation), **options)
    for state in learner:
        ended = state.ended
        if time.perf_counter() - began > settings.seconds:
            ended = ended or f"{settings.seconds:g} seconds were over"
            break
    objective = learner.problem.objective
    compiling = nan
    if isinstance(objective, LiftedLogLikelihood | LikelihoodByCells):
        compiling = objective.compiling_seconds
    found = learner.model_at(state)
    return MLN(mln.vocabulary, found.formulas), ended, compiling


def _weights_by_pll(mln: MLN, split: Split, settings: Settings) -> list[float]:
    prior = Gaussian(0, settings.deviation)
    found = learn_weights(mln, list(split.train), "pll", prior=prior, progress=False)
    return [float(weight) for weight in found.weights]
