"""Give each citation of Cora fields of its own, instead of one constant for equal texts.

In the files at hand, an author, title or venue is a text, and citations with the same text share it; so one
atom ``SameAuthor(f1, f2)`` stands in as many groundings as there are pairs of citations with these texts.
Read otherwise, every citation has fields of its own, which may have the same words.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.experiments.cora.identities import FIELDS
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain

if TYPE_CHECKING:
    from mlnlab.model.database.database import Database


def with_own_fields(db: Database) -> Database:
    """Return the database with a field for each citation that has one, called as the text and the citation.

    Its words, and which fields are the same, are those of its text.
    """
    vocabulary, relations = db.vocabulary, dict(db.relations)
    for field in FIELDS:
        type_ = vocabulary[field].types[1]
        cited = db.relation(field).true.astype(np.int64)
        texts, bibs = vocabulary.domain(type_), vocabulary.domain("bib")
        names = tuple(f"{texts[text]} of {bibs[bib]}" for bib, text in cited.tolist())
        of_text: list[list[int]] = [[] for _ in texts]
        for number, text in enumerate(cited[:, 1].tolist()):
            of_text[text].append(number)
        words, same = (db.relation(f"{name}{field}").true.tolist() for name in ("HasWord", "Same"))
        relations[field] = _relation([(bib, number) for number, bib in enumerate(cited[:, 0].tolist())])
        relations[f"HasWord{field}"] = _relation([(n, word) for text, word in words for n in of_text[text]])
        relations[f"Same{field}"] = _relation(
            [(n, m) for one, other in same for n in of_text[one] for m in of_text[other]]
        )
        vocabulary = vocabulary.with_domain(type_, NamedDomain(names))
    return replace(db, vocabulary=vocabulary, relations=FrozenMapping(relations))


def _relation(rows: list[tuple[int, int]]) -> Relation:
    return Relation(2, sorted_rows(np.array(rows, np.uint32).reshape(len(rows), 2)))
