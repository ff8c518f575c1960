"""Learn a circuit or a network from a data set of the thesis, and measure it: a piece of Table 5.4.

A piece is a data set, a learner and its prices: AC-Greedy and AC-Quick with k_e and k_p, and a network of
decision trees with a factor κ for each parameter, as WinMine was used. Its record is kept in a folder
beside its circuit (``.ac``) and network (``.xmod``); a second start does what is not there yet, and
goes on in the middle of a circuit that was being learned.

The thesis compiled each network from scratch by c2d. Here that is ``ml.compile_circuit``: where the network
passes a limit of edges, the largest prefix of its splits that does not is told with ">".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, nan
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.propositional.circuit_compiling import compile_network, plan_compilation
from mlnlab.circuits.propositional.libra_circuits import save_ac
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.files.xmod_writing import save_xmod
from mlnlab.learning.circuits.circuit_learner import learn_circuit
from mlnlab.learning.circuits.circuit_tuning import best_trial, tune_prices
from mlnlab.learning.circuits.split_ac import SplitCircuit
from mlnlab.learning.networks.network_learner import learn_network
from mlnlab.logic.checked_options import check_options, one_of, real
from mlnlab.steps.files.checkpoint import previous_path
from mlnlab.steps.safe_files import make_folder
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from mlnlab.experiments.circuits.benchmark_tables import Benchmark
    from mlnlab.factors.graphs.tree_network import TreeNetwork
    from mlnlab.learning.circuits.learned_circuit import LearnedCircuit

GREEDY, QUICK, NETWORK = "greedy", "quick", "network"
LEARNERS = (GREEDY, QUICK, NETWORK)
COLLAPSED = "collapsed"
MOST_EDGES = 500_000  # of a network compiled from scratch
NEARLY = 10  # splits by which the largest prefix that compiles may be missed, as in the thesis

K_E, K_P = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01), (2.0, 1.0, 0.5, 0.0)  # that are tried in tuning

# The best prices of section 5.7.2: k_e, k_p. Of networks κ, as ``tune`` chooses it; the thesis's 1, 0.1 and
# 0.01 go with the score of WinMine, which it does not print.
_PRICES = {
    GREEDY: {"kdd": (0.01, 0.0), "msweb": (0.01, 1.0), "eachmovie": (0.01, 1.0), "small": (0.1, 1.0)},
    QUICK: {"kdd": (0.01, 0.0), "msweb": (0.01, 0.5), "eachmovie": (0.01, 0.5), "small": (0.1, 1.0)},
    NETWORK: {"kdd": (0.0, 0.0265), "msweb": (0.0, 0.0159), "eachmovie": (0.0, 2.7e-4), "small": (0.0, 0.1)},
}


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work; ``k_p`` is κ for networks. ``edges`` says which edges are paid for."""

    dataset: str
    learner: str
    k_e: float
    k_p: float
    edges: str = COLLAPSED

    def __post_init__(self) -> None:
        """Refuse unknown learners and prices below zero."""
        check_options(self, learner=one_of(LEARNERS), k_e=real(0), k_p=real(0))

    @property
    def options(self) -> dict[str, Any]:
        """The options of the learner."""
        if self.learner == NETWORK:
            return {"kappa": self.k_p}
        return {"method": self.learner, "k_e": self.k_e, "k_p": self.k_p, "edges": self.edges}


def thesis_work(dataset: str, learner: str) -> Work:
    """Return the piece with the prices that the thesis found best."""
    if learner not in LEARNERS:
        raise ArgumentError(f"{learner!r:.60} is not a learner here; these are: {', '.join(LEARNERS)}.")
    return Work(dataset, learner, *_PRICES[learner][dataset])


def tune(data: Benchmark, learner: str, prices: Sequence[float] = K_E) -> Work:
    """Return the piece with the prices that are best on a tenth of the rows, learned from the others.

    Of circuits each ``prices`` of an edge is tried with each of ``K_P``; of networks the run itself tells.
    """
    first, second = split_for_tuning(data.train)
    if learner == NETWORK:
        found = learn_network(first, valid=second, progress=False)
        return Work(data.name, learner, 0.0, exp(-found.penalty))

    def learn(given: dict[str, Any]) -> LearnedCircuit:
        return learn_circuit(first, second, learner, progress=False, **given)

    best = best_trial(tune_prices(learn, prices, K_P))
    return Work(data.name, learner, best.k_e, best.k_p)


@storable("circuits.LearnedModel")
@dataclass(frozen=True, slots=True)
class LearnedModel:
    """The measures of one piece; log-likelihoods are means of a row, seconds are of the processor."""

    dataset: str
    learner: str
    k_e: float
    k_p: float
    key: str
    train: float = nan
    test: float = nan
    edges: int = 0  # of a circuit without nodes that have one child
    table_edges: int = 0  # as Table 5.2 makes them
    leaves: int = 0
    mean_parents: float = nan
    most_parents: int = 0
    treewidth: int = 0  # by min-fill
    compiled_edges: int = 0
    compiled_splits: int = -1  # of the largest prefix that compiles; -1 where all do
    seconds: float = nan  # not known of a circuit that was stopped on its way

    @property
    def compiled(self) -> str:
        """The edges of the network compiled from scratch, with ">" where only a prefix compiles."""
        return f"{'>' * (self.compiled_splits >= 0)}{self.compiled_edges:,}"


