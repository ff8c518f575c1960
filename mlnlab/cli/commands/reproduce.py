"""Reproduce a published figure or table, piece by piece, with the data at hand: ``mlnlab reproduce``."""

from __future__ import annotations

import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.output.result_files import pressing_on, warnings_in_lines, write_plot, write_table
from mlnlab.cli.reproductions import (
    circuits_command,
    counting_command,
    figure_2_command,
    table_1_command,
    table_2_command,
)
from mlnlab.errors import ArgumentError, printable

if TYPE_CHECKING:
    import argparse

    from mlnlab.experiments.reproduce.figure_4_1 import Figure, Piece, Settings
    from mlnlab.experiments.reproduce.figure_4_1_switches import Switches

_MANUAL = """
figure-4.1 is that of Lowd's thesis: the quality of seven weight learners' models on a
held-out fold, by CLL and by AUC, against learning time.

The result of each learner on each fold is kept in the folder as soon as it is known; a
second start resumes where the first one stopped, even in the middle of a run, and one
with more --seconds continues shorter runs. The folder holds a picture of all curves
(.svg, light or dark as its reader prefers; .png of either where there is a Chromium),
figures to zoom into (.html), and scores.csv, of the atoms of all folds together. The table has
the thesis's numbers beside ours where it gives them.

The data: cora and webkb need their files (--files names the folder that has the
folders cora and webkb-forclift); web is a synthetic web of WebKB's published size,
citations and small-web are small and come with mlnlab.

On a busy machine, --clock processor counts seconds of the processor alone.

With --tuning, learners that need a rate have it chosen on a validation fold, for CLL
and for AUC, as in the thesis; without, their rates adapt themselves.

The switches are options of the learners, to see what makes a difference; each reaches
the learners that know it, and results with other switches are kept apart, by name
(cora-burn-in-20-scores.csv) and in what a second start finds. Formulas that reinforce
each other need chains with time to follow the weights: on WebKB see what --burn-in 20,
--largest-step 0.2 and a narrower prior, --deviation 0.3, change.

condition-numbers are those of section 4.3.1, the largest ratio of two formulas'
variances at weights of zero, beside ours, and with each cause of the difference switched
off; of all options it reads --folder, --data and --files (a minute or so for cora).
"""

_EXAMPLES = """
  mlnlab reproduce figure-4.1 --folder results --data small-web --seconds 2
  mlnlab reproduce figure-4.1 --folder results --data cora --files data --seconds 600
  mlnlab reproduce figure-4.1 --folder results --data cora --files data --fold cora_fold1
  mlnlab reproduce figure-4.1 --folder results --data small-web --seconds 2 --burn-in 20
  mlnlab reproduce condition-numbers --folder results --data cora --files data"""

# Switches: the option's name, its kind, and what is said of it.
_SWITCHES = (
    ("samples", int, "samples in each step of learning (usually 5)"),
    ("chains", int, "chains from which each step takes samples (usually 1)"),
    ("burn_in", int, "samples left out before those of each step (usually 0)"),
    ("begin", str, "the first world of each chain: data or random (usually data)"),
    ("rate", float, "rate of gradient descent (usually adapted, or tuned)"),
    ("averaged", str, "which weights of gradient descent are averaged: all, late or none"),
    ("damping", float, "the first λ of dn, scg and pscg (usually 1)"),
    ("least_variance", float, "least variance of a count in dn, scg and pscg"),
    ("largest_step", float, "largest change of a weight in a step of dn, scg and pscg (usually 2)"),
)
_FLAGS = {"samples": "--samples-per-step"}
_DEVIATION = 2.0

