"""Define databases: constants by type and, for each predicate, the known truth values of its atoms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, count_of, require
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.relations import Relation, same_relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, HasVocabulary, Vocabulary
from mlnlab.model.database.fact_places import (
    LONGEST_TEXT,
    Place,
    Source,
    TableSource,
    TextSource,
    places_of_facts,
)
from mlnlab.model.database.world import World
from mlnlab.steps.safe_files import write_text
from mlnlab.syntax.facts.fact_files import analyse_facts, format_facts
from mlnlab.syntax.sources import read_bytes

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from numpy.typing import NDArray


Mark = Literal["true", "false", "unknown", "soft"]
MARKS: tuple[Mark, ...] = ("true", "false", "unknown", "soft")


_FACTS = "Facts are looked for as pairs of a ground atom and whether it is true"


@dataclass(frozen=True, slots=True, eq=False)
class Database:
    r"""Facts over a vocabulary whose domains hold every constant; closed world unless marked otherwise.

    Its constants are all that there are: a type of which neither its facts nor the model names one is empty.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\n?Smokes(Bob)", mln)
    >>> db.domain("person")
    ('Anna', 'Bob')
    >>> db["Friends"]
      person1 person2
    0    Anna     Bob
    """

    vocabulary: Vocabulary
    relations: FrozenMapping[Relation] = field(default_factory=FrozenMapping)
    name: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = field(default=(), repr=False)  # what it was read from: see fact_places

    def __post_init__(self) -> None:
        """Refuse an argument that is not a vocabulary."""
        needed = "ml.Database takes a Vocabulary; a text is read by ml.Database.from_text"
        require(self.vocabulary, Vocabulary, needed)

    @classmethod
    def from_text(
        cls, text: str | bytes, mln: HasVocabulary | Vocabulary, *, name: str = "<text>"
    ) -> Database:
        """Read facts: ``Database.from_text("Smokes(Anna)", mln)``; all problems are reported in one error."""
        require(text, (str, bytes), "Facts are read from a text")
        analysis = analyse_facts(text, vocabulary_of(mln), file=name)
        errors = [d for d in analysis.diagnostics if d.severity is Severity.ERROR]
        if errors:
            raise InputError(f"{name} has {count_of(len(errors), 'error')}.", errors)
        remarks = tuple(analysis.diagnostics)
        kept = (TextSource(name, text),) if len(text) <= LONGEST_TEXT else ()
        return cls(analysis.vocabulary, FrozenMapping(analysis.relations), Path(name).name, remarks, kept)

    @classmethod
    def load(
        cls, path: str | Path, mln: HasVocabulary | Vocabulary, *, functions: str | Path | None = None
    ) -> Database:
        """Read a ``.db`` file, and the ``.func`` file beside it where values of functions are kept apart."""
        database = cls.from_text(read_bytes(path), mln, name=str(path))
        database = replace(database, sources=(TextSource(str(path), None),))
        if functions is None:
            return database
        return database.with_facts(read_bytes(functions), name=str(functions))

    @classmethod
    def from_frames(cls, frames: Mapping[str, object], mln: HasVocabulary | Vocabulary) -> Database:
        """Read data frames of any kind: ``Database.from_frames({"Friends": frame}, mln)``."""
        from mlnlab.model.tables.table_frames import frames_as_tables, read_frames

        parts = read_frames(frames, vocabulary_of(mln))
        return cls(*parts, (TableSource(partial(frames_as_tables, frames)),))

    @classmethod
    def from_files(
        cls,
        files: Mapping[str, str | Path],
        mln: HasVocabulary | Vocabulary,
        *,
        header: bool | None = None,
        delimiter: str | None = None,
    ) -> Database:
        """Read CSV, TSV, Parquet or JSON files: ``Database.from_files({"Friends": "friends.csv"}, mln)``."""
        from mlnlab.model.tables.table_files import files_as_tables, read_files

        parts = read_files(files, vocabulary_of(mln), header=header, delimiter=delimiter)
        return cls(*parts, (TableSource(partial(files_as_tables, files, header, delimiter)),))

    @classmethod
    def from_folder(
        cls, folder: str | Path, mln: HasVocabulary | Vocabulary, *, header: bool | None = None
    ) -> Database:
        """Read a folder of such files, each named after its predicate."""
        from mlnlab.model.tables.table_files import folder_as_tables, read_folder

        parts = read_folder(folder, vocabulary_of(mln), header=header)
        return cls(*parts, (TableSource(partial(folder_as_tables, folder, header)),))

    @classmethod
    def from_sqlite(
        cls, path: str | Path, mln: HasVocabulary | Vocabulary, *, tables: Mapping[str, str] | None = None
    ) -> Database:
        """Read an SQLite file whose tables are named after predicates, or ``{"Friends": "table"}``."""
        from mlnlab.model.tables.table_files import read_sqlite

        return cls(*read_sqlite(path, vocabulary_of(mln), tables=tables))

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        mln: HasVocabulary | Vocabulary,
        predicate: str | None = None,
        *,
        node_predicates: Mapping[str, str] | Iterable[str] = (),
        edge_attributes: Sequence[str] = (),
        bipartite: Collection[Any] | None = None,
    ) -> Database:
        """Read a graph whose edges are atoms of a predicate (of several, where it came from to_networkx()).

        ``node_predicates={"Smokes": "smoker"}`` takes atoms from attributes of nodes, ``edge_attributes``
        further arguments from those of edges; ``bipartite`` holds the nodes that are first arguments.
        """
        from mlnlab.model.database.graph_reading import read_graph

        parts = read_graph(graph, vocabulary_of(mln), predicate, node_predicates, edge_attributes, bipartite)
        return cls(*parts)

    def domain(self, type_: str) -> tuple[str, ...]:
        """Return the constants of a type."""
        return tuple(self.vocabulary.domain(type_))

    def relation(self, predicate: str) -> Relation:
        """Return the facts about a predicate's atoms, as arrays of constant numbers."""
        declared = self.vocabulary[predicate]
        return self.relations.get(predicate) or Relation(declared.arity)

    def __getitem__(self, predicate: str) -> pd.DataFrame:
        """Return the true atoms of a predicate as a data frame, a column for each argument."""
        from mlnlab.model.tables.fact_tables import true_frame

        return true_frame(self, predicate)

    __iter__ = None  # names are looked up, not numbers: without this, Python would try db[0], db[1]

    def rows(self, predicate: str, mark: Mark = "true") -> Iterator[tuple[str, ...]]:
        """Yield the listed atoms of a predicate that carry a mark, as tuples of constant names."""
        table: NDArray[np.uint32] = getattr(self.relation(predicate), mark)
        domains = [self.vocabulary.domain(type_) for type_ in self.vocabulary[predicate].types]
        if not domains:
            yield from ((),) * len(table)
            return
        # Column by column: a hundred thousand rows take hundredths of a second.
        columns = zip(table.T.tolist(), domains, strict=True)
        yield from zip(*(map(domain.__getitem__, column) for column, domain in columns), strict=True)

    def atoms(self, mark: Mark = "true") -> Iterator[GroundAtom]:
        """Yield all listed atoms that carry a mark."""
        for predicate in self.relations:
            for arguments in self.rows(predicate, mark):
                yield GroundAtom(predicate, arguments)

    def soft_evidence(self) -> Iterator[tuple[GroundAtom, float]]:
        """Yield the atoms with soft evidence and their probabilities."""
        for predicate, relation in self.relations.items():
            rows = self.rows(predicate, "soft")
            for arguments, probability in zip(rows, relation.probabilities.tolist(), strict=True):
                yield GroundAtom(predicate, arguments), probability

    def world(self) -> World:
        """Return the closed world of the database: atoms not listed as true are false."""
        return World(self.vocabulary, frozenset(self.atoms()))

    def with_atoms(self, changes: Mapping[str, bool | float | None]) -> Database:
        """Return the database with atoms set: ``{"Smokes(Anna)": True, "Cancer(Bob)": None}``.

        ``True`` and ``False`` list the atom, ``None`` marks it unknown, a number between is soft evidence.
        New constants are added to their types.
        """
        require(changes, Mapping, "Atoms are set by a mapping, as in {'Smokes(Anna)': True}")
        lines = [f"{mark_text(value)}{atom}" for atom, value in changes.items()]
        return self.with_facts("\n".join(lines), name="<changes>")

    def with_facts(self, text: str | bytes, *, name: str = "<text>") -> Database:
        """Return the database with more facts, read from a text; they override the earlier ones."""
        added = Database.from_text(text, self.vocabulary, name=name)
        relations = dict(self.relations)
        for predicate, new in added.relations.items():
            relations[predicate] = merge_facts(self.relation(predicate), new)
        remarks = (*self.diagnostics, *added.diagnostics)
        return replace(
            self, vocabulary=added.vocabulary, relations=FrozenMapping(relations), diagnostics=remarks,
            sources=(*self.sources, *added.sources),
        )  # fmt: skip

    def without(self, predicates: list[str] | tuple[str, ...]) -> Database:
        """Return the database without any listed atom of these predicates (its constants stay)."""
        require(predicates, (list, tuple), "Predicates are named in a list, as in ['Smokes']")
        for predicate in predicates:
            self.vocabulary[predicate]
        kept = {name: r for name, r in self.relations.items() if name not in predicates}
        return replace(self, relations=FrozenMapping(kept))

    def places(self, facts: Iterable[tuple[GroundAtom, bool]]) -> dict[tuple[GroundAtom, bool], Place]:
        """Return where facts were written, as far as known; each is an atom and whether it is true."""
        require(facts, Iterable, _FACTS)
        facts = [_checked_fact(fact) for fact in facts]
        return places_of_facts(self.sources, facts, self.vocabulary)

    def number_of_facts(self) -> int:
        """Return the number of true atoms."""
        return sum(len(relation.true) for relation in self.relations.values())

    def number_of_atoms(self, predicate: str) -> int:
        """Return the number of all ground atoms of a predicate over the constants."""
        return prod(len(self.vocabulary.domain(type_)) for type_ in self.vocabulary[predicate].types)

    def to_text(self) -> str:
        """Return the facts as the text of a ``.db`` file; reading it gives the same database."""
        return format_facts(self.relations, self.vocabulary)

    def to_frame(self) -> pd.DataFrame:
        """Return all listed atoms in one frame: predicate, arguments, truth, probability."""
        from mlnlab.model.tables.fact_tables import long_frame

        return long_frame(self)

    def to_frames(self) -> dict[str, pd.DataFrame]:
        """Return a frame for each predicate, and one of the constants; ``from_frames`` reads them back."""
        from mlnlab.model.tables.fact_tables import table_frames

        return table_frames(self)

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write a CSV file for each predicate, and one of the constants; return their paths."""
        from mlnlab.model.tables.table_files import write_delimited

        return write_delimited(self, folder, ".csv")

    def to_tsv(self, folder: str | Path) -> list[Path]:
        """Write files as :meth:`to_csv` does, with tabs between the cells."""
        from mlnlab.model.tables.table_files import write_delimited

        return write_delimited(self, folder, ".tsv")

    def to_parquet(self, folder: str | Path) -> list[Path]:
        """Write a Parquet file for each predicate, and one of the constants; return their paths."""
        from mlnlab.model.tables.table_files import write_parquet

        return write_parquet(self, folder)

    def to_sqlite(self, path: str | Path) -> None:
        """Write a table for each predicate, and one of the constants; the file's other tables are kept."""
        from mlnlab.model.tables.table_files import write_sqlite

        write_sqlite(self, path)

    def to_networkx(self, predicate: str | None = None) -> nx.DiGraph[Any]:
        """Return the true atoms as a graph: of one binary predicate, or of the whole database."""
        from mlnlab.model.database.graphs import database_graph, predicate_graph

        return database_graph(self) if predicate is None else predicate_graph(self, predicate)

    def save(self, path: str | Path) -> None:
        """Write a ``.db`` file."""
        write_text(path, self.to_text())

    def __eq__(self, other: object) -> bool:
        return same_database(self, other) if isinstance(other, Database) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.vocabulary.predicates, self.number_of_facts()))

    def __repr__(self) -> str:
        constants = sum(len(domain) for domain in self.vocabulary.types.values())
        called = f" {self.name}" if self.name else ""
        facts = count_of(self.number_of_facts(), "true atom")
        return f"<Database{called}: {facts}, {count_of(constants, 'constant')}>"


