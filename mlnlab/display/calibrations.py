"""Calibration in a cell: a row for each part of the probabilities, and a remark where atoms are too few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of
from mlnlab.display.style import card, quiet, title
from mlnlab.display.tables import table

if TYPE_CHECKING:
    from mlnlab.evaluation.calibration import Calibration, Part


def calibration_display(calibration: Calibration) -> Element:
    """Return the display of a calibration."""
    filled = [part for part in calibration.parts if part.number]
    headings = ("probability", "on average", "atoms", "true", "share that is true", "with 95 %")
    left_out = count_of(calibration.left_out, "query", "queries")
    return card(
        title("Calibration", f"{count_of(calibration.number, 'atom')}{_error(calibration)}"),
        quiet(calibration.remark) if calibration.remark else None,
        table(headings, map(_row, filled), numbers=range(1, 6)) if filled else None,
        quiet(
            f"{left_out} left out: facts, formulas, or atoms whose truth the database does not tell."
            if calibration.left_out
            else "ml.plot(...) draws it as a reliability diagram."
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


def calibration_text(calibration: Calibration) -> str:
    """Return a calibration as text."""
    lines = [
        f"  {low} : {true} of {atoms} true, {average} on average said"
        for low, average, atoms, true, *_ in map(_row, [part for part in calibration.parts if part.number])
    ]
    remark = [f"  {calibration.remark}"] if calibration.remark else []
    return "\n".join([repr(calibration), *lines, *remark])
