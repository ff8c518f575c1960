"""Calibration in a cell: a row for each part of the probabilities, and a remark where atoms are too few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of

if TYPE_CHECKING:
    from mlnlab.evaluation.calibration import Calibration, Part


def calibration_card(calibration: Calibration) -> Card:
    """Return the card of a calibration."""
    filled = [part for part in calibration.parts if part.number]
    headings = ("probability", "on average", "atoms", "true", "share that is true", "with 95 %")
    left_out = count_of(calibration.left_out, "query", "queries")
    return Card(
        "Calibration",
        f"{count_of(calibration.number, 'atom')}{_error(calibration)}",
        lead=(calibration.remark,),
        table=table_of(headings, map(_row, filled), len(filled), "parts", numbers=range(1, 6)),
        remarks=(
            f"{left_out} left out: facts, formulas, or atoms whose truth the database does not give."
            if calibration.left_out
            else "ml.plot(...) draws it as a reliability diagram.",
        ),
    )


def _error(calibration: Calibration) -> str:
    return f", expected calibration error {calibration.expected_error:.3f}" if calibration.number else ""


def _row(part: Part) -> tuple[str, ...]:
    low, high = part.interval
    return (
        f"{part.low:.2f} to {part.high:.2f}", f"{part.mean_probability:.3f}", f"{part.number:,}",
        f"{part.true:,}", f"{part.share_true:.3f}", f"{low:.2f} to {high:.2f}",
    )  # fmt: skip
