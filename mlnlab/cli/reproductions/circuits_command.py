"""``mlnlab reproduce circuits``: learned circuits and networks, beside the thesis's chapter 5."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.output.result_files import pressing_on, write_plot, write_table
from mlnlab.cli.reproductions.reproduced_parts import refuse_unknown_parts, show_table
from mlnlab.errors import ArgumentError, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import pandas as pd

    from mlnlab.experiments.circuits.answered_queries import AnsweredQueries
    from mlnlab.experiments.circuits.benchmark_tables import Benchmark
    from mlnlab.experiments.circuits.learned_models import LearnedModel, Work

MANUAL = """
circuits is chapter 5 of Lowd's thesis: --part table-5.3 has the sizes of the data,
table-5.4 the circuits and networks that are learned, table-5.5 and figure-5.3 the
answers to queries by these models (all parts unless some are named). The data are kdd,
msweb and eachmovie (--files names the folder that has the folder debd), and small, which
is made here. Learners are greedy, quick (AC-Greedy, AC-Quick) and network (trees with a
factor for each parameter), --learner names some. Prices are those that the thesis found
best; --k-e and --k-p (for networks the factor) change them for the one learner that is
named, and --tune chooses them on a tenth of the training rows. --queries says how many
queries are asked, and Gibbs sampling answers as many of them as begin in --seconds;
--way names ways to answer (greedy, quick, fast, medium, slow, "very slow"). Networks are
compiled from scratch within --most-edges. Each piece is kept as it comes, and
a circuit goes on where it was stopped."""

EXAMPLES = """
  mlnlab reproduce circuits --folder results --data small --queries 20 --way quick --way fast
  mlnlab reproduce circuits --folder results --files data --data msweb --part table-5.4
  mlnlab reproduce circuits --folder results --files data --data kdd --learner quick --k-e 0.02 --k-p 0"""

PARTS = ("table-5.3", "table-5.4", "table-5.5", "figure-5.3")
_INTERRUPTED = 130


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are this chapter's alone."""
    own = parser.add_argument_group("of circuits (parts are table-5.3 to figure-5.3)")
    own.add_argument("--k-e", type=float, metavar="PRICE", help="price of an edge")
    own.add_argument(
        "--k-p", type=float, metavar="PRICE", help="price of a parameter; of networks the factor"
    )
    own.add_argument("--tune", action="store_true",
                     help="choose prices on a tenth of the training rows (hours, of large data)")  # fmt: skip
    own.add_argument("--queries", type=int, default=1000, metavar="N", help="queries of each kind")
    own.add_argument("--way", action="append", metavar="NAME", help="how queries are answered (repeatable)")
    own.add_argument("--most-edges", type=int, default=500_000, metavar="N",
                     help="edges of a network that is compiled (default: 500000)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Make the parts asked for; an interrupt keeps finished pieces."""
    from mlnlab.experiments.circuits.benchmark_tables import DATASETS, benchmark, size_table

    parts = arguments.part or PARTS
    refuse_unknown_parts("circuits", parts, PARTS)
    folder, files = Path(arguments.folder), Path(arguments.files) if arguments.files else None
    names = [arguments.data] if arguments.data else [name for name in DATASETS if files or name == "small"]
    sets = [benchmark(name, files) for name in names]
    problems: list[str] = []
    try:
        if "table-5.3" in parts:
            show_table("table-5.3", size_table(sets), folder, problems)
        if set(parts) - {"table-5.3"}:
            _learn_and_ask(arguments, parts, sets, folder, problems)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 1 if problems else 0


def _learn_and_ask(
    arguments: argparse.Namespace, parts: Sequence[str], sets: Sequence[Benchmark], folder: Path,
    problems: list[str],
) -> None:  # fmt: skip
    """Learn the models, and ask them where queries are wanted."""
    from mlnlab.experiments.circuits.answered_queries import answer_queries
    from mlnlab.experiments.circuits.circuit_tables import figure_frame, model_table, time_table
    from mlnlab.experiments.circuits.learned_models import models

    learned: list[LearnedModel] = []
    answers: list[AnsweredQueries] = []
    try:
        for data in sets:
            works = _works(arguments, data)
            for model, kept in models(data, works, folder / "circuits", arguments.most_edges):
                _tell(_describe_model(model), kept)
                learned.append(model)
            if {"table-5.5", "figure-5.3"} & set(parts):
                ways = arguments.way or _ways(works)
                for one, kept in answer_queries(
                    data, works, ways, folder / "circuits", number=arguments.queries,
                    seconds=arguments.seconds, seed=arguments.seed,
                ):  # fmt: skip
                    _tell(_describe_answers(one), kept)
                    answers.append(one)
    finally:
        if "table-5.4" in parts:
            show_table("table-5.4", model_table(learned), folder, problems)
        if "table-5.5" in parts:
            show_table("table-5.5", time_table(answers), folder, problems)
        if "figure-5.3" in parts:
            _draw(figure_frame(answers), folder, problems)


def _works(arguments: argparse.Namespace, data: Benchmark) -> list[Work]:
    from dataclasses import replace

    from mlnlab.experiments.circuits.learned_models import LEARNERS, thesis_work, tune

    learners = arguments.learner or LEARNERS
    prices = {name: value for name in ("k_e", "k_p") if (value := getattr(arguments, name)) is not None}
    if prices and len(learners) != 1:
        raise ArgumentError("--k-e and --k-p are prices of one learner: name it with --learner.")
    if arguments.tune:
        if prices:
            raise ArgumentError("--tune chooses the prices: leave out --k-e and --k-p.")
        return [tune(data, learner) for learner in learners]
    return [replace(thesis_work(data.name, learner), **prices) for learner in learners]


def _ways(works: Sequence[Work]) -> list[str]:
    from mlnlab.experiments.circuits.answered_queries import WAYS
    from mlnlab.experiments.circuits.conditional_queries import GIBBS

    learners = {work.learner for work in works}
    return [way for way in WAYS if ("network" if way in GIBBS else way) in learners]


def _tell(line: str, kept: bool) -> None:
    print(printable(f"{line}{' (kept from before)' * kept}"), file=sys.stderr, flush=True)


def _describe_model(model: LearnedModel) -> str:
    return (
        f"{model.dataset}, {model.learner}, {model.k_e:g}, {model.k_p:g}: log-likelihood {model.test:.4f}, "
        f"{model.edges:,} edges, {model.leaves:,} leaves, compiled {model.compiled}, {model.seconds:.1f} s"
    )


def _describe_answers(one: AnsweredQueries) -> str:
    return (
        f"{one.dataset}, {one.way}, {one.asked:.0%} asked, {one.given:.0%} given: {one.mean:.4f} ± "
        f"{one.error:.4f}, {one.queries:,} queries of {one.milliseconds:.3g} ms"
    )


def _draw(points: pd.DataFrame, folder: Path, problems: list[str]) -> None:
    """Write the figure of each data set as a picture, as a page to zoom into, and its points as a table."""
    from mlnlab.display.chart.figures import chart_figure
    from mlnlab.display.circuits.query_curves import query_chart
    from mlnlab.display.scene.export import to_svg

    with pressing_on(problems):
        write_table(folder / "figure-5.3.csv", points)
        for dataset in dict.fromkeys(points["dataset"] if len(points) else ()):
            chart = query_chart(points, dataset)
            scene = chart.scene()
            if scene is not None:
                to_svg(scene, folder / f"figure-5.3-{dataset}.svg")
                write_plot(folder / f"figure-5.3-{dataset}.html", chart_figure(chart))
                print(printable(str(folder / f"figure-5.3-{dataset}.svg")))
