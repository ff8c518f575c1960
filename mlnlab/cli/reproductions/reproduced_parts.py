"""Tables of a reproduction: which are asked for, and how they are written and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.cli.output.result_files import pressing_on, write_table
from mlnlab.errors import ArgumentError, printable
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd


def refuse_unknown_parts(figure: str, parts: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a part that a reproduction does not have."""
    for part in parts:
        if part not in known:
            hint = did_you_mean(part, known) or "."
            raise ArgumentError(f"{figure} has no part {part:.60}{hint} There are: {', '.join(known)}.")


def show_table(part: str, table: pd.DataFrame, folder: Path, problems: list[str]) -> None:
    """Write a table and print it."""
    with pressing_on(problems):
        write_table(folder / f"{part}.csv", table)
    shown = table.astype(object).where(table.notna(), "")
    print("\n".join(map(printable, shown.to_string(index=False, float_format="{:,.4g}".format).splitlines())))
