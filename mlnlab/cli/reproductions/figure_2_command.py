"""``mlnlab reproduce figure-2``: the time of lifted weight learning against the number of people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.output.result_files import pressing_on, write_plot, write_table
from mlnlab.errors import ArgumentError, printable

if TYPE_CHECKING:
    import argparse

    from mlnlab.experiments.reproduce.figure_2 import LiftedScaling, LiftedTiming

MANUAL = """
figure-2 is that of Van den Broeck, Meert and Davis (2013): the seconds of lifted weight
learning for friends and smokers, 100 to 30,000 people, and on to 1,000,000. It reads
--folder, --seed and --people (repeatable, instead of the usual numbers); each number is
measured once and kept. Its table (.csv) and its curves (.html) are written there."""

EXAMPLES = """
  mlnlab reproduce figure-2 --folder results
  mlnlab reproduce figure-2 --folder results --people 100 --people 30000"""


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are this figure's alone."""
    own = parser.add_argument_group("of figure-2")
    own.add_argument(
        "--people", action="append", type=int, metavar="N", help="number of people to measure (repeatable)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure each number of people, tell of it, and write the table and the curves."""
    from mlnlab.experiments.reproduce.figure_2 import BEYOND, MOST_PEOPLE, PEOPLE, LiftedScaling, timings

    people = arguments.people or [*PEOPLE, *BEYOND]
    if not all(1 <= number <= MOST_PEOPLE for number in people):
        raise ArgumentError(f"--people must be a number from 1 to {MOST_PEOPLE:,}.")
    folder, found = Path(arguments.folder), []
    problems: list[str] = []
    for one, kept in timings(people, folder / "figure-2", arguments.seed):
        print(printable(_describe_timing(one, kept)), file=sys.stderr, flush=True)
        found.append(one)
        with pressing_on(problems):
            _write(LiftedScaling(tuple(found)), folder)
    frame = LiftedScaling(tuple(found)).to_frame()
    names = ["people", "atoms", "compiling", "counting", "learning", "total", "processor", "steps", "gap"]
    shown = frame[names].to_string(index=False, float_format="{:,.3g}".format)
    print("\n".join(map(printable, shown.splitlines())))
    return 1 if problems else 0


def _describe_timing(one: LiftedTiming, kept: bool) -> str:
    from_before = " (kept from before)" if kept else ""
    return f"{one.people:,} people: {one.total:.2f} s, {one.steps} steps{from_before}"


def _write(found: LiftedScaling, folder: Path) -> None:
    from mlnlab.display.doors.plotting import plot

    write_table(folder / "figure-2.csv", found.to_frame())
    write_plot(folder / "figure-2.html", plot(found))
