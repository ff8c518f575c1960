"""Probabilities as a table for a terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.probabilities import by_probability, probability_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.inference.marginals import Marginals


class Answer(NamedTuple):
    """The marginals of one database."""

    database: str
    marginals: Marginals


def as_table(answers: Sequence[Answer]) -> str:
    """Return the answers as columns, the most probable first; several databases one below the other."""
    blocks = []
    for answer in answers:
        rows = [
            f"{probability_in_words(value):>8}  {name}" for name, value in by_probability(answer.marginals)
        ]
        blocks.append("\n".join([f"{answer.database}:", *rows] if len(answers) > 1 else rows))
    return "\n\n".join(blocks)


def as_csv(answers: Sequence[Answer]) -> str:
    """Return the answers as CSV; a column tells the database where there are several."""
    several = len(answers) > 1
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(["database"] if several else []), "query", "probability"])
    for answer in answers:
        for name, value in answer.marginals.probabilities.items():
            writer.writerow([*([answer.database] if several else []), name, repr(value)])
    return stream.getvalue()


def as_json(answers: Sequence[Answer]) -> str:
    """Return the answers as JSON: a list with an object for each database."""
    records = [
        {
            "database": answer.database,
            "method": answer.marginals.method,
            "log_z": answer.marginals.log_z,
            "worlds": answer.marginals.number_of_worlds,
            "seconds": answer.marginals.seconds,
            "probabilities": dict(answer.marginals.probabilities),
        }
        for answer in answers
    ]
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