def same_database(left: Database, right: Database) -> bool:
    """Return whether two databases have the same constants, in the same order, and the same facts."""
    names = {*left.relations, *right.relations}
    return left.vocabulary == right.vocabulary and all(
        same_relation(left.relation(name), right.relation(name)) for name in names
    )


def vocabulary_of(source: HasVocabulary | Vocabulary) -> Vocabulary:
    """Return the vocabulary of a model, or the vocabulary itself."""
    if isinstance(source, Vocabulary):
        return source
    vocabulary = getattr(source, "vocabulary", None)
    if isinstance(vocabulary, Vocabulary):
        return vocabulary
    raise ArgumentError(f"A model or a vocabulary is needed here, not {type(source).__name__}.")


def _checked_fact(fact: object) -> tuple[GroundAtom, bool]:
    """Return a pair of a ground atom and its truth value; refuse other values."""
    match fact:
        case (GroundAtom() as atom, bool(value)):
            return atom, value
        case _:
            raise ArgumentError(f"{_FACTS}, not {fact!r:.60}.")


def databases_of(given: object, purpose: str) -> list[Database]:
    """Return one database or several as a list; ``purpose`` begins the sentence that asks for them."""
    one = isinstance(given, Database) or not isinstance(given, Iterable)
    several: list[object] = [given] if one else list(given)  # type: ignore[call-overload]
    listed = [database for database in several if isinstance(database, Database)]
    for database in several:
        require(database, Database, f"{purpose} a database or a list of them")
    return listed


