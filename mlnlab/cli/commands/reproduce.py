"""``mlnlab reproduce``: a published figure made anew, piece by piece, with what is at hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import ArgumentError, printable

if TYPE_CHECKING:
    import argparse

    from mlnlab.experiments.figure_4_1 import Figure, Piece

_MANUAL = """
figure-4.1 is that of Lowd's thesis: how good seven weight learners' models are on a
fold that they do not see, by CLL and by AUC, against the time that they learn.

Each learner on each fold is a piece of work, kept in the folder as it comes; a second
start goes on where the first one stopped, in the middle of a run too, and one with more
--seconds continues what fewer have learned. The folder holds a picture of all curves
(.svg, light or dark as its reader is; .png of either where there is a Chromium), figures
to zoom into (.html), and scores.csv, of the atoms of all folds together. The table has
the thesis's numbers beside ours where it tells them.

The data: cora and webkb need their files (--files names the folder that has the
folders cora and webkb-forclift); web is a synthetic web of WebKB's published size,
citations and small-web are small and come with mlnlab.

With --tuning, learners that need a rate have it chosen on a validation fold, for CLL
and for AUC, as in the thesis; without, their rates adapt themselves.

condition-numbers are those of section 4.3.1, the largest ratio of two formulas'
variances at weights of zero, beside ours, and with each cause of the difference switched
off; of all options it reads --folder, --data and --files (a minute or so for cora)."""

_EXAMPLES = """
  mlnlab reproduce figure-4.1 --folder results --data small-web --seconds 2
  mlnlab reproduce figure-4.1 --folder results --data cora --files data --seconds 600
  mlnlab reproduce figure-4.1 --folder results --data cora --files data --fold cora_fold1
  mlnlab reproduce condition-numbers --folder results --data cora --files data"""

_CONDITIONS = "condition-numbers"
_FIGURES = ("figure-4.1", _CONDITIONS)


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "reproduce", summary="make a published figure anew", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("figure", choices=_FIGURES, help="which figure")
    parser.add_argument("--folder", required=True, metavar="DIR", help="where results are kept")
    parser.add_argument("--data", default="small-web", metavar="NAME", help="which data (default: small-web)")
    parser.add_argument("--files", metavar="DIR", help="where data files are")
    parser.add_argument("--seconds", type=float, default=60.0, help="of learning, for each learner and fold")
    parser.add_argument("--tuning", type=float, default=0.0, metavar="SECONDS", help="for each rate tried")
    parser.add_argument("--samples", type=int, default=1000, help="of MC-SAT on the fold held out")
    parser.add_argument(
        "--spacing", type=float, default=1.5, help="how many times as long learning takes from score to score"
    )
    parser.add_argument("--learner", action="append", metavar="NAME", help="only this one (repeatable)")
    parser.add_argument("--fold", action="append", metavar="NAME", help="test on this one only (repeatable)")
    parser.add_argument("--deviation", type=float, default=2.0, help="of the Gaussian prior (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Make the pieces, tell of each, and draw."""
    if arguments.figure == _CONDITIONS:
        return _condition_numbers(arguments)
    from mlnlab.experiments.figure_4_1 import LEARNERS, Settings, figure, pieces
    from mlnlab.experiments.figure_4_1_data import TASKS

    _check(arguments)
    task = TASKS[arguments.data](Path(arguments.files) if arguments.files else None)
    settings = Settings(
        seconds=arguments.seconds, tuning_seconds=arguments.tuning, samples=arguments.samples,
        burn_in=max(1, arguments.samples // 10), spacing=arguments.spacing, deviation=arguments.deviation,
        seed=arguments.seed,
    )  # fmt: skip
    folder, found = Path(arguments.folder), []
    for piece, reused in pieces(task, settings, folder, arguments.learner or LEARNERS, arguments.fold or ()):
        print(printable(_told(piece, reused)), file=sys.stderr, flush=True)
        found.append(piece)
        if not reused:
            _draw(figure(task.name, found), folder)
    _draw(figure(task.name, found), folder, finished=True)
    table = figure(task.name, found).to_frame().to_string(index=False, float_format="{:.4f}".format)
    print("\n".join(printable(line) for line in table.splitlines()))
    return 1 if all(piece.problem for piece in found) else 0


def _condition_numbers(arguments: argparse.Namespace) -> int:
    """Print the table, and keep it in the folder."""
    from mlnlab.experiments.condition_numbers import TABLES
    from mlnlab.logic.suggestions import did_you_mean

    if arguments.data not in TABLES:
        hint = did_you_mean(arguments.data, TABLES) or "."
        raise ArgumentError(
            f"Condition numbers are not known of {arguments.data:.60}{hint} There are: {', '.join(TABLES)}."
        )
    table = TABLES[arguments.data](Path(arguments.files) if arguments.files else None)
    folder = Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / f"{arguments.data}-condition-numbers.csv", index=False)
    print(printable(table.to_string(index=False, float_format="{:,.4g}".format)))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise a sentence for what makes no sense."""
    from mlnlab.experiments.figure_4_1 import LEARNERS
    from mlnlab.experiments.figure_4_1_data import TASKS
    from mlnlab.logic.suggestions import did_you_mean

    if not (arguments.seconds > 0 and arguments.tuning >= 0 and arguments.samples > 0):
        raise ArgumentError("--seconds and --samples are above 0, and --tuning is 0 or more.")
    if not arguments.spacing > 1:
        raise ArgumentError("--spacing is above 1: each score comes so many times later than the one before.")
    for given, known, what in (
        ([arguments.data], TASKS, "data"), (arguments.learner or [], LEARNERS, "learner"),
    ):  # fmt: skip
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) or "."
                raise ArgumentError(f"There is no {what} {name:.60}{hint} There are: {', '.join(known)}.")


def _told(piece: Piece, reused: bool) -> str:
    if piece.problem:
        return f"{piece.learner} on {piece.fold}: {piece.problem}"
    last, by_auc = piece.by_cll[-1], piece.by_auc[-1]
    where = " (kept from before)" if reused else ""
    return (
        f"{piece.learner} on {piece.fold}: {last.iteration:,} iterations in {last.seconds:.1f} s, "
        f"CLL {last.of('all').cll[0]:.4f}, AUC {by_auc.of('all').auc:.4f}{where}"
    )


def _draw(found: Figure, folder: Path, *, finished: bool = False) -> None:
    """Write pictures and the table; what is there is replaced. Browsers are started at the end alone."""
    from mlnlab.display.figure_4_1 import figure_4_1_scene
    from mlnlab.display.plotting import plot
    from mlnlab.display.scene.export import ExportError, to_png, to_svg
    from mlnlab.learning.tuning import MEASURES

    if not found.judged:
        return
    scene = figure_4_1_scene(found)
    to_svg(scene, folder / f"{found.task}.svg")
    found.to_frame().to_csv(folder / f"{found.task}-scores.csv", index=False)
    if not finished:
        return
    for of in found.judged:
        for measure in MEASURES:
            drawn = plot(found.curve(measure, of))
            drawn.update_xaxes(type="log")
            drawn.write_html(folder / f"{found.task}-{measure}-{of}.html", include_plotlyjs="directory")
    for name, dark in (("light", False), ("dark", True)):
        try:
            to_png(scene, folder / f"{found.task}-{name}.png", dark=dark)
        except ExportError as problem:
            print(printable(str(problem)), file=sys.stderr, flush=True)
            return
