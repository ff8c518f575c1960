"""``mlnlab reproduce counting``: weights learned by approximate counts, beside the paper's tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.output.result_files import pressing_on, write_plot, write_table
from mlnlab.cli.reproductions.reproduced_parts import refuse_unknown_parts, show_table
from mlnlab.errors import ArgumentError, printable
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse

    from mlnlab.experiments.approximate_counting.counting_costs import CostPoint
    from mlnlab.experiments.approximate_counting.counting_pieces import Piece, Settings, Work
    from mlnlab.experiments.approximate_counting.counting_tables import CountingPieces

MANUAL = """
counting is Sarkhel et al. (2016), "Scalable training of Markov logic networks using
approximate counting": --part table-1 measures how time and memory grow with atoms,
formulas and i, beside the printed complexities; table-2 has the sizes of the data;
table-3 the CLL of cd, vp and pll on five folds; table-4 that of cd by i; figure-2 and
figure-3 show convergence and CLL over sampling fractions and over time (all parts unless
some are named). The data are smoker, webkb, protein (generated) and er (Cora merged,
without canopies; --files names the folder that has the folder cora). A learner on a fold
stops after --seconds or at --megabytes (the paper: 345600 and 8192), and its weights are
judged by --samples Gibbs samples (the paper: 100000). --i 0 counts exactly; on a busy machine --clock
processor counts the processor's seconds. Each piece is
kept as it comes; other settings have pieces of their own."""

EXAMPLES = """
  mlnlab reproduce counting --folder results --part table-3 --data smoker --samples 100000
  mlnlab reproduce counting --folder results --part figure-2 --data protein --k 0.1 --k 1
  mlnlab reproduce counting --folder results --part table-4 --data er --files data \\
    --i 2 --fold 1 --seconds 3600 --megabytes 4096"""

PARTS = ("table-1", "table-2", "table-3", "table-4", "figure-2", "figure-3")
_FRACTIONS = (0.05, 0.1, 0.3, 0.5, 1.0)
_INTERRUPTED = 130


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are this paper's alone."""
    own = parser.add_argument_group("of counting")
    own.add_argument("--part", action="append", metavar="NAME", help="only this table or figure (repeatable)")
    own.add_argument("--i", action="append", type=int, metavar="I",
                     help="i-bound, 0 for exact counts (repeatable; usually 1, 2 and 3)")  # fmt: skip
    own.add_argument("--k", action="append", type=float, metavar="FRACTION",
                     help="sampling fraction of the figures (repeatable)")  # fmt: skip
    own.add_argument("--draws", type=int, default=1000, metavar="N",
                     help="samples or flips of an iteration (default: 1000)")  # fmt: skip
    own.add_argument("--steps", type=int, default=10**6, metavar="M",
                     help="steps of cd and vp (default: until weights settle)")  # fmt: skip
    own.add_argument("--settled", type=float, default=0.05, metavar="CHANGE",
                     help="|Δw|, averaged over five steps, at which weights have converged")  # fmt: skip
    own.add_argument("--megabytes", type=float, default=inf, metavar="MB",
                     help="memory for learning (default: any)")  # fmt: skip
    own.add_argument("--constants", action="append", type=int, metavar="D",
                     help="constants of a measurement of table-1 (repeatable)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Make the parts asked for one after the other; an interrupt keeps finished pieces."""
    from mlnlab.experiments.approximate_counting.counting_tables import DATASETS

    parts = arguments.part or PARTS
    refuse_unknown_parts("counting", parts, PARTS)
    if arguments.data is not None and arguments.data not in DATASETS:
        hint = did_you_mean(arguments.data, DATASETS) or "."
        raise ArgumentError(f"There is no data {arguments.data:.60}{hint} There are: {', '.join(DATASETS)}.")
    problems: list[str] = []
    try:
        for part in PARTS:
            if part in parts:
                print(f"{part}:")
                _OWN.get(part, _learn)(part, arguments, problems)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 1 if problems else 0


def _costs(part: str, arguments: argparse.Namespace, problems: list[str]) -> None:
    """Measure Table 1."""
    from mlnlab.experiments.approximate_counting.counting_costs import (
        Growth,
        costs_frame,
        measure_costs,
        slopes,
    )

    growth = Growth(draws=arguments.draws)
    if arguments.constants:
        growth = Growth(tuple(sorted(arguments.constants)), draws=arguments.draws)
    methods, points = _methods(arguments), []
    folder = Path(arguments.folder)
    try:
        for point, kept in measure_costs(growth, methods, folder / "counting" / part, arguments.seed):
            print(printable(_describe_cost(point, kept)), file=sys.stderr, flush=True)
            points.append(point)
    finally:
        with pressing_on(problems):
            write_table(folder / f"{part}-points.csv", costs_frame(points))
        show_table(part, slopes(points), folder, problems)


def _describe_cost(point: CostPoint, kept: bool) -> str:
    return (
        f"{point.method}, {point.atoms:,} atoms, {point.formulas} formulas, i = {point.i}: "
        f"{point.seconds:.3f} s, {point.megabytes:.1f} MB{' (kept from before)' * kept}"
    )


def _sizes(part: str, arguments: argparse.Namespace, problems: list[str]) -> None:
    """Count Table 2."""
    from mlnlab.experiments.approximate_counting.benchmark_sets import benchmark
    from mlnlab.experiments.approximate_counting.counting_tables import size_table

    sets = (benchmark(name, _files(arguments), arguments.seed) for name in _datasets(arguments))
    show_table(part, size_table(sets), Path(arguments.folder), problems)


def _learn(part: str, arguments: argparse.Namespace, problems: list[str]) -> None:
    """Learn the pieces of a table or a figure, and write all that are done."""
    from mlnlab.experiments.approximate_counting.benchmark_sets import benchmark
    from mlnlab.experiments.approximate_counting.counting_pieces import pieces
    from mlnlab.experiments.approximate_counting.counting_tables import CountingPieces

    folder, found = Path(arguments.folder), []
    settings = _settings(part, arguments)
    try:
        for name in _datasets(arguments):
            chosen = benchmark(name, _files(arguments), arguments.seed)
            for one, kept in pieces(chosen, _works(part, arguments), settings, folder / "counting"):
                print(printable(_describe_piece(one, kept)), file=sys.stderr, flush=True)
                found.append(one)
    finally:
        done = CountingPieces(tuple(found))
        with pressing_on(problems):
            write_table(folder / f"{part}-pieces.csv", done.to_frame())
        if part.startswith("figure"):
            with pressing_on(problems):
                _draw(part, done, folder)
        else:
            show_table(part, done.cll_table() if part == "table-3" else done.bound_table(), folder, problems)


def _works(part: str, arguments: argparse.Namespace) -> Sequence[Work]:
    from mlnlab.experiments.approximate_counting.benchmark_sets import FOLDS
    from mlnlab.experiments.approximate_counting.counting_pieces import list_works

    bounds, folds = arguments.i or (1, 2, 3), list(_folds(arguments, FOLDS))
    if part == "table-3":
        return list_works(_methods(arguments), bounds, folds)
    if part == "table-4":
        return list_works(["cd"], bounds, folds)
    return list_works(["cd"], bounds, folds[:1], arguments.k or _FRACTIONS)


def _folds(arguments: argparse.Namespace, number: int) -> Iterator[int]:
    """Yield the folds, which have the names 1 to 5 outside."""
    for name in arguments.fold or map(str, range(1, number + 1)):
        if not name.isdecimal() or not 1 <= int(name) <= number:
            raise ArgumentError(f"--fold is a number from 1 to {number}, not {name:.60}.")
        yield int(name) - 1


def _settings(part: str, arguments: argparse.Namespace) -> Settings:
    from mlnlab.experiments.approximate_counting.counting_pieces import Settings

    return Settings(
        draws=arguments.draws, samples=arguments.samples, seconds=arguments.seconds,
        megabytes=arguments.megabytes, steps=arguments.steps, settled=arguments.settled, seed=arguments.seed,
        spacing=2.0 if part.startswith("figure") else inf, clock=arguments.clock,
    )  # fmt: skip


def _methods(arguments: argparse.Namespace) -> Sequence[str]:
    from mlnlab.experiments.approximate_counting.counting_pieces import METHODS

    return arguments.learner or METHODS


def _datasets(arguments: argparse.Namespace) -> Sequence[str]:
    from mlnlab.experiments.approximate_counting.counting_tables import DATASETS

    return [arguments.data] if arguments.data else DATASETS


def _files(arguments: argparse.Namespace) -> Path | None:
    return Path(arguments.files) if arguments.files else None


def _describe_piece(piece: Piece, kept: bool) -> str:
    what = f"{piece.method} i={piece.i} on {piece.dataset}, fold {piece.fold + 1}, k={piece.fraction:g}"
    if piece.problem:
        return f"{what}: {piece.problem}"
    return (
        f"{what}: CLL {piece.cll:.4f}, {len(piece.times) - 1} steps in {piece.times[-1]:.1f} s, "
        f"{piece.peak_megabytes:,.0f} MB, {piece.ended}{' (kept from before)' * kept}"
    )


def _draw(part: str, done: CountingPieces, folder: Path) -> None:
    """Write a figure as a picture, and as a page to zoom into."""
    from mlnlab.display.chart.figures import chart_figure
    from mlnlab.display.learning.studies.counting_curves import counting_chart
    from mlnlab.display.scene.export import to_svg

    chart = counting_chart(done, part)
    scene = chart.scene()
    if scene is None:
        print(chart.empty)
        return
    to_svg(scene, folder / f"{part}.svg")
    write_plot(folder / f"{part}.html", chart_figure(chart))
    print(printable(str(folder / f"{part}.svg")))


_OWN = {"table-1": _costs, "table-2": _sizes}
