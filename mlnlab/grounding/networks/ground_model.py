"""Hold the ground clauses of a question with statistics for each formula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import count_of
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.merging import merge_clauses
from mlnlab.grounding.networks.network_size import NetworkSize, refuse_large_network, size_of
from mlnlab.grounding.question.question import list_atoms, opening

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses, Source, Tally
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

MOST_GROUNDINGS = 50_000_000  # open ones: some hundred bytes each while they are made


def ground(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    limit: int = MOST_GROUNDINGS,
) -> GroundModel:
    r"""Return the ground clauses of a question with each formula's tally; arguments as of ``infer``.

    Only groundings that evidence leaves open are made, by joins; the others are counted. A question with
    more than ``limit`` open groundings is refused before, with what is known of its size.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n-1 Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nperson = {Anna, Bob}", mln)
    >>> found = ml.ground(mln, db, "Cancer")
    >>> found
    <GroundModel: 2 open atoms, 3 clauses (2 different ones), 0 tables>
    >>> found.why(found.largest)
    'its 2 groundings are all open, because Cancer has 2 open atoms'
    """
    asked = opening(mln, db, query, open, given, closed)
    size = size_of(asked)
    refuse_large_network(size, limit, "model")
    return GroundModel(ground_clauses(list_atoms(asked)), size)


class GroundSource(NamedTuple):
    """A formula, and the tally of its groundings."""

    source: Source
    tally: Tally
    literals: int  # of its clauses, and choices of its tables
    different: int  # clauses and tables that are left when equal ones are merged
    way: str  # how it was ground, and why so

    @property
    def open(self) -> int:
        """How many of its groundings evidence leaves open."""
        return self.tally.groundings - self.tally.true - self.tally.false


@dataclass(frozen=True, eq=False)
class GroundModel:
    r"""Ground clauses with their statistics; ``size`` is the size estimated before grounding.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n1 Friends(x, y) => Friends(y, x)")
    >>> found = ml.ground(mln, {"person": 4})
    >>> found.clauses.number_of_clauses, found.merged.number_of_clauses
    (12, 12)
    >>> found.to_frame()[["groundings", "true by evidence", "open"]].values.tolist()
    [[16, 4, 12]]
    """

    clauses: GroundClauses
    size: NetworkSize | None = None

    @cached_property
    def merged(self) -> GroundClauses:
        """The clauses with equal ones merged: the same distribution."""
        return merge_clauses(self.clauses)

    @cached_property
    def sources(self) -> tuple[GroundSource, ...]:
        """The tallies of each formula, of soft evidence and of conditions."""
        clauses, fewer, number = self.clauses, self.merged, len(self.clauses.sources)
        literals = np.bincount(clauses.clause_sources, np.diff(clauses.starts.astype(np.int64)), number)
        literals += np.bincount(clauses.table_sources, np.diff(clauses.scope_starts.astype(np.int64)), number)
        left = np.bincount(fewer.clause_sources, minlength=number)
        left += np.bincount(fewer.table_sources, minlength=number)
        rows = zip(
            clauses.sources, clauses.tallies, map(int, literals), map(int, left), clauses.ways, strict=True
        )
        return tuple(GroundSource(*row) for row in rows if row[0].kind != "query")

    @property
    def largest(self) -> GroundSource | None:
        """The formula that makes the most literals."""
        most = max(self.sources, key=lambda one: one.literals, default=None)
        return most if most is not None and most.literals else None

    def why(self, one: GroundSource) -> str:
        """Say why so much of a formula is open."""
        from mlnlab.logic.formulas.traversal import predicates

        question, names = self.clauses.question, self._formulas.get(one.source.text)
        opened: dict[str, int] = {}
        for choice in question.choices:
            for atom in choice.atoms:
                opened[atom.predicate] = opened.get(atom.predicate, 0) + 1
        own = list(dict.fromkeys(predicates(names))) if names is not None else []
        parts = [f"{name} has {count_of(opened[name], 'open atom')}" for name in own if name in opened]
        because = f", because {' and '.join(parts)}" if parts else ""
        groundings = count_of(one.tally.groundings, "grounding")
        if one.open == one.tally.groundings:
            return f"its {groundings} are all open{because}"
        decided = one.tally.groundings - one.open
        return f"of its {groundings} evidence decides {decided:,} and leaves {one.open:,} open{because}"

    @cached_property
    def _formulas(self) -> dict[str, Formula]:
        from mlnlab.model.mln.writing import statement_text

        return {statement_text(one): one.formula for one in self.clauses.question.mln.formulas}

    def explain(self) -> str:
        """Describe the ground clauses, and which formula causes the most, and why."""
        groundings = sum(one.tally.groundings for one in self.sources)
        decided = groundings - sum(one.open for one in self.sources)
        lines = [f"Of {count_of(groundings, 'grounding')} evidence decides {decided:,}; {self.sizes()}."]
        largest, total = self.largest, sum(one.literals for one in self.sources)
        if largest is not None:
            lines.append(
                f"Most of it, {100 * largest.literals / total:.0f} % of the literals, comes from "
                f"{largest.source.text:.200}: {self.why(largest)}."
            )
        return "\n".join(lines)

    def sizes(self) -> str:
        """Return the numbers of atoms, clauses and tables in words."""
        clauses, different = self.clauses.number_of_clauses, self.merged.number_of_clauses
        fewer = f" ({different:,} different ones)" if different != clauses else ""
        atoms, tables = self.clauses.number_of_atoms, self.clauses.number_of_tables
        return (
            f"{count_of(atoms, 'open atom')}, {count_of(clauses, 'clause')}{fewer}, "
            f"{count_of(tables, 'table')}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula: its groundings, those decided, those left, and how."""
        import pandas as pd

        total = sum(one.literals for one in self.sources) or 1
        rows = [
            (
                s.text, s.kind, float("nan") if s.hard else s.weight, t.groundings, t.true, t.false, one.open,
                t.clauses, t.tables, one.literals, t.clauses + t.tables - one.different, one.literals / total,
                one.way,
            )
            for one in self.sources for s, t in [(one.source, one.tally)]
        ]  # fmt: skip
        names = [
            "formula", "kind", "weight", "groundings", "true by evidence", "violated by evidence", "open",
            "clauses", "tables", "literals", "merged away", "share", "how",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        return f"<GroundModel: {self.sizes()}>"
