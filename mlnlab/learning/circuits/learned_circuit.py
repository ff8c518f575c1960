"""Hold the result of circuit learning: a circuit that answers, its network, and the path that led there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.data.data_table import DataTable
from mlnlab.learning.circuits.learn_ac import LearnACParams, build_model
from mlnlab.learning.circuits.split_states import LearnACState, Pair, all_splits, split_columns, valid_column
from mlnlab.learning.networks.split_gains import SplitGains
from mlnlab.logic.checked_options import is_number, whole_number

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
    from mlnlab.circuits.propositional.circuit_passes import EvaluatedCircuit
    from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable
    from mlnlab.factors.graphs.tree_network import TreeNetwork
    from mlnlab.factors.trees.network_answers import MostProbable, VariableMarginals
    from mlnlab.steps.recordings.trace import Trace


class PathPoint(NamedTuple):
    """A model on the way, with which a run at this price of a parameter would have ended."""

    k_p: float
    splits: int
    edges: int
    log_likelihood: float  # of a training row
    valid: float  # of a validation row


class Trial(NamedTuple):
    """A pair of prices, the model that they lead to, and its mean log-likelihood of a validation row."""

    k_e: float
    k_p: float
    splits: int
    edges: int
    valid: float


@dataclass(frozen=True, eq=False)
class LearnedCircuit:
    """A learned circuit: it answers as an ``ArithmeticCircuit`` does, and knows how it came about.

    ``edges`` is the number that the score counts; ``circuit``, which answers, has no node with a single
    child. ``path`` holds the models that larger prices of a parameter would have ended with, from the same
    run; ``at(k_p)`` returns one of them.
    """

    table: DataTable = field(repr=False)
    params: LearnACParams
    method: str
    trace: Trace[Any] = field(repr=False)
    seconds: float = nan
    valid: DataTable | None = field(default=None, repr=False)
    trials: tuple[Trial, ...] = ()  # prices that were tried on validation rows
    weighed: ArithmeticCircuit | None = field(default=None, repr=False)  # with weights of a Markov network
    n_splits: int | None = None  # of the model; None: all

    # --- the model --------------------------------------------------------------------------------

    @cached_property
    def state(self) -> LearnACState:
        """The last state of the run."""
        state: LearnACState = self.trace[-1].state
        return state

    @cached_property
    def splits(self) -> tuple[Pair, ...]:
        """The splits of the model in order: leaf and variable."""
        return tuple(all_splits(self.state))[: self.n_splits]

    @cached_property
    def _model(self) -> tuple[ArithmeticCircuit, TreeNetwork]:
        model = build_model(SplitGains(self.table, self.params.score, self.params.prior), self.splits)
        return model.circuit, model.network

    @property
    def circuit(self) -> ArithmeticCircuit:
        """The circuit that answers, without nodes that have a single child."""
        return self._model[0] if self.weighed is None else self.weighed

    @property
    def network(self) -> TreeNetwork:
        """The network with the same splits; of a Markov network the one that learning began with."""
        return self._model[1]

    @property
    def variables(self) -> tuple[RandomVariable, ...]:
        """The variables, in the order of the table's columns."""
        return self.table.variables

    @property
    def edges(self) -> int:
        """The number of edges that the score counts."""
        return self.state.edges - int(split_columns(self.state)[1][len(self.splits) :].sum())

    # --- the path of models ------------------------------------------------------------------------

    @cached_property
    def path(self) -> tuple[PathPoint, ...]:
        """The models that larger prices of a parameter would have ended with, the smallest first."""
        gains, edges = split_columns(self.state)
        sizes = np.array([variable.size - 1 for variable in self.variables], np.int64)
        owner = list(range(len(sizes)))
        free = np.zeros(len(gains))
        for place, (leaf, asked) in enumerate(all_splits(self.state)):
            free[place] = sizes[owner[leaf]] * sizes[asked]
            owner += [owner[leaf]] * int(sizes[asked])
        worth = (gains - self.params.k_e * edges) / np.maximum(free, 1)
        if self.method == "chow-liu":  # which asks no price: its path is the whole tree
            worth[:] = inf
        least = np.minimum.accumulate(np.concatenate([[inf], worth]))
        rows, likelihood = max(1, len(self.table)), self.state.log_likelihood - gains.sum()
        begun = self.state.edges - int(edges.sum())
        begun_valid = nan if self.valid is None else self.after(0).log_likelihood(self.valid)
        valid = np.concatenate([[begun_valid], valid_column(self.state)])
        points = []
        for number in range(len(gains) + 1):
            following = worth[number] if number < len(gains) else self.params.k_p
            if following < least[number]:  # a price between the two ends the run here
                points.append(
                    PathPoint(
                        max(float(following), self.params.k_p), number, begun + int(edges[:number].sum()),
                        float(likelihood + gains[:number].sum()) / rows, float(valid[number]),
                    )
                )  # fmt: skip
        return tuple(points)

    def at(self, k_p: float) -> LearnedCircuit:
        """Return the model that a run with this price of a parameter would have ended with.

        Exact where all variables have as many values; otherwise a run of its own might order splits
        differently.
        """
        if not is_number(k_p) or k_p < self.params.k_p:
            raise ArgumentError(
                f"This run had k_p = {self.params.k_p:g}, so its path has models for that and more, not for "
                f"{k_p!r:.40}."
            )
        return self.after(next(point.splits for point in self.path if point.k_p <= k_p))

    def after(self, n_splits: int) -> LearnedCircuit:
        """Return the model as it was after a number of splits."""
        number = whole_number(n_splits, "The number of splits")
        if number > self.state.number:
            raise ArgumentError(f"The run applied {count_of(self.state.number, 'split')}, not {number:,}.")
        return replace(self, n_splits=number, weighed=None)

    # --- answers -------------------------------------------------------------------------------------

    def log_likelihood(self, table: object) -> float:
        """Return the mean over the rows of the logarithms of their probabilities."""
        return self.circuit.log_likelihood(DataTable.of(table, self.variables))

    def log_likelihoods(self, table: object) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each row; missing cells are summed out."""
        return self.circuit.log_likelihoods(DataTable.of(table, self.variables))

    def query(self, query: Assignment, evidence: Assignment | None = None) -> float:
        """Return the probability of some values given others: ``ac.query({"X3": 1}, evidence={"X7": 0})``."""
        return self.circuit.query(query, evidence)

    def queries(self, query: object, evidence: object = None) -> NDArray[np.float64]:
        """Return the probability of each row of a table given the same row of another; -1 is left open."""
        given = None if evidence is None else DataTable.of(evidence, self.variables)
        return self.circuit.queries(DataTable.of(query, self.variables), given)

    def marginals(self, evidence: Assignment | None = None) -> VariableMarginals:
        """Return the distribution of each variable given evidence."""
        return self.circuit.marginals(evidence)

    def most_probable(self, evidence: Assignment | None = None) -> MostProbable:
        """Return a most probable assignment to all variables that agrees with the evidence."""
        return self.circuit.most_probable(evidence)

    def sample(self, n: int, seed: int = 0, evidence: Assignment | None = None) -> DataTable:
        """Return independent rows drawn from the distribution given evidence."""
        return self.circuit.sample(n, seed, evidence)

    def evaluate(self, evidence: Assignment | None = None) -> EvaluatedCircuit:
        """Return the values, derivatives and flows of all nodes under some evidence."""
        return self.circuit.evaluate(evidence)

    def entropy(self, evidence: Assignment | None = None) -> float:
        """Return the entropy in nats of the distribution given evidence."""
        return self.circuit.entropy(evidence)

    # --- the run -------------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model on the path: its price of a parameter, size and log-likelihoods."""
        import pandas as pd

        return pd.DataFrame(self.path, columns=list(PathPoint._fields))

    @property
    def tuning(self) -> pd.DataFrame:
        """The prices that were tried on validation rows, the best first."""
        import pandas as pd

        frame = pd.DataFrame(self.trials, columns=list(Trial._fields))
        return frame.sort_values("valid", ascending=False, ignore_index=True)

    def __repr__(self) -> str:
        size = f"{count_of(len(self.splits), 'split')}, {count_of(self.edges, 'edge')}"
        return f"<LearnedCircuit by {self.method}: {count_of(len(self.variables), 'variable')}, {size}>"
