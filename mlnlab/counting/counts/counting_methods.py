"""Choose the implementation that counts: plans in memory, DuckDB, messages or samples that approximate."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from mlnlab.counting.duckdb.duckdb_files import FactFiles
from mlnlab.counting.duckdb.duckdb_store import Connection, store_of
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.checked_options import is_one_of, refuse_unknown_options
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.database import Database
from mlnlab.model.database.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.counting.counts.rejection_counter import RejectionParams
    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.factors.join_graphs.propagation import ClusterParams
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary

AUTO, PLANNED, DUCKDB, IJGP, REJECTION = METHODS = "auto", "planned", "duckdb", "ijgp", "rejection"
EstimateParams: TypeAlias = "ClusterParams | RejectionParams"

_IN_MEMORY = {PLANNED: "Plans need", REJECTION: "Random groundings need"}


def method_for(method: str, db: object) -> tuple[str, str]:
    """Return the method that counts in these facts, and a sentence that says why."""
    if not is_one_of(method, METHODS):
        near = did_you_mean(str(method), METHODS) or "."
        raise ArgumentError(
            'Methods of counting are "auto", "planned", "duckdb", "ijgp" and "rejection", not'
            f" {method!r:.60}{near}"
        )
    if not isinstance(db, Database | World | FactFiles):
        what = "None" if db is None else type(db).__name__
        raise ArgumentError(f"Formulas are counted in a Database, a World or FactFiles, not in {what}.")
    in_files = isinstance(db, FactFiles)
    if isinstance(db, FactFiles) and db.closed:
        raise ArgumentError("These files of facts were closed; open them again with ml.FactFiles.")
    if in_files and method in _IN_MEMORY:
        needs = _IN_MEMORY[method]
        raise ArgumentError(
            f"{needs} facts in memory, but these are in files: read them with ml.Database.from_files,"
            ' or use method="duckdb".'
        )
    if in_files and method == IJGP:
        return IJGP, "DuckDB aggregated the files, and messages between clusters estimated the counts."
    if in_files:
        return DUCKDB, "The facts are in files, where DuckDB counts them without loading them."
    if method == DUCKDB:
        return DUCKDB, "DuckDB counted, as requested; the facts were scanned in memory."
    if method == IJGP:
        return IJGP, "Messages between clusters of variables estimated the counts, as requested."
    if method == REJECTION:
        return REJECTION, "Groundings drawn at random estimated the counts, as requested."
    return PLANNED, "The facts are in memory, where counting by plans is fastest."


def check_memory(memory: str, method: str, db: object) -> None:
    """Refuse a limit of memory where it would be ignored."""
    if not isinstance(memory, str):
        raise ArgumentError(f'memory= is a text such as "1GB" or "500MB", not {memory!r:.60}.')
    if memory and isinstance(db, FactFiles):
        raise ArgumentError('Files have their limit where they are opened: ml.FactFiles(..., memory="1GB").')
    if memory and method != DUCKDB:
        raise ArgumentError('memory= is a limit for DuckDB, and needs method="duckdb" beside it.')


def counting_params(method: str, options: Mapping[str, object]) -> EstimateParams | None:
    """Return the options of a method that estimates; exact ones have none."""
    if method not in {IJGP, REJECTION}:
        if options:
            raise ArgumentError(
                f'Counting by method="{method}" has no option {next(iter(options)):.60}; options such as i='
                ' belong to method="ijgp", and bindings= to method="rejection".'
            )
        return None
    from mlnlab.counting.counts.rejection_counter import RejectionParams
    from mlnlab.factors.join_graphs.propagation import ClusterParams

    kind: Any = ClusterParams if method == IJGP else RejectionParams
    refuse_unknown_options(method, options, [known.name for known in fields(kind)])
    found: EstimateParams = kind(**options)  # it checks them
    return found


def estimate_count(formula: Formula, facts: Facts, params: EstimateParams) -> float:
    """Return the estimated number of true groundings of a formula."""
    from mlnlab.counting.counts.rejection_counter import RejectionParams, estimate_by_trying

    if isinstance(params, RejectionParams):
        return estimate_by_trying(formula, facts, params)
    from mlnlab.counting.elimination.signed_counter import signed_counter

    return signed_counter(formula, facts.vocabulary, params)(facts).number


def check_executor(executor: object) -> None:
    """Refuse an executor that cannot run functions elsewhere."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"An executor needs a method submit, as ThreadPoolExecutor() and ProcessPoolExecutor() have;"
            f" {executor!r:.60} has none."
        )


def counted_in_files(
    formulas: Sequence[Formula], files: FactFiles, vocabulary: Vocabulary, params: EstimateParams | None
) -> tuple[list[float], list[int]]:
    """Return n_i, or with ``params`` estimates of them, and the number of all groundings of some formulas."""
    from mlnlab.counting.duckdb.duckdb_clusters import estimate_in_files
    from mlnlab.counting.duckdb.duckdb_counter import groundings_in_duckdb
    from mlnlab.factors.join_graphs.propagation import ClusterParams

    store = files.store.over(vocabulary)
    with store.turn:
        return [
            estimate_in_files(formula, store, params).number
            if isinstance(params, ClusterParams)
            else _count_one(formula, store)
            for formula in formulas
        ], [groundings_in_duckdb(formula, store) for formula in formulas]


def count_all_in_duckdb(formulas: Sequence[Formula], facts: Facts, memory: str = "") -> list[int]:
    """Count formulas one after the other; a function of the module, so that other processes find it."""
    with store_of(facts, memory=memory) as store:
        return [_count_one(formula, store) for formula in formulas]


def _count_one(formula: Formula, store: Connection) -> int:
    from mlnlab.counting.duckdb.duckdb_counter import count_in_duckdb

    try:
        return count_in_duckdb(formula, store)
    except TooLargeError as refusal:
        message = f"{formula} is too large to count. {refusal.summary}"
        raise TooLargeError(message, refusal.estimate, refusal.remedies) from refusal
