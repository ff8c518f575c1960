r"""Exact likelihood of a database by a lifted circuit, without the cancellation of sum_i w_i n_i - log Z.

Both terms of eq. 1 of Van den Broeck, Meert and Davis (2013), "Lifted generative parameter learning", grow
with all ground atoms, their difference with the true ones. So every formula f is counted from its share
q = n(data) / groundings on: f - q instead of f. With the circuit's weights changed accordingly,

    log P(data) = sum_i w_i n_i - log sum_w exp(sum_i w_i n_i(w)) = -log sum_w exp(sum_i w_i (n_i(w) - n_i)),

which is the logarithm of one partition function of moderate size. Its derivative, expected minus observed
counts, is the sum over symbols of (1 - q) E[true] - q E[false]: where a formula holds nearly nowhere, or
nearly everywhere, neither term is large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.algebra.doors import refuse_useless_log
from mlnlab.circuits.first_order.log_space import log_value
from mlnlab.errors import ArgumentError, UnsatisfiableError
from mlnlab.lifted.circuit.arithmetic import SHARP
from mlnlab.lifted.circuit.equiprobable import class_size
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]


_SHARES = float(np.finfo(float).eps)  # half of it for each share, half for what is left


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodAt:
    """log P(data) at some weights, a bound of its rounding error, and its derivative by each weight."""

    value: float
    error: float
    gap: Numbers  # observed minus expected counts
    true: Numbers  # expected numbers of true atoms of each symbol
    false: Numbers


@dataclass(frozen=True, eq=False)
class LiftedLikelihood:
    """The likelihood of one database, by a circuit that other databases share."""

    circuit: LiftedCircuit
    sizes: Mapping[str, int]
    counts: Numbers  # n_i in the data

    @cached_property
    def groundings(self) -> Numbers:
        """How many groundings each formula has; of a hard one 0."""
        weighted = self.circuit.weighted
        of_symbols = [
            float(class_size(symbol.variables, self.sizes, weighted.constants))
            for symbol in weighted.shattered.symbols
        ]
        return np.asarray((weighted.true + weighted.false).T @ np.array(of_symbols))

    @cached_property
    def centred(self) -> LiftedCircuit:
        """The circuit whose formulas count from their shares in the data on."""
        weighted = self.circuit.weighted
        shares = np.divide(
            self.counts, self.groundings, np.zeros_like(self.counts), where=self.groundings > 0
        )
        usual = (weighted.true + weighted.false) * shares
        centred = replace(weighted, true=weighted.true - usual, false=weighted.false - usual)
        return replace(self.circuit, lift=replace(self.circuit.lift, weighted=centred))

    def value(self, weights: Sequence[float] | Numbers) -> float:
        """Return log P(data) alone: one pass up."""
        found = self.centred.evaluate(self.sizes, list(weights), expectations=False)
        error = found.error + _SHARES * float(np.abs(np.asarray(weights)) @ self.groundings)
        refuse_useless_log(-found.value, error, "lifted", "the log-likelihood")
        return -found.value

    def at(self, weights: Sequence[float] | Numbers) -> LikelihoodAt:
        """Return the likelihood and its derivative: one pass up, and one down."""
        found = self.centred.evaluate(self.sizes, list(weights), expectations=True)
        return self.make_likelihood(weights, found.value, found.error, found.true, found.false)

    def make_likelihood(
        self, weights: Sequence[float] | Numbers, log_z: float, error: float, true: Numbers, false: Numbers
    ) -> LikelihoodAt:
        """Return the likelihood computed from log Z and expected atoms of the centred circuit."""
        centred = self.centred.weighted
        counted = np.abs(centred.true).T @ np.abs(true) + np.abs(centred.false).T @ np.abs(false)
        error += _SHARES * float(np.abs(np.asarray(weights)) @ counted)
        return LikelihoodAt(-log_z, error, -(centred.true.T @ true + centred.false.T @ false), true, false)


def likelihoods_at(examples: Sequence[LiftedLikelihood], weights: Numbers) -> list[LikelihoodAt]:
    """Return the likelihood of each database; small circuits see all of them at once, a column for each."""
    circuit = examples[0].circuit
    many_sums = circuit.is_signed or bool(circuit.circuit.recursive()) or circuit.circuit.nesting() > 1
    if len(examples) == 1 or many_sums:
        return [example.at(weights) for example in examples]
    sizes = [circuit.subdomain_sizes(example.sizes) for example in examples]
    logs = [example.centred.log_weights(list(weights)) for example in examples]
    true, false = (np.stack([log[side] for log in logs], axis=1) for side in (0, 1))
    found = log_value(circuit.circuit, np.array(sizes).T.tolist(), true, false)
    if np.isneginf(found.value).any():
        raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
    if not (found.error <= SHARP).all():
        return [example.at(weights) for example in examples]
    return [
        example.make_likelihood(weights, float(value), float(error), own_true, own_false)
        for example, value, error, own_true, own_false in zip(
            examples, found.value, found.error, found.true.T, found.false.T, strict=True
        )
    ]


def lifted_likelihood(
    circuit: LiftedCircuit, vocabulary: Vocabulary, counts: Sequence[float] | NDArray[np.float64]
) -> LiftedLikelihood:
    """Return the likelihood of a database with this vocabulary and these counts of true groundings."""
    sizes = {type_: len(domain) for type_, domain in vocabulary.types.items()}
    soft = [
        0.0 if isinstance(one.weight, Hard) else float(count)
        for one, count in zip(circuit.mln.formulas, counts, strict=True)
    ]
    return LiftedLikelihood(circuit, sizes, np.array(soft))


def refuse_closed_facts(mln: MLN, db: Database) -> None:
    """Raise a sentence where a database says something of a closed predicate: evidence breaks symmetries."""
    for name, predicate in mln.vocabulary.predicates.items():
        if predicate.closed and len(db.relation(name).true):
            raise ArgumentError(
                f"{name} is declared closed (*{name}), so that its facts are evidence, which tells constants"
                f" apart: the likelihood cannot be lifted. Declare it without *, so that {name} is part of"
                " what is predicted, or leave it out."
            )
