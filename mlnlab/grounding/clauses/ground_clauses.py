"""Hold ground clauses as arrays, for samplers and solvers (lecture notes, eq. 13).

Only what evidence leaves open is grounded. A grounding that is a clause becomes one; a conjunction of
literals becomes the clause of its negation, with the opposite weight; any other becomes a *table*: the
choices that it depends on and, for each combination of their options, whether it is true; where these are
too many, a table that counts which parts of the formula hold (:mod:`mlnlab.grounding.clauses.gates`). A block
of exclusive atoms stays one choice with many options; literals say which of its atoms is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.grounding.clauses.gates import NO_GATES, Gates

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question


@dataclass(frozen=True, slots=True)
class Source:
    """Where ground clauses come from: a formula of the model, soft evidence, a condition, or a query."""

    text: str
    kind: str  # "formula", "soft evidence", "given" or "query"
    weight: float  # 0 where hard
    hard: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """The numbers of a source's groundings: decided by evidence, made clauses, made tables."""

    groundings: int = 0
    true: int = 0  # by evidence alone
    false: int = 0
    clauses: int = 0
    tables: int = 0
    wide: int = 0  # of the tables: those that count what holds, because they are too wide to be written down


@dataclass(frozen=True, slots=True, eq=False)
class GroundClauses:
    """A question's open atoms, clauses and tables; all arrays are read-only.

    Literal ``2 a`` says that open atom ``a`` is true, ``2 a + 1`` that it is false. A grounding is true where
    its clause is satisfied; where ``negated``, it is true where the clause is not satisfied (and ``weights``
    holds the clause's weight, the opposite of the formula's). Clauses and tables are ordered by source.
    """

    question: Question
    sources: tuple[Source, ...]
    tallies: tuple[Tally, ...]
    # choices: their numbers of options, and where the atoms of each begin
    options: NDArray[np.uint32]
    first_atoms: NDArray[np.uint32]
    # clauses: literals[starts[c] : starts[c + 1]]
    starts: NDArray[np.uint32]
    literals: NDArray[np.uint32]
    weights: NDArray[np.float64]
    hard: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    clause_sources: NDArray[np.uint32]
    # tables: choices scope[scope_starts[t] : scope_starts[t + 1]], truth bits[bit_starts[t] + cell], where
    # the cell is the sum of option times stride
    scope_starts: NDArray[np.uint32]
    scope: NDArray[np.uint32]
    strides: NDArray[np.uint32]
    bit_starts: NDArray[np.uint32]
    bits: NDArray[np.uint8]
    table_weights: NDArray[np.float64]
    table_hard: NDArray[np.bool_]
    table_sources: NDArray[np.uint32]
    # how the groundings of each source were kept, in words; and what every world has in addition
    ways: tuple[str, ...] = ()
    constant: float = 0.0
    gates: Gates = NO_GATES  # of tables that count what smaller tables say
    groundings: NDArray[np.uint32] | None = None  # that each clause stands for; None: each for one

    @property
    def number_of_atoms(self) -> int:
        """The number of open atoms."""
        return int(self.first_atoms[-1])

    @property
    def number_of_clauses(self) -> int:
        """The number of ground clauses."""
        return len(self.weights)

    @property
    def number_of_tables(self) -> int:
        """The number of tables."""
        return len(self.table_weights)

    @property
    def may_be_cut(self) -> bool:
        """Whether something that must hold ties two choices together, so that worlds may fall into parts."""
        return bool(self.table_hard.any() or (np.diff(self.starts.astype(np.int64))[self.hard] > 1).any())

    @property
    def violated(self) -> Source | None:
        """A hard formula or condition that the evidence alone contradicts."""
        pairs = zip(self.sources, self.tallies, strict=True)
        return next((source for source, tally in pairs if source.hard and tally.false), None)

    @property
    def decided_log_weight(self) -> float:
        """The log-weight that all worlds share: groundings decided by evidence, and the constant."""
        return self.constant + sum(s.weight * t.true for s, t in zip(self.sources, self.tallies, strict=True))

    def log_weight(self, chosen: NDArray[np.integer[Any]]) -> float:
        """Return the log-weight of the world with these options of the choices (lecture notes, eq. 13)."""
        holds = self.mark_satisfied_clauses(chosen) != self.negated
        cells = np.zeros(self.number_of_tables, np.int64)
        starts = self.scope_starts.astype(np.int64)
        tables = np.repeat(np.arange(self.number_of_tables), starts[1:] - starts[:-1])
        np.add.at(cells, tables, chosen.astype(np.int64)[self.scope] * self.strides)
        self.gates.add_to(cells, chosen, self.bits)
        selected = self.bits[self.bit_starts + cells] == 1
        if self.violated is not None or not (holds[self.hard].all() and selected[self.table_hard].all()):
            return -inf
        of_formulas = np.where(self.negated, -self.weights, self.weights)
        return self.decided_log_weight + float(of_formulas[holds].sum() + self.table_weights[selected].sum())

    def mark_satisfied_clauses(self, chosen: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return for each clause whether one of its literals is true."""
        true = np.zeros(self.number_of_atoms, np.bool_)
        sizes = np.diff(self.first_atoms.astype(np.int64))
        some = np.flatnonzero(chosen < sizes)
        true[self.first_atoms[some] + chosen[some]] = True
        literals = true[self.literals >> 1] != (self.literals & 1)
        before = np.concatenate([[0], np.cumsum(literals)])
        return np.asarray(before[self.starts[1:]] > before[self.starts[:-1]])

    @property
    def size(self) -> int:
        """The bytes of the arrays."""
        arrays = (getattr(self, name) for name in self.__slots__)
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray)) + self.gates.nbytes

    def to_frame(self) -> pd.DataFrame:
        """Return for each source its groundings, and how many of them evidence decides."""
        import pandas as pd

        rows = [
            (s.text, s.kind, t.groundings, t.true, t.false, t.clauses, t.tables)
            for s, t in zip(self.sources, self.tallies, strict=True)
        ]
        names = ["formula", "kind", "groundings", "decided true", "decided false", "clauses", "tables"]
        return pd.DataFrame(rows, columns=names)

    def explain(self) -> str:
        """Describe for each formula its ground clauses and the groundings that evidence decided."""
        lines = [f"{self!r}:"]
        ways = self.ways or ("",) * len(self.sources)
        for source, tally, way in zip(self.sources, self.tallies, ways, strict=True):
            made = [count_of(tally.clauses, "clause")] if tally.clauses or not tally.tables else []
            made += [count_of(tally.tables, "table")] if tally.tables else []
            kind = "" if source.kind == "formula" else f" ({source.kind})"
            lines.append(
                f"  {source.text}{kind}: {count_of(tally.groundings, 'grounding')}, of which evidence makes "
                f"{tally.true:,} true and {tally.false:,} false; {' and '.join(made)}"
            )
            if way and (tally.clauses or tally.tables):
                lines.append(f"    {way}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        sizes = [
            count_of(self.number_of_atoms, "open atom"),
            count_of(self.number_of_clauses, "clause"),
            count_of(self.number_of_tables, "table"),
        ]
        return f"<GroundClauses: {', '.join(sizes)}, {self.size / 1e6:.3g} MB>"
