"""Ground clauses as the sampling kernels want them, and worlds to begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.algebra.doors import LOSING, too_large_to_add, too_large_to_weigh
from mlnlab.errors import MlnlabError
from mlnlab.grounding.lazy.lazy_priors import prior_of
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.kernels.chains.gibbs_sweeps import Groups, sweep
from mlnlab.kernels.chains.hard_worlds import violations
from mlnlab.kernels.chains.world_arrays import Chain, Network, new_chain, scatter, settle
from mlnlab.logic.formulas.weights import weight_value
from mlnlab.steps.state_layout import ArrayOf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.model.mln.mln import MLN

# How worlds look in a state: an option of each choice, in a row for each chain, and its random numbers.
CHOSEN = ArrayOf(np.uint32, ("chains", "choices"), below="options")
RANDOM = ArrayOf(np.uint64, ("chains", 4), no_empty_rows=True)
ONE_CHOSEN, ONE_RANDOM = replace(CHOSEN, shape=("choices",)), replace(RANDOM, shape=(4,))

LARGEST = 1e300  # of all weights together: beyond, sums of them are no numbers
_SCHEDULES = (1, 10, 100)  # sweeps at each of the penalties
_PENALTIES = tuple(0.5 * 1.3**power for power in range(20))  # from 0.5 to 73


class NoStartError(MlnlabError):
    """No world was found in which the hard formulas hold, which does not prove that there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The data that all chains share: clauses in the kernels' arrays, and the clauses of each formula."""

    clauses: GroundClauses
    network: Network
    groups: Groups

    @property
    def visits(self) -> int:
        """How many clauses a sweep looks at, about."""
        return visits_of(self.clauses)


def sizes_of_worlds(network: Network, chains: int) -> dict[str, Any]:
    """Return the sizes that the worlds in a state from outside must fit: choices, and their options."""
    return {"chains": chains, "choices": len(network.options), "options": network.options}


def visits_of(clauses: GroundClauses) -> int:
    """Return how many clauses a sweep looks at, about; a table takes as long as ten of them."""
    tables = len(clauses.scope) + len(clauses.gates.scope)
    return len(clauses.literals) + 10 * tables + len(clauses.options)


def prepare_chains(clauses: GroundClauses) -> Ground:
    """Turn the clauses' lists of literals into the atoms' lists of clauses, and the tables' likewise."""
    sizes = _lengths(clauses.starts)
    atoms = clauses.literals >> 1
    order = np.argsort(atoms, kind="stable")
    owners = np.repeat(np.arange(len(sizes)), sizes)
    occurrences = 2 * owners + (clauses.literals & 1)
    scope_starts, scope, strides = tables_and_gates(clauses)
    by_choice = np.argsort(scope, kind="stable")
    tables = np.repeat(np.arange(len(scope_starts) - 1), _lengths(scope_starts))
    gates = clauses.gates
    no_strengths = np.zeros(len(gates))
    network = Network(
        clauses.first_atoms, clauses.options,
        _starts(atoms, clauses.number_of_atoms), _make_read_only(occurrences[order]),
        _strengths(clauses.weights, clauses.hard, inf),
        _starts(scope, len(clauses.options)), _make_read_only(tables[by_choice]),
        _make_read_only(strides[by_choice]),
        _make_read_only(np.concatenate([clauses.bit_starts, gates.bit_starts])),
        _settled_reals([_strengths(clauses.table_weights, clauses.table_hard, inf), no_strengths]),
        clauses.bits, _make_read_only(gates.kernel_parents(clauses.number_of_tables)),
        _make_read_only(np.concatenate([np.zeros(clauses.number_of_tables, np.uint32), gates.steps])),
        _mark_choices(gates.scope, len(clauses.options)),
    )  # fmt: skip
    return Ground(clauses, network, _groups(clauses))