_CONDITIONS = "condition-numbers"
_TABLE = "table-2"
_OWN = {
    _TABLE: table_2_command,
    "figure-2": figure_2_command,
    "table-1": table_1_command,
    "counting": counting_command,
    "circuits": circuits_command,
}  # figures with a file of their own
_FIGURES = ("figure-4.1", _CONDITIONS, *_OWN)
_DATA = "small-web"


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "reproduce", summary="make a published figure or table again",
        manual=_MANUAL.rstrip() + "".join(f"\n{one.MANUAL}" for one in _OWN.values()),
        examples=_EXAMPLES + "".join(one.EXAMPLES for one in _OWN.values()),
    )  # fmt: skip
    parser.add_argument("figure", choices=_FIGURES, help="figure or table to reproduce")
    parser.add_argument("--folder", required=True, metavar="DIR", help="folder for the results")
    parser.add_argument("--data", metavar="NAME", help=f"data set (default: {_DATA}; all for tables)")
    parser.add_argument("--files", metavar="DIR", help="folder of the data files")
    parser.add_argument("--seconds", type=float, default=60.0, help="learning time for each learner and fold")
    parser.add_argument(
        "--clock", default="wall", metavar="NAME", help="clock for the seconds: wall (default) or processor"
    )
    parser.add_argument(
        "--tuning", type=float, default=0.0, metavar="SECONDS", help="time for each rate tried"
    )
    parser.add_argument("--samples", type=int, default=1000, help="samples of MC-SAT on the held-out fold")
    parser.add_argument(
        "--judging-burn-in", type=int, metavar="N", help="samples to discard before those (default: a tenth)"
    )
    parser.add_argument("--spacing", type=float, default=1.5, help="ratio of the times of successive scores")
    parser.add_argument("--learner", action="append", metavar="NAME", help="use only this one (repeatable)")
    parser.add_argument("--fold", action="append", metavar="NAME", help="test on this one only (repeatable)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers")
    switches = parser.add_argument_group("switches")
    switches.add_argument(
        "--deviation", type=float, default=_DEVIATION, help="deviation of the Gaussian prior (default: 2)"
    )
    switches.add_argument(
        "--canopy", type=float, metavar="COSINE", help="least similarity of the pairs of cora that are kept"
    )
    for name, kind, words in _SWITCHES:
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        switches.add_argument(flag, type=kind, dest=f"switch_{name}", metavar="VALUE", help=words)
    for one in _OWN.values():
        one.add_switches(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Try the folder, and make the figure or table in it."""
    from mlnlab.steps.safe_files import make_folder

    make_folder(arguments.folder)
    with warnings_in_lines():
        if arguments.figure in _OWN:
            code: int = _OWN[arguments.figure].run(arguments)
            return code
        return _run_here(arguments)


def _run_here(arguments: argparse.Namespace) -> int:
    """Reproduce a figure or study that has no command file of its own."""
    arguments.data = arguments.data or _DATA
    if arguments.figure == _CONDITIONS:
        return _condition_numbers(arguments)
    from mlnlab.experiments.reproduce.figure_4_1 import LEARNERS, figure, pieces
    from mlnlab.experiments.reproduce.figure_4_1_data import make_task

    _check(arguments)
    task = make_task(arguments.data, Path(arguments.files) if arguments.files else None, arguments.canopy)
    settings, stem = _settings(arguments), _stem(arguments)
    folder, found = Path(arguments.folder), []
    problems: list[str] = []
    for piece, reused in pieces(task, settings, folder, arguments.learner or LEARNERS, arguments.fold or ()):
        print(printable(_describe_piece(piece, reused)), file=sys.stderr, flush=True)
        found.append(piece)
        if not reused:
            with pressing_on(problems):
                _draw(figure(task.name, found), folder, stem)
    with pressing_on(problems):
        _draw(figure(task.name, found), folder, stem, finished=True)
    frame = figure(task.name, found).to_frame()
    shown = frame.astype(object).where(frame.notna(), "")  # blank where nothing is known
    table = shown.to_string(index=False, float_format="{:.4f}".format)
    print(printable(f"{stem}:"))
    print("\n".join(printable(line) for line in table.splitlines()))
    return 1 if problems or all(piece.problem for piece in found) else 0


def _switches(arguments: argparse.Namespace) -> Switches:
    """Return the options of learners that were given."""
    given = ((name, getattr(arguments, f"switch_{name}")) for name, _, _ in _SWITCHES)
    return tuple((name, value) for name, value in given if value is not None)


def _settings(arguments: argparse.Namespace) -> Settings:
    from mlnlab.experiments.reproduce.figure_4_1 import Settings

    burn_in = arguments.judging_burn_in
    return Settings(
        seconds=arguments.seconds, tuning_seconds=arguments.tuning, samples=arguments.samples,
        burn_in=max(1, arguments.samples // 10) if burn_in is None else burn_in, spacing=arguments.spacing,
        deviation=arguments.deviation, seed=arguments.seed, clock=arguments.clock,
        switches=_switches(arguments),
    )  # fmt: skip


def _stem(arguments: argparse.Namespace) -> str:
    """Return the beginning of file names: the data, and all settings changed."""
    from mlnlab.experiments.reproduce.figure_4_1_switches import in_words

    usual: Switches = (("deviation", _DEVIATION), ("canopy", None), ("judging_burn_in", None))
    given = tuple((name, getattr(arguments, name)) for name, _ in usual)
    own = tuple(pair for pair, before in zip(given, usual, strict=True) if pair != before)
    return "-".join(filter(None, (arguments.data, in_words((*own, *_switches(arguments))))))


def _condition_numbers(arguments: argparse.Namespace) -> int:
    """Print the table, and keep it in the folder."""
    from mlnlab.experiments.studies.condition_numbers import TABLES
    from mlnlab.logic.suggestions import did_you_mean

    if arguments.data not in TABLES:
        hint = did_you_mean(arguments.data, TABLES) or "."
        raise ArgumentError(
            f"There are no condition numbers for {arguments.data:.60}{hint} There are: {', '.join(TABLES)}."
        )
    table = TABLES[arguments.data](Path(arguments.files) if arguments.files else None)
    print(printable(table.to_string(index=False, float_format="{:,.4g}".format)))
    write_table(Path(arguments.folder) / f"{arguments.data}-condition-numbers.csv", table)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise an error for arguments that make no sense."""
    from mlnlab.experiments.reproduce.figure_4_1 import LEARNERS
    from mlnlab.experiments.reproduce.figure_4_1_data import TASKS
    from mlnlab.experiments.reproduce.figure_4_1_runs import CLOCKS
    from mlnlab.experiments.reproduce.figure_4_1_switches import refuse_wrong
    from mlnlab.logic.suggestions import did_you_mean

    if not (arguments.seconds > 0 and arguments.tuning >= 0 and arguments.samples > 0):
        raise ArgumentError("--seconds and --samples are above 0, and --tuning is 0 or more.")
    if not arguments.spacing > 1:
        raise ArgumentError("--spacing, the ratio of the times of successive scores, is above 1.")
    for given, known, what in (
        ([arguments.data], TASKS, "data"), ([arguments.clock], CLOCKS, "clock"),
        (arguments.learner or [], LEARNERS, "learner"),
    ):  # fmt: skip
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) or "."
                raise ArgumentError(f"There is no {what} {name:.60}{hint} There are: {', '.join(known)}.")
    if not (0 < arguments.deviation < inf and (arguments.judging_burn_in or 0) >= 0):
        raise ArgumentError("--deviation is a number above 0, and --judging-burn-in 0 or more.")
    if arguments.canopy is not None and not 0 <= arguments.canopy <= 1:
        raise ArgumentError("--canopy is a cosine, from 0 (all pairs are asked about) to 1.")
    refuse_wrong(_switches(arguments), arguments.learner or LEARNERS)


