"""Many small worlds in one open DuckDB: to open one takes longer than a question about three constants."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace


@contextmanager
def facts_in(connection, facts):
    """Offer the facts of a world to an open DuckDB, as a new one would have them; then forget them."""
    store = replace(connection, vocabulary=facts.vocabulary, tables={}, rows={}, scanned={})
    for predicate, rows in facts.tables.items():
        store.tables[predicate] = store.scanning(rows)
    try:
        yield store
    finally:
        for table in list(store.rows):
            store.drop_table(table)
