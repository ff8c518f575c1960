"""Answer the queries of Figure 5.3 and Table 5.5 by the models of a folder, a scenario at a time.

A piece is a data set, a way to answer (the circuits exactly, the network by one of four lengths of Gibbs
sampling) and the shares of variables asked for and given. Gibbs sampling answers as many of the queries as
begin within a time, so that its means have errors; the circuits answer all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.circuits.propositional.libra_circuits import load_ac
from mlnlab.errors import ArgumentError
from mlnlab.experiments.circuits.conditional_queries import (
    EVIDENCE,
    GIBBS,
    QUERY,
    Answers,
    Queries,
    Share,
    answer_by_gibbs,
    answer_exactly,
    draw_queries,
)
from mlnlab.experiments.circuits.learned_models import GREEDY, NETWORK, QUICK, Work, model_path
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.files.xmod_reading import load_xmod
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
    from mlnlab.experiments.circuits.benchmark_tables import Benchmark
    from mlnlab.factors.graphs.tree_network import TreeNetwork

WAYS = (GREEDY, QUICK, *GIBBS)
SHARES = tuple(dict.fromkeys((*EVIDENCE, *QUERY)))  # one of them is on both graphs


@storable("circuits.AnsweredQueries")
@dataclass(frozen=True, slots=True)
class AnsweredQueries:
    """The mean score of the queries of one scenario, for a variable asked for, and its standard error."""

    dataset: str
    way: str
    asked: float
    given: float
    key: str
    queries: int = 0
    mean: float = nan
    error: float = nan
    milliseconds: float = nan  # of the processor, a query


def answer_queries(
    data: Benchmark, works: Sequence[Work], ways: Sequence[str], folder: Path, *, number: int = 1000,
    seconds: float = 60.0, seed: int = 0, shares: Sequence[Share] = SHARES,
) -> Iterator[tuple[AnsweredQueries, bool]]:  # fmt: skip
    """Yield the answers to ``number`` queries in each way and scenario, and whether they were kept."""
    by_learner = {work.learner: work for work in works if work.dataset == data.name}
    for way in ways:
        learner = NETWORK if way in GIBBS else way
        if learner not in by_learner:
            raise ArgumentError(f"{way} answers by a model of {learner}, which is not among the pieces.")
        work = by_learner[learner]
        for place, share in enumerate(shares):
            model = model_path(folder, work, ".xmod" if way in GIBBS else ".ac")
            digest = _digest(model)
            key = f"{digest} {number} {seed}" + f" {seconds:g}" * (way in GIBBS)
            name = f"-{way.replace(' ', '-')}-{share.asked:g}-{share.given:g}.json"
            path = model_path(folder, work, name)
            found = read_record(path)
            fitting = isinstance(found, AnsweredQueries) and has_declared_types(found) and found.key == key
            if not fitting:
                queries = draw_queries(data.test, share, number, seed + place)
                answers = _answer(way, queries, model, digest, data.test, seconds)
                found = AnsweredQueries(
                    data.name, way, share.asked, share.given, key, len(answers.scores), answers.mean,
                    answers.error, 1e3 * answers.seconds,
                )  # fmt: skip
                keep(path, found)
            yield found, fitting


def _digest(model: Path) -> str:
    """Return a digest by which a model is told from one that took its file's place."""
    if not model.is_file():
        raise ArgumentError(f"There is no model {model.name} in the folder: learn it first (table-5.4).")
    return sha256(model.read_bytes()).hexdigest()[:16]


def _answer(way: str, queries: Queries, model: Path, digest: str, test: DataTable, seconds: float) -> Answers:
    if way in GIBBS:
        return answer_by_gibbs(_network(model, digest), queries, GIBBS[way], seconds)
    circuit = _circuit(model, digest)
    log_likelihoods = circuit.log_likelihoods
    log_likelihoods(DataTable(circuit.variables, test.rows[:1]))  # prepared before the clock runs
    return answer_exactly(lambda rows: log_likelihoods(DataTable(circuit.variables, rows)), queries)


@cache
def _circuit(path: Path, _: str) -> ArithmeticCircuit:
    return load_ac(path)


@cache
def _network(path: Path, _: str) -> TreeNetwork:
    return load_xmod(path)