def tables_and_gates(
    clauses: GroundClauses,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return where the scopes of the tables begin, and behind them those of the gates, scopes and strides."""
    gates = clauses.gates
    starts = np.concatenate([clauses.scope_starts, clauses.scope_starts[-1] + gates.scope_starts[1:]])
    scope = np.concatenate([clauses.scope, gates.scope])
    strides = np.concatenate([clauses.strides, gates.strides])
    return _make_read_only(starts), _make_read_only(scope), _make_read_only(strides)


def _settled_reals(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    array = np.concatenate(parts)
    array.setflags(write=False)
    return array


def _mark_choices(choices: NDArray[np.uint32], number: int) -> NDArray[np.uint8]:
    array = np.zeros(number, np.uint8)
    array[choices] = 1
    array.setflags(write=False)
    return array


def _groups(clauses: GroundClauses) -> Groups:
    """Return where the clauses of one source, one sense and as many groundings begin; they stand together."""
    keys = 2 * clauses.clause_sources.astype(np.int64) + clauses.negated
    number = np.ones(len(keys), np.int64) if clauses.groundings is None else clauses.groundings
    changes = np.concatenate([[-1], keys[:-1]]) != keys
    changes[1:] |= number[1:] != number[:-1]
    first = np.flatnonzero(changes)
    tables = clauses.table_sources.astype(np.int64)
    first_table = np.flatnonzero(np.concatenate([[-1], tables[:-1]]) != tables)
    return Groups(
        _make_read_only(np.append(first, len(keys))), _make_read_only(keys[first] >> 1),
        _senses(keys[first]), _make_read_only(number[first]),
        _make_read_only(np.append(first_table, len(tables))), _make_read_only(tables[first_table]),
    )  # fmt: skip


def _senses(keys: NDArray[np.int64]) -> NDArray[np.uint8]:
    array = (keys & 1).astype(np.uint8)
    array.setflags(write=False)
    return array


def _lengths(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def _starts(owners: NDArray[np.integer[Any]], number: int) -> NDArray[np.uint32]:
    return _make_read_only(np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=number))]))


def _make_read_only(values: NDArray[Any]) -> NDArray[np.uint32]:
    array = np.ascontiguousarray(values, np.uint32)
    array.setflags(write=False)
    return array


def _strengths(weights: NDArray[np.float64], hard: NDArray[np.bool_], of_hard: float) -> NDArray[np.float64]:
    array = np.where(hard, of_hard, weights)
    array.setflags(write=False)
    return array


def random_world(ground: Ground, random: NDArray[np.uint64]) -> Chain:
    """Return a chain in a random world in which everything holds that must."""
    refuse_impossible(ground.clauses)
    chain = new_chain(ground.network, np.zeros(len(ground.clauses.options), np.uint32), random)
    scatter(ground.network, chain)
    return lawful(ground, chain)


def false_world(ground: Ground, random: NDArray[np.uint64]) -> Chain:
    """Return a chain in the world in which all is false, or where that cannot be, in one a SAT solver finds.

    The solver tries false first; so what the hard formulas leave free is mostly false there, too.
    """
    refuse_impossible(ground.clauses)
    options = ground.clauses.options
    chain = new_chain(ground.network, np.zeros(len(options), np.uint32), random)
    scatter(ground.network, chain)
    none = options > np.diff(ground.clauses.first_atoms)  # the option behind the atoms: none of them
    chain.chosen[none] = options[none] - 1
    settle(ground.network, chain)
    begin = start_of(ground.clauses) if violations(ground.network, chain) else None
    if begin is not None:
        chain.chosen[:] = begin
    return lawful(ground, chain)


def lawful(ground: Ground, chain: Chain) -> Chain:
    """Return a chain whose options were changed, in a world in which everything holds that must."""
    settle(ground.network, chain)
    if violations(ground.network, chain):
        _satisfy(ground, chain)
    return chain


def added_up(clauses: GroundClauses) -> float:
    """Return how large the weights of all ground formulas are together."""
    with np.errstate(over="ignore"):
        sizes = np.abs(clauses.weights[~clauses.hard]).sum() + np.abs(clauses.table_weights).sum()
    decided = sum(abs(s.weight) * t.true for s, t in zip(clauses.sources, clauses.tallies, strict=True))
    return float(sizes) + float(decided)


def refuse_impossible(clauses: GroundClauses, largest: float = LARGEST) -> None:
    """Raise a sentence where evidence and blocks alone leave no world, and where weights are too large."""
    if not added_up(clauses) <= largest:
        raise too_large_to_add(largest)
    violated = clauses.violated
    if violated is not None:
        kind = "the condition " if violated.kind == "given" else ""
        said = violated.text.removesuffix(".")
        raise contradiction(clauses, f" The evidence alone contradicts {kind}{said}.")
    if not clauses.options.all():
        raise contradiction(clauses, " A block has no atom left that could be true.")


def refuse_cancelling(clauses: GroundClauses) -> None:
    """Refuse weights that push a choice several ways so strongly that sums of floats lose the others.

    Where only one side is strong, a float tells which it is, however large the weight.
    """
    if added_up(clauses) <= LOSING:
        return
    sizes = _lengths(clauses.starts)
    weights = np.repeat(np.where(clauses.hard, 0.0, clauses.weights), sizes)
    literals = clauses.literals.astype(np.int64)
    # A clause of negative weight pushes the other way.
    sides = np.bincount(literals ^ (weights < 0), np.abs(weights))
    owners = np.repeat(np.arange(len(clauses.options)), _lengths(clauses.first_atoms))
    strong = np.bincount(owners[np.flatnonzero(sides > LOSING) >> 1], minlength=len(clauses.options))
    tables = np.repeat(np.abs(np.where(clauses.table_hard, 0.0, clauses.table_weights)) > LOSING,
                       _lengths(clauses.scope_starts))  # fmt: skip
    strong += np.bincount(clauses.scope[tables], minlength=len(strong))
    if (strong > 1).any():
        raise too_large_to_weigh(LOSING)


def refuse_cancelling_formulas(mln: MLN) -> None:
    """Refuse weights that may cancel, where the push on an atom is known only when it is drawn."""
    strong = [w for w in mln.formulas if abs(weight_value(w.weight) or 0.0) > LOSING]
    if len(strong) > 1 or any(prior_of(weighted) is None for weighted in strong):
        raise too_large_to_weigh(LOSING)


def _satisfy(ground: Ground, chain: Chain) -> None:
    """Move a chain to a world in which everything holds that must: by annealing, else by a SAT solver.

    Only what must hold counts, with a penalty that grows (Kirkpatrick, Gelatt and Vecchi, Optimization by
    simulated annealing, 1983); so the chains begin in different places, wherever the soft formulas pull.
    """
    for sweeps in _SCHEDULES:
        scatter(ground.network, chain)
        settle(ground.network, chain)
        for penalty in _PENALTIES:
            penalised = _penalise_network(ground.network, penalty)
            for _ in range(sweeps):
                sweep(penalised, chain, 1)
                if not violations(ground.network, chain):
                    return
    begin = start_of(ground.clauses)
    if begin is None:
        raise NoStartError(
            f"No world was found in which all hard formulas hold, neither in {len(_SCHEDULES)} attempts with "
            f"{sum(_SCHEDULES) * len(_PENALTIES):,} sweeps nor by a SAT solver. That does not prove that "
            "there is none: check the hard formulas and the evidence, or give a hard formula a large weight."
        )
    chain.chosen[:] = begin
    settle(ground.network, chain)


def _penalise_network(network: Network, penalty: float) -> Network:
    return network._replace(
        strengths=_strengths(np.zeros_like(network.strengths), np.isinf(network.strengths), penalty),
        table_strengths=_strengths(
            np.zeros_like(network.table_strengths), np.isinf(network.table_strengths), penalty
        ),
    )
