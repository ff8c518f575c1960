"""The states of LearnAC: the splits applied, in blocks that states share, and the figures of the circuit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import REPORTED, TEXT, ArrayOf, Part, Real, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair: TypeAlias = tuple[int, int]  # a split: leaf and variable


@storable("circuits.SplitBlock")
@dataclass(frozen=True, slots=True, eq=False)
class SplitBlock:
    """Splits in a row: leaf and variable, gain, edges added, mean log-likelihood of validation rows after."""

    pairs: NDArray[np.int32] = field(metadata=holds(ArrayOf(np.int32, (None, 2), least=0)))
    gains: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))
    edges: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, (None,))))
    valid: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,), nan=True)))

    def flaw(self) -> str:
        """Return the contradiction between its columns; empty if there is none."""
        columns = self.pairs, self.gains, self.edges, self.valid
        return "" if len({len(column) for column in columns}) == 1 else "splits are not in line"


@storable("circuits.CountedCosts")
@dataclass(frozen=True, slots=True, eq=False)
class CountedCosts:
    """Edge costs counted in some steps: leaf, variable, cost.

    Costs below -2^30 are none: ``UNKNOWN`` and ``LOSING`` of ``kernels/splits/split_search.py``.
    """

    rows: NDArray[np.int32] = field(metadata=holds(ArrayOf(np.int32, (None, 3))))
    gains: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))

    def flaw(self) -> str:
        """Return the contradiction between its columns; empty if there is none."""
        return "" if len(self.rows) == len(self.gains) else "costs are not in line"


@storable("circuits.LearnACState")
@dataclass(frozen=True, slots=True, eq=False)
class LearnACState(OfRun):
    """Where LearnAC is: the splits applied, in blocks that states share, and the figures of the circuit.

    Leaves are numbered as they come: X's first leaf has X's number; a split leaf keeps its number for the
    first value. ``costs`` is what AC-Quick remembers; ``tried`` holds the last step's candidates with the
    highest gains.
    """

    splits: tuple[SplitBlock, ...] = field(metadata=holds(Several(Part(SplitBlock))))
    log_likelihood: float = field(metadata=holds(Real(finite=True)))  # of the training data; or its BD score
    edges: int = field(metadata=holds(Whole()))
    collapsed_edges: int = field(metadata=holds(Whole()))
    parameters: int = field(metadata=holds(Whole()))
    score: float = field(metadata=holds(Real(finite=True)))
    valid: float = field(default=nan, metadata=holds(REPORTED))  # mean log-likelihood of validation rows
    costs: tuple[CountedCosts, ...] = field(default=(), metadata=holds(Several(Part(CountedCosts))))
    tried: tuple[CountedCosts, ...] = field(default=(), metadata=holds(Several(Part(CountedCosts))))
    counted: int = field(default=0, metadata=holds(Whole()))  # edge costs, by now
    retained: int = field(default=0, metadata=holds(Whole()))  # known costs that splits left valid, by now
    forgotten: int = field(default=0, metadata=holds(Whole()))  # and those that had to be forgotten
    ended: str = field(default="", metadata=holds(TEXT))

    @property
    def number(self) -> int:
        """The number of splits."""
        return sum(len(block.gains) for block in self.splits)

    @property
    def share_retained(self) -> float:
        """The share of known edge costs that no split made invalid; the thesis says over 95 %."""
        known = self.retained + self.forgotten
        return self.retained / known if known else nan

    def metrics(self) -> Mapping[str, float]:
        """Return the figures of the circuit, and those of the last split."""
        last = self.splits[-1] if self.splits else None
        return {
            "splits": self.number, "log-likelihood": self.log_likelihood, "validation": self.valid,
            "edges": self.edges, "collapsed edges": self.collapsed_edges, "parameters": self.parameters,
            "score": self.score, "gain": float(last.gains[-1]) if last else nan,
            "edges added": int(last.edges[-1]) if last else 0, "costs counted": self.counted,
            "share of costs retained": self.share_retained,
        }  # fmt: skip


def all_splits(state: LearnACState) -> list[Pair]:
    """Return the splits of a state: leaf and variable."""
    return [tuple(pair) for block in state.splits for pair in block.pairs.tolist()]


def split_columns(state: LearnACState) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the gain of each split and the edges that it added."""
    return _column(state, "gains", np.float64), _column(state, "edges", np.int64)


def valid_column(state: LearnACState) -> NDArray[np.float64]:
    """Return the mean log-likelihood of the validation rows after each split."""
    return _column(state, "valid", np.float64)


def _column(state: LearnACState, name: str, dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *(getattr(block, name) for block in state.splits)])


def make_split_block(pair: Pair, gain: float, edges: int, valid: float) -> SplitBlock:
    """Return a block of one split."""
    columns = np.array([pair], np.int32), np.array([gain]), np.array([edges]), np.array([valid])
    return SplitBlock(*map(seal_array, columns))


Block = TypeVar("Block", bound="SplitBlock | CountedCosts")


def append_block(blocks: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    """Return the blocks with one more; they double, so that all states together stay small."""
    found: list[Block] = [*blocks, block]
    while len(found) > 1 and len(found[-2].gains) <= len(found[-1].gains):
        two = found[-2:]
        columns = (
            np.concatenate([getattr(one, column.name) for one in two]) for column in fields(type(block))
        )
        found[-2:] = [type(block)(*map(seal_array, columns))]
    return tuple(found)


def seal_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody can change any more."""
    array.flags.writeable = False
    return array
