"""``mlnlab reproduce table-1``: test likelihoods of weights learned in three ways, beside the paper's."""

from __future__ import annotations

import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.output.result_files import pressing_on, write_table
from mlnlab.errors import ArgumentError, printable
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from mlnlab.experiments.reproduce.table_1_results import LikelihoodTable, Result

MANUAL = """
table-1 is that of Van den Broeck, Meert and Davis (2013): exact log-likelihoods of a fold
held out, with weights by PSCG (all predicates as query), PLL and LWL. It reads --folder,
--files (which has the folders imdb, uw-cse and webkb-forclift), --data (imdb, uw-cse or
webkb; all three unless one is named), --learner, --fold, --seed, --seconds (of a learner
on a fold), --most-seconds (of busl and msl on a fold) and --structure; each result is
kept as it comes. Written are the table with the paper's rows (.csv), all results, the
rows that LWL does not win, seconds and the share of compiling beside the paper's, and
what did not compile, with the reason. The structures busl and msl are the paper's, of at
most four literals and three variables; with two, busl-pairs and msl-pairs, all are lifted.
The structure fifty is the paper's failure, theories of over fifty formulas, tried again:
what became of them is said in a sentence below the tables (with --structure fifty alone
that is all that is done). WebKB's files hold ten words for each fold, chosen before by
others; among these words are ranked by information gain, so that the ten best are all
that there are."""

EXAMPLES = """
  mlnlab reproduce table-1 --folder results --files data --data imdb --structure hand
  mlnlab reproduce table-1 --folder results --files data --learner pll --learner lwl
  mlnlab reproduce table-1 --folder results --files data --structure fifty --learner lwl"""

_INTERRUPTED = 130


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are this table's alone."""
    own = parser.add_argument_group("of table-1")
    own.add_argument("--structure", action="append", metavar="NAME",
                     help="hand, busl, msl, lhl, fifty, or with two variables busl-pairs, msl-pairs,"
                          " lhl-pairs (repeatable; usually all)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Compute and report each result, and write and print the tables of all results so far."""
    from mlnlab.experiments.reproduce.table_1 import STRUCTURES, results
    from mlnlab.experiments.reproduce.table_1_data import DATASETS
    from mlnlab.experiments.reproduce.table_1_learning import Settings
    from mlnlab.experiments.reproduce.table_1_results import LEARNERS, LikelihoodTable

    if not arguments.files:
        raise ArgumentError("--files names the folder that has the folders imdb, uw-cse and webkb-forclift.")
    names = [arguments.data] if arguments.data else list(DATASETS)
    for name in names:
        if name not in DATASETS:
            hint = did_you_mean(name, DATASETS) or "."
            raise ArgumentError(f"There is no data {name:.60}{hint} There are: {', '.join(DATASETS)}.")
    if not arguments.seconds > 0:
        raise ArgumentError("--seconds is above 0.")
    most = inf if arguments.most_seconds is None else arguments.most_seconds
    settings = Settings(seconds=arguments.seconds, seed=arguments.seed, structure_seconds=most)
    folder, found, code = Path(arguments.folder), [], 0
    try:
        for name in names:
            for one, kept in results(
                DATASETS[name], Path(arguments.files), folder / "table-1",
                arguments.structure or STRUCTURES, arguments.learner or LEARNERS,
                arguments.fold or (), settings,
            ):  # fmt: skip
                print(printable(_describe_result(one, kept)), file=sys.stderr, flush=True)
                found.append(one)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    table = LikelihoodTable(tuple(found))
    problems: list[str] = []
    if found:
        with pressing_on(problems):
            _write(table, folder, "-".join(["table-1", *([arguments.data] if arguments.data else [])]))
        _print(table)
    return 1 if problems else code


def _describe_result(one: Result, kept: bool) -> str:
    where = f"{one.dataset}, {one.structure}, {one.fold}, {one.learner}"
    said = one.problem or f"{one.log_likelihood:,.1f} in {one.learning_seconds:.1f} s"
    return f"{where}: {said}{' (kept from before)' if kept else ''}"


def _write(table: LikelihoodTable, folder: Path, stem: str) -> None:
    import pandas as pd

    from mlnlab.experiments.reproduce.table_1_results import make_published_table

    frames = {
        "": pd.concat([table.table(), make_published_table()]), "-results": table.to_frame(),
        "-exceptions": table.exceptions(), "-seconds": table.seconds(), "-problems": table.problems(),
    }  # fmt: skip
    for name, frame in frames.items():
        write_table(folder / f"{stem}{name}.csv", frame)


def _print(table: LikelihoodTable) -> None:
    for frame in (table.table(), table.seconds(), table.problems()):
        if len(frame):
            _print_frame(frame)
    notes = [table.failure()]
    if any(one.dataset == "webkb" for one in table.results):
        notes.append(
            "webkb: the files hold ten words for each fold, chosen before by others; the ten of highest"
            " information gain are taken from these, not from all words of the pages."
        )
    for note in filter(None, notes):
        print(printable(note))


def _print_frame(frame: pd.DataFrame) -> None:
    blank = frame.astype(object).where(frame.notna(), "")
    text = blank.to_string(index=False, float_format="{:,.2f}".format, max_colwidth=80)
    print("\n".join(map(printable, [*text.splitlines(), ""])))