# --- override the facts about a predicate's atoms by facts listed later -------------------------


def mark_text(value: bool | float | None) -> str:
    """Return the mark before an atom in a fact file: nothing, ``!``, ``?`` or a probability."""
    if value is None:
        return "?"
    if isinstance(value, bool | np.bool_):
        return "" if value else "!"
    require(value, Real, "An atom is set to True, False, None or a probability")
    return f"{float(value)!r} "


def _pack_rows(rows: NDArray[np.uint32]) -> NDArray[np.void]:
    """View each row as one item, so that numpy's set functions apply."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def merge_facts(old: Relation, new: Relation) -> Relation:
    """Return the old relation overwritten by the facts of the new one."""
    if old.arity == 0:
        return new
    listed = _pack_rows(np.concatenate([new.true, new.false, new.unknown, new.soft]))

    def keep_rows(rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        return ~np.isin(_pack_rows(rows), listed)

    def join_rows(mark: str) -> NDArray[np.uint32]:
        before: NDArray[np.uint32] = getattr(old, mark)
        return np.concatenate([before[keep_rows(before)], getattr(new, mark)])

    soft = join_rows("soft")
    probabilities = np.concatenate([old.probabilities[keep_rows(old.soft)], new.probabilities])
    order = np.lexsort(soft.T[::-1])
    true, false, unknown = (sorted_rows(join_rows(mark)) for mark in ("true", "false", "unknown"))
    return Relation(old.arity, true, false, unknown, sorted_rows(soft), probabilities[order])
