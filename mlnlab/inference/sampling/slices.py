"""The constraints of ground clauses as MC-SAT chooses among them, and the room its kernels work in."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.sampling.chains import Ground, tables_and_gates
from mlnlab.inference.sampling.net_strengths import EqualClauses, equal_clauses
from mlnlab.kernels.chains.sample_sat_constraints import Constraints, Slice, new_slice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


def constraints_of(ground: Ground, equal: EqualClauses | None = None) -> Constraints:
    """Return with which probability, and when, each clause and table joins a slice.

    A clause of weight w > 0 joins with 1 - exp(-w) where it holds; one of weight w < 0 is its negation with
    weight -w; what is hard always joins; what is only asked for never does. Equal clauses, or tables, are
    one with the sum of their weights (:mod:`mlnlab.inference.sampling.net_strengths`).
    """
    equal = equal_clauses(ground.clauses) if equal is None else equal
    clauses = ground.clauses
    firsts = clauses.first_atoms.astype(np.int64)
    atoms = firsts[1:] - firsts[:-1]
    owners = np.repeat(np.arange(len(clauses.options), dtype=np.uint32), atoms)
    owners.setflags(write=False)
    in_tables = np.bincount(clauses.scope, minlength=len(clauses.options)) > 0
    plain = ((atoms == 1) & (clauses.options == 2) & ~in_tables).astype(np.uint8)
    plain.setflags(write=False)
    return Constraints(
        clauses.starts, clauses.literals, *_joining(equal.clauses.net(ground.network.strengths)),
        *tables_and_gates(clauses), *_joining(equal.tables.net(ground.network.table_strengths)),
        owners, plain, _simple(ground, plain[owners]), _gate_starts(clauses),
    )  # fmt: skip


def _simple(ground: Ground, plain_atoms: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return which clauses, and behind them tables, are over plain atoms alone."""
    clauses = ground.clauses
    starts = clauses.starts.astype(np.int64)
    before = np.concatenate([[0], np.cumsum(plain_atoms[clauses.literals >> 1] == 0)])
    simple = before[starts[1:]] == before[starts[:-1]]
    found = np.concatenate([simple, np.zeros(clauses.number_of_tables, np.bool_)]).astype(np.uint8)
    found.setflags(write=False)
    return found


def _gate_starts(clauses: GroundClauses) -> NDArray[np.uint32]:
    starts = clauses.gates.first_gates(clauses.number_of_tables)
    starts.setflags(write=False)
    return starts


def reweigh_constraints(constraints: Constraints, ground: Ground, equal: EqualClauses) -> Constraints:
    """Return the constraints of the same clauses with other weights."""
    odds, favours = _joining(equal.clauses.net(ground.network.strengths))
    table_odds, table_favours = _joining(equal.tables.net(ground.network.table_strengths))
    return constraints._replace(
        odds=odds, favours=favours, table_odds=table_odds, table_favours=table_favours
    )


def _joining(strengths: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    odds = np.where(strengths == inf, 1.0, -np.expm1(-np.abs(strengths)))
    favours = (strengths > 0).astype(np.uint8)
    odds.setflags(write=False)
    favours.setflags(write=False)
    return odds, favours


def room_for(ground: Ground) -> Slice:
    """Return room to work for one chain."""
    clauses = ground.clauses
    tables = clauses.number_of_tables + len(clauses.gates)
    return new_slice(clauses.number_of_atoms, clauses.number_of_clauses, len(clauses.options), tables)
