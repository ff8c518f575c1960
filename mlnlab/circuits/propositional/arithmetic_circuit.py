"""Define arithmetic circuits: sums and products over indicators and parameters (Lowd's thesis, section 5.4).

A circuit computes the network polynomial of Darwiche (2003): with the indicators of all values that agree
with the evidence at 1 and the others at 0, its value is the probability of the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.circuit_arrays import INDICATOR as INDICATOR  # noqa: PLC0414 - who makes
from mlnlab.circuits.propositional.circuit_arrays import PARAMETER as PARAMETER  # noqa: PLC0414 - circuits
from mlnlab.circuits.propositional.circuit_arrays import PRODUCT as PRODUCT  # noqa: PLC0414 - takes the
from mlnlab.circuits.propositional.circuit_arrays import SUM as SUM  # noqa: PLC0414 - kinds from here
from mlnlab.circuits.propositional.circuit_arrays import CircuitArrays
from mlnlab.circuits.propositional.circuit_passes import EvaluatedCircuit, evaluator_of
from mlnlab.circuits.propositional.circuit_properties import require_properties
from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.random_variables import Assignment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.factors.trees.network_answers import MostProbable, VariableMarginals

_LASTING = ("program", "smooth", "parameters", "deterministic")  # prepared from the nodes alone


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArithmeticCircuit(CircuitArrays):
    """Nodes in flat arrays, children before their parents, the root last.

    The children of node i are ``children[first_child[i]:first_child[i + 1]]``. An indicator has a variable
    and one of its values; a parameter has a number, and may name the variable whose distribution it is of.
    A circuit that is not smooth or not decomposable is refused by the first question that needs it to be.

    >>> import mlnlab as ml
    >>> ac = ml.compile_circuit(ml.sample_network("greenhouse"))
    >>> round(ac.query({"Soil": "dry"}, evidence={"Wilting": "yes"}), 4)
    0.6378
    >>> ac.most_probable({"Wilting": "yes"})["Soil"]
    'dry'
    >>> len(ac.sample(100, seed=1))
    100
    """

    def with_parameters(self, parameters: ArrayLike) -> ArithmeticCircuit:
        """Return the same circuit with other numbers in its parameter nodes; the others' are not read."""
        given = np.asarray(parameters, np.float64)
        if given.shape != self.kinds.shape:
            raise ArgumentError(
                f"There is a number for each of the {count_of(len(self), 'node')}, so not an array of shape "
                f"{given.shape}."
            )
        numbers = np.where(self.kinds == PARAMETER, given, 0.0)
        changed = replace(self, parameters=numbers)
        changed.prepared.update({name: self.prepared[name] for name in _LASTING if name in self.prepared})
        return changed

    def check(self) -> None:
        """Raise an error that names a node unless the circuit is smooth, decomposable and deterministic."""
        require_properties(self, "smooth", "parameters", "deterministic")

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all terms: 0 for a Bayesian network, up to rounding."""
        return evaluator_of(self).log_z

    def log_probability(self, evidence: Assignment | None = None) -> float:
        """Return the logarithm of the probability of some values."""
        return evaluator_of(self).log_probability(evidence)

    def query(self, query: Assignment, evidence: Assignment | None = None) -> float:
        """Return the probability of some values given others: ``ac.query({"X3": 1}, evidence={"X7": 0})``."""
        return evaluator_of(self).conditional(query, evidence or {})

    def queries(self, query: object, evidence: object = None) -> NDArray[np.float64]:
        """Return the probability of each row of a table given the same row of another; -1 is left open.

        Tables are data frames, arrays, files or :class:`ml.DataTable`, here and below.
        """
        return evaluator_of(self).conditionals(query, evidence)

    def log_likelihoods(self, table: object) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each row; missing cells are summed out."""
        return evaluator_of(self).table_logs(table)

    def log_likelihood(self, table: object) -> float:
        """Return the mean over the rows of the logarithms of their probabilities."""
        logs = self.log_likelihoods(table)
        if not len(logs):
            raise ArgumentError("A table without rows has no mean log-likelihood.")
        return float(logs.mean())

    def evaluate(self, evidence: Assignment | None = None) -> EvaluatedCircuit:
        """Return the values, derivatives and flows of all nodes under some evidence."""
        return evaluator_of(self).evaluate(evidence)

    def marginals(self, evidence: Assignment | None = None) -> VariableMarginals:
        """Return the distribution of each variable given evidence, by one pass up and one down."""
        return self.evaluate(evidence).marginals()

    def entropy(self, evidence: Assignment | None = None) -> float:
        """Return the entropy in nats of the distribution given evidence."""
        require_properties(self, "smooth", "deterministic")
        return self.evaluate(evidence).entropy()

    def most_probable(self, evidence: Assignment | None = None) -> MostProbable:
        """Return a most probable assignment to all variables that agrees with the evidence."""
        return evaluator_of(self).most_probable(evidence)[0]

    def most_probable_nodes(self, evidence: Assignment | None = None) -> NDArray[np.uint32]:
        """Return the numbers of the nodes whose product is the most probable assignment's probability."""
        return evaluator_of(self).most_probable(evidence)[1]

    def sample(self, n: int, seed: int = 0, evidence: Assignment | None = None) -> DataTable:
        """Return independent rows drawn from the distribution given evidence."""
        return evaluator_of(self).sample(n, seed, evidence)

    def __repr__(self) -> str:
        size = f"{count_of(len(self), 'node')} and {count_of(self.edges, 'edge')}"
        return f"<ArithmeticCircuit over {count_of(len(self.variables), 'variable')}: {size}>"
