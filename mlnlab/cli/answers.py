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
    from collections.abc import Container, Sequence

    from mlnlab.inference.marginals import Marginals

_ESTIMATED = ("error", "r_hat", "effective_size")


class Answer(NamedTuple):
    """The marginals of one database."""

    database: str
    marginals: Marginals
    complete: bool = True  # not where somebody stopped the sampling


def as_table(answers: Sequence[Answer]) -> str:
    """Return the answers as lines, the most probable first; several databases one below the other."""
    blocks = []
    for answer in answers:
        known = facts_among(answer.marginals)
        heading = [f"{answer.database}:"] if len(answers) > 1 else []
        rows = [
            f"{probability_in_words(value):>8}{_error_in_words(name, answer.marginals, known)}  {name}"
            f"{'  (fact)' if name in known else ''}"
            for name, value in by_probability(answer.marginals)
        ]
        blocks.append("".join(f"{printable(line)}\n" for line in [*heading, *rows]))
    return "\n".join(blocks)


def _error_in_words(name: str, marginals: Marginals, known: Container[str]) -> str:
    """Return the standard error of an estimate, in a column; exact answers have none."""
    if not marginals.estimates:
        return ""
    if name in known or not marginals.error(name):
        return " " * len(" ± 0.0000")
    return f" ± {max(marginals.error(name), 0.0001):.4f}"


def as_csv(answers: Sequence[Answer]) -> str:
    """Return the answers as CSV; columns tell the database where there are several, and errors if sampled."""
    several, sampled = len(answers) > 1, any(answer.marginals.estimates for answer in answers)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = ["query", "probability", "fact", *(_ESTIMATED if sampled else ())]
    writer.writerow([*(["database"] if several else []), *columns])
    for answer in answers:
        known = facts_among(answer.marginals)
        for name, value in answer.marginals.probabilities.items():
            row = [*([answer.database] if several else []), name, repr(value)]
            row.append("true" if name in known else "false")
            writer.writerow([*row, *(_estimated(name, answer.marginals) if sampled else ())])
    return stream.getvalue()


def _estimated(name: str, marginals: Marginals) -> list[str]:
    """Return error, R-hat and effective sample size; what there is not is empty."""
    estimate = marginals.estimates.get(name)
    if estimate is None:
        return [repr(marginals.error(name)), "", ""]
    numbers = (estimate.error, estimate.r_hat, estimate.effective_size)
    return [repr(number) if isfinite(number) else "" for number in numbers]


def _facts(marginals: Marginals) -> list[str]:
    """Return the queries that the facts answer, in the order asked."""
    known = facts_among(marginals)
    return [name for name in marginals if name in known]


def _estimates(marginals: Marginals) -> dict[str, object]:
    """Return what is known of each estimate, where there are any."""
    columns = {
        "errors": {name: estimate.error for name, estimate in marginals.estimates.items()},
        "r_hats": {name: estimate.r_hat for name, estimate in marginals.estimates.items()},
        "effective_sizes": {name: estimate.effective_size for name, estimate in marginals.estimates.items()},
    }
    return {
        column: {name: number if isfinite(number) else None for name, number in numbers.items()}
        for column, numbers in columns.items()
        if numbers
    }


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
            "memory": answer.marginals.memory,
            "complete": answer.complete,
            "probabilities": dict(answer.marginals.probabilities),
            "facts": _facts(answer.marginals),
            **_estimates(answer.marginals),
        }
        for answer in answers
    ]
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