def models(
    data: Benchmark, works: Sequence[Work], folder: Path, most_edges: int = MOST_EDGES
) -> Iterator[tuple[LearnedModel, bool]]:
    """Yield the measures of each piece, and whether they were kept from before."""
    make_folder(folder)
    for work in works:
        key = _key(data, work, most_edges)
        path = model_path(folder, work)
        found = read_record(path)
        fitting = isinstance(found, LearnedModel) and has_declared_types(found) and found.key == key
        if not fitting:
            found = learn_model(data, work, folder, key, most_edges)
            keep(path, found)
        yield found, fitting


def model_path(folder: Path, work: Work, suffix: str = ".json") -> Path:
    """Return the file of a piece in a folder."""
    priced = "" if work.edges == COLLAPSED else f"-{work.edges.replace(' ', '-')}"
    return folder / f"{work.dataset}-{work.learner}-{work.k_e:g}-{work.k_p:g}{priced}{suffix}"


def _key(data: Benchmark, work: Work, most_edges: int) -> str:
    rows = hashlib.sha256(data.train.rows.tobytes() + data.test.rows.tobytes()).hexdigest()
    return hashlib.sha256("\0".join([rows, repr(work), str(most_edges)]).encode()).hexdigest()[:16]


def learn_model(
    data: Benchmark, work: Work, folder: Path, key: str = "", most_edges: int = MOST_EDGES
) -> LearnedModel:
    """Learn one piece from all training rows, write it to files, and measure it."""
    learn = _learn_network if work.learner == NETWORK else _learn_circuit
    network, after, number, own = learn(data, work, folder)
    save_xmod(network, model_path(folder, work, ".xmod"))
    compiled, splits = compile_largest(after, number, most_edges)
    parents = [len(above) for above in network.parents()]
    return LearnedModel(
        work.dataset, work.learner, work.k_e, work.k_p, key,
        train=network.log_likelihood(data.train), test=network.log_likelihood(data.test),
        leaves=sum(len(tree.leaves()) for tree in network.trees), mean_parents=float(np.mean(parents)),
        most_parents=max(parents), treewidth=plan_compilation(network).width,
        compiled_edges=compiled, compiled_splits=-1 if splits == number else splits, **own,
    )  # fmt: skip


_Learned = tuple["TreeNetwork", Callable[[int], "TreeNetwork"], int, dict[str, Any]]


def _learn_circuit(data: Benchmark, work: Work, folder: Path) -> _Learned:
    checkpoint = model_path(folder, work, ".checkpoint")
    goes_on = checkpoint.exists() or previous_path(checkpoint).exists()
    began = process_time()
    found = learn_circuit(data.train, checkpoint=checkpoint, progress=False, **work.options)
    seconds = nan if goes_on else process_time() - began  # nobody knows how long the first part took
    save_ac(found.circuit, model_path(folder, work, ".ac"))
    for written in (checkpoint, previous_path(checkpoint)):
        written.unlink(missing_ok=True)
    sizes = {"edges": found.circuit.edges, "table_edges": _count_table_edges(found), "seconds": seconds}
    return found.network, lambda number: found.after(number).network, len(found.splits), sizes


def _count_table_edges(found: LearnedCircuit) -> int:
    """Return the edges that SplitAC makes as Table 5.2 prints it, those of nodes with one child included."""
    circuit = SplitCircuit(found.variables)
    for leaf, variable in found.splits:
        circuit.split(leaf, variable)
    return circuit.edges


def _learn_network(data: Benchmark, work: Work, _: Path) -> _Learned:
    began = process_time()
    found = learn_network(data.train, progress=False, **work.options)
    return found.trees, found.trees_after, found.n_splits, {"seconds": process_time() - began}


def compile_largest(
    after: Callable[[int], TreeNetwork], number: int, most_edges: int = MOST_EDGES
) -> tuple[int, int]:
    """Return the edges and the number of the most splits whose network compiles within a limit of edges.

    It lies between two numbers that differ by ten at most, of which one compiles and the other does not.
    """
    edges, fits, passes, tried = 0, 0, number + 1, number
    while True:
        try:
            edges, fits = compile_network(after(tried), most_edges=most_edges).edges, tried
        except TooLargeError:
            passes = tried
        if fits == number or passes - fits <= (NEARLY if fits else 1):
            return edges, fits
        tried = (fits + passes) // 2


def split_for_tuning(table: DataTable, seed: int = 0) -> tuple[DataTable, DataTable]:
    """Return 90 % of the rows to learn from and 10 % to choose prices by, drawn at random."""
    order = np.random.default_rng(seed).permutation(len(table))
    tenth = len(table) // 10
    parts = (table.rows[np.sort(rows)] for rows in (order[tenth:], order[:tenth]))
    first, second = (DataTable(table.variables, rows) for rows in parts)
    return first, second
