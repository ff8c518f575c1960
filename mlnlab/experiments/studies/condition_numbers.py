"""Compute the condition numbers of the thesis's section 4.3.1 under several readings.

    mlnlab reproduce condition-numbers --folder results --data cora --files data

The thesis tells of over 600,000 for Cora and of about 7,000 for WebKB, the largest ratio of two clauses'
variances where all weights are zero. Read most plainly, its model of Cora gives 3.2e7 on the files at hand,
and two readings make the difference, each a switch here:

- where equal texts are one field, one atom ``SameAuthor(f1, f2)`` stands in as many groundings of
  ``Author(b1, f1) ^ Author(b2, f2) ^ SameAuthor(f1, f2) => SameBib(b1, b2)`` as there are pairs of citations
  with these texts, and its variance grows with their squares: fields of each citation's own;
- transitivity has by far the most groundings; where it must hold it has no weight, and so no variance among
  those that are compared: transitivity without a weight. (That it then ties atoms is left out of account.)

With both the number is 6.6e5. Tighter canopies alone hardly move it (1.8e7 to 1.9e7 for cosines of 0.4 to
0.7).

On a synthetic web of WebKB's size the number is 2.8e4. Pages that are linked to much make up the variances of
links, and words that stand on few pages are the smallest ones, so that it moves with both: evenly spread
links, no links at all, and no rare words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora import SAME, canopies, cora_databases, cora_model, with_own_fields
from mlnlab.experiments.samples import sample
from mlnlab.experiments.studies.count_spreads import condition_table, conditioning
from mlnlab.experiments.webkb import synthetic_web

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.model.database.database import Database

CANOPY = 0.25


def cora_condition_numbers(databases: Mapping[str, Database], threshold: float = CANOPY) -> pd.DataFrame:
    """Return the table for Cora's model: equal texts as one field or not, transitivity weighted or not."""
    model = cora_model()
    readings: dict[str, Callable[[Database], Database]] = {
        "equal texts are one field": lambda db: db,
        "fields of each citation's own": with_own_fields,
    }
    found = {
        name: conditioning(
            model, [canopies(read(db), threshold).evidence for db in databases.values()], list(SAME)
        )
        for name, read in readings.items()
    }
    return condition_table(found, "Cora", without={"transitivity without a weight": "(y, z)"})


def web_condition_numbers(pages: int = 4165, links: int = 10_935, words: int = 774) -> pd.DataFrame:
    """Return the table for WebKB's model on synthetic webs: links spread evenly, and no rare words."""
    webs: dict[str, dict[str, Any]] = {
        "links and words as usual": {},
        "links spread evenly": {"hubs": 0.0},
        "no rare words": {"rarest": 0.02},
    }
    found = {}
    for name, options in webs.items():
        made = synthetic_web(pages=pages, links=links, words=words, **options)
        evidence = [db.without(["Class"]) for db in made.databases]
        found[name] = conditioning(made.mln, evidence, ["Class"])
    return condition_table(found, "WebKB", without={"no links": "LinksTo"})


def _cora(folder: Path | None) -> pd.DataFrame:
    if folder is None or not (folder / "cora").is_dir():
        raise ArgumentError(
            "The files of cora are needed: name the folder that has a folder cora in it, with --files."
        )
    return cora_condition_numbers(cora_databases(folder / "cora"))


TABLES: Mapping[str, Callable[[Path | None], pd.DataFrame]] = {
    "cora": _cora,
    "citations": lambda _: cora_condition_numbers(sample("citations").databases),
    "web": lambda _: web_condition_numbers(),
    "small-web": lambda _: web_condition_numbers(pages=400, links=1000, words=20),
}
