"""Probabilities as a table for a terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.probabilities import by_probability, facts_among, probability_in_words
from mlnlab.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.inference.marginals import Marginals


class Answer(NamedTuple):
    """The marginals of one database."""

    database: str
    marginals: Marginals


def as_table(answers: Sequence[Answer]) -> str:
    """Return the answers as lines, the most probable first; several databases one below the other."""
    blocks = []
    for answer in answers:
        known = facts_among(answer.marginals)
        heading = [f"{answer.database}:"] if len(answers) > 1 else []
        rows = [
            f"{probability_in_words(value):>8}  {name}{'  (fact)' if name in known else ''}"
            for name, value in by_probability(answer.marginals)
        ]
        blocks.append("".join(f"{printable(line)}\n" for line in [*heading, *rows]))
    return "\n".join(blocks)


def as_csv(answers: Sequence[Answer]) -> str:
    """Return the answers as CSV; a column tells the database where there are several."""
    several = len(answers) > 1
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(["database"] if several else []), "query", "probability", "fact"])
    for answer in answers:
        known = facts_among(answer.marginals)
        for name, value in answer.marginals.probabilities.items():
            fact = "true" if name in known else "false"
            writer.writerow([*([answer.database] if several else []), name, repr(value), fact])
    return stream.getvalue()


def _facts(marginals: Marginals) -> list[str]:
    """Return the queries that the facts answer, in the order asked."""
    known = facts_among(marginals)
    return [name for name in marginals if name in known]


def as_json(answers: Sequence[Answer]) -> str:
    """Return the answers as JSON: a list with an object for each database."""
    records = [
        {
            "database": answer.database,
            "method": answer.marginals.method,
            "log_z": answer.marginals.log_z if isfinite(answer.marginals.log_z) else None,
            "warnings": list(answer.marginals.warnings),
            "worlds": answer.marginals.number_of_worlds,
            "seconds": answer.marginals.seconds,
            "probabilities": dict(answer.marginals.probabilities),
            "facts": _facts(answer.marginals),
        }
        for answer in answers
    ]
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
