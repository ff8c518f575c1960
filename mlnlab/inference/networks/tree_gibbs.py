"""Gibbs sampling in networks with decision trees: the probability of an event given evidence, from samples.

Each variable that is not evidence is drawn in turn given all others (Lowd's thesis, sections 2.1.1 and
5.7.3). Chains begin at random assignments; after a burn-in each sweep is a sample. The probability of an
event is the share of samples in which all of its variables have their values, after one more sample has been
spread evenly over all values of these variables, as the thesis smooths it.

Needs: no probability that is zero, which learned trees have not; with zeros a chain may be caught. Answers:
the probability of one event, and distributions of variables. Not for events of many variables, which no
sample hits: take a circuit (``ml.compile_circuit``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import exp, fsum, log
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.graphs.tree_network import TreeNetwork, tree_arrays
from mlnlab.kernels.chains.tree_sweeps import Counted, sample, sweep
from mlnlab.kernels.random_numbers import next_below, streams
from mlnlab.kernels.trees.tree_walks import Trees
from mlnlab.logic.checked_options import check_options
from mlnlab.steps.run_identity import OfRun, RunIdentity, digest, resume_run, settings_text
from mlnlab.steps.state_layout import ArrayOf, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Values = Mapping[int, int]  # the numbers of values, by the numbers of variables
SWEEPS_PER_STATE = 1_000  # in all chains
GOES_ON = ("samples",)


@dataclass(frozen=True, slots=True)
class TreeGibbsParams:
    """How long to sample, and from how many chains: samples and sweeps of each chain."""

    samples: int = 1_000
    burn_in: int = 100
    chains: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, seed=0)


@storable("tree_gibbs.State")
@dataclass(frozen=True, slots=True, eq=False)
class TreeGibbsState(OfRun):
    """Where all chains are, and sums over their samples; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of each chain, those of the burn-in included
    values: NDArray[np.uint32] = field(
        metadata=holds(ArrayOf(np.uint32, ("chains", "variables"), below="values"))
    )
    random: NDArray[np.uint64] = field(metadata=holds(ArrayOf(np.uint64, ("chains", 4), no_empty_rows=True)))
    sums: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, ("variables", "most"), least=0)))
    matches: int = field(metadata=holds(Whole()))
    samples: int = field(metadata=holds(Whole()))  # of each chain

    def metrics(self) -> Mapping[str, float]:
        """Return how many samples there are, and the share of those that hit the event."""
        drawn = max(1, self.samples * len(self.values))
        return {"samples": float(self.samples), "share": self.matches / drawn}

    def log_probability(self, sizes: tuple[int, ...]) -> float:
        """Return the log of the smoothed share of an event; ``sizes`` are those of its variables."""
        spread = -fsum(map(log, sizes))  # the logarithm of the event's part of the spread sample
        seen = log(self.matches + exp(spread)) if self.matches else spread
        return seen - log(self.samples * len(self.values) + 1.0)


def steps(
    params: TreeGibbsParams, network: TreeNetwork, event: Values, evidence: Values,
    start: TreeGibbsState | None = None, trees: Trees | None = None,
) -> Iterator[TreeGibbsState]:  # fmt: skip
    """Yield a state after each thousand sweeps until all samples are drawn, or those that follow ``start``.

    ``trees`` are the network's arrays, for whoever asks many questions.
    """
    known = trees or tree_arrays(network)
    sizes: dict[str, int | NDArray[np.uint32]] = {
        "chains": params.chains, "variables": len(known.sizes), "values": known.sizes,
        "most": int(known.sizes.max()),
    }  # fmt: skip
    question = digest(sorted(event.items()), sorted(evidence.items()))
    identity = RunIdentity(
        "tree-gibbs", model=digest(*known), question=question, settings=settings_text(params, GOES_ON),
        seed=str(params.seed),
    )  # fmt: skip
    states = partial(_states, params, known, event, evidence)
    return resume_run(identity, TreeGibbsState, start, states, lambda: sizes, partial(_flaw, evidence))


@dataclass(frozen=True, eq=False)
class TreeGibbs:
    """A question to a network, to iterate over: each iteration is a run of its own."""

    network: TreeNetwork
    event: Values
    evidence: Values
    params: TreeGibbsParams = TreeGibbsParams()

    def __iter__(self) -> Iterator[TreeGibbsState]:
        return self.resume(None)

    def resume(self, state: TreeGibbsState | None) -> Iterator[TreeGibbsState]:
        """Yield the states that follow a state, of this process or from a checkpoint; all after ``None``."""
        return steps(self.params, self.network, self.event, self.evidence, state)


def _flaw(evidence: Values, state: TreeGibbsState) -> str:
    off = any((state.values[:, variable] != value).any() for variable, value in evidence.items())
    return "its assignments contradict the evidence" if off else ""


def _states(
    params: TreeGibbsParams, trees: Trees, event: Values, evidence: Values, state: TreeGibbsState | None
) -> Iterator[TreeGibbsState]:
    free = np.array([v for v in range(len(trees.sizes)) if v not in evidence], np.uint32)
    free.flags.writeable = False
    if state is None:
        state = _first(params, trees, free, evidence)
        yield state
    values, random = state.values.copy(), state.random.copy()
    wanted = np.array([event.get(v, -1) for v in range(len(trees.sizes))], np.int64)
    scores = np.zeros(int(trees.sizes.max()))
    while state.samples < params.samples:
        sums, matches = state.sums.copy(), np.array([state.matches])
        burning = max(0, params.burn_in - state.sweeps)
        number = max(1, SWEEPS_PER_STATE // params.chains)
        number = min(number, burning) if burning else min(number, params.samples - state.samples)
        for row, numbers in zip(values, random, strict=True):
            if burning:
                for _ in range(number):
                    sweep(trees, free, row, numbers, scores)
            else:
                sample(trees, free, row, numbers, scores, number, Counted(sums, wanted, matches))
        state = _state(state.sweeps + number, values, random, sums, int(matches[0]),
                       state.samples + (0 if burning else number))  # fmt: skip
        yield state


def _first(
    params: TreeGibbsParams, trees: Trees, free: NDArray[np.uint32], evidence: Values
) -> TreeGibbsState:
    """Return each chain at a random assignment that agrees with the evidence."""
    random = streams(params.seed, params.chains)
    values = np.zeros((params.chains, len(trees.sizes)), np.uint32)
    for variable, value in evidence.items():
        values[:, variable] = value
    for row, numbers in zip(values, random, strict=True):
        for variable in free.tolist():
            row[variable] = next_below(numbers, int(trees.sizes[variable]))
    sums = np.zeros((len(trees.sizes), int(trees.sizes.max())), np.int64)
    return _state(0, values, random, sums, 0, 0)


def _state(
    sweeps: int, values: NDArray[np.uint32], random: NDArray[np.uint64], sums: NDArray[np.int64],
    matches: int, samples: int,
) -> TreeGibbsState:  # fmt: skip
    kept = values.copy(), random.copy(), sums
    for array in kept:
        array.flags.writeable = False
    return TreeGibbsState(sweeps, *kept, matches, samples)