def _describe_piece(piece: Piece, reused: bool) -> str:
    if piece.problem:
        return f"{piece.learner} on {piece.fold}: {piece.problem}"
    last, by_auc = piece.by_cll[-1], piece.by_auc[-1]
    where = " (kept from before)" if reused else ""
    return (
        f"{piece.learner} on {piece.fold}: {last.iteration:,} iterations in {last.seconds:.1f} s, "
        f"CLL {last.of('all').cll[0]:.4f}, AUC {by_auc.of('all').auc:.4f}{where}"
    )


def _draw(found: Figure, folder: Path, stem: str, *, finished: bool = False) -> None:
    """Write pictures and the table, replacing old ones; start browsers only at the end."""
    from mlnlab.display.doors.plotting import plot
    from mlnlab.display.learning.studies.study_charts import figure_4_1_scene
    from mlnlab.display.scene.export import ExportError, to_png, to_svg
    from mlnlab.learning.ask.tuning import MEASURES

    if not found.judged:
        return
    scene = figure_4_1_scene(found)
    to_svg(scene, folder / f"{stem}.svg")
    write_table(folder / f"{stem}-scores.csv", found.to_frame())
    if not finished:
        return
    for of in found.judged:
        for measure in MEASURES:
            drawn = plot(found.curve(measure, of))
            drawn.update_xaxes(type="log")
            write_plot(folder / f"{stem}-{measure}-{of}.html", drawn)
    for name, dark in (("light", False), ("dark", True)):
        try:
            to_png(scene, folder / f"{stem}-{name}.png", dark=dark)
        except ExportError as problem:
            print(printable(str(problem)), file=sys.stderr, flush=True)
            return
