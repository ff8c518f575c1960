"""``mlnlab reproduce table-2``: six systems on IMDB, UW-CSE and Cora, beside the paper's numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.output.result_files import pressing_on, write_table
from mlnlab.errors import ArgumentError, printable
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from mlnlab.experiments.folds.cross_validation import Progress
    from mlnlab.experiments.reproduce.table_2 import Settings
    from mlnlab.experiments.structures.structure_results import StructureEvaluation
    from mlnlab.steps.step import State, Step

MANUAL = """
table-2 is that of Kok and Domingos (ICML 2009): LHL, its variants, BUSL and MSL, which
learn from all folds but one and predict each predicate of that one from all others, with
the paper's parameters. It reads --folder, --files (which has the folders imdb, uw-cse and
cora), --data (imdb, uw-cse or cora; all three unless one is named), --system, --fold,
--seed and its switches; what was learned on a fold and what it reached there is kept as
it comes. Probabilities are exact where a junction tree is small enough, and sampled
elsewhere; --testing exact=False samples always. AUC and CLL are over all atoms of the
test folds together, as the paper's are; "by fold" is the mean of the folds. Tables (.csv,
of the whole, predicate by predicate and fold by fold) and precision-recall curves (.svg)
are written for each data set; other switches have files of their own.

The system lhl has unit clauses from the start, and a clause has to gain more than its
price; lhl-printed begins empty and keeps what improves, as the paper says. lhl-apart is
lhl without clauses that hold two literals of a predicate that is predicted. lhl-pll has
lhl's clauses with weights for which each atom counts the same, not each predicate.
lhl-chosen is lhl with weights whose learner and prior were chosen by CLL on the training
folds, each left out in turn. units has a unit clause for each predicate and no structure,
which shows what structure adds.

busl and msl have the paper's price and least weight, and two rows each: with dangling
clauses, and without (-nodangling); the better by AUC is the one that is reported, as in
the paper. --dangling kept and --dangling left-out run one of them. With --most-seconds
learning on a fold stops after so many seconds of the processor, and a second start with
more goes on from there. --switch undoes what section 4.4 names as a cause of worse
results: all-other-atoms asks for each atom given all others, one-by-one asks actor and
director (student and professor) separately, equalities keeps predicates as samePerson,
bias gives msl a declarative bias of ours."""

EXAMPLES = """
  mlnlab reproduce table-2 --folder results --files data --data imdb
  mlnlab reproduce table-2 --folder results --files data --data imdb --system lhl-chosen
  mlnlab reproduce table-2 --folder results --files data --data imdb \\
    --testing evidence=all-other-atoms --learning dangling=True"""

_INTERRUPTED = 130


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are this table's alone."""
    own = parser.add_argument_group("of table-2")
    own.add_argument("--system", action="append", metavar="NAME",
                     help="only this one (repeatable; usually units, lhl, lhl-liftgraph, busl,"
                          " msl)")  # fmt: skip
    own.add_argument("--switch", action="append", default=[], metavar="NAME",
                     help="all-other-atoms, bias, equalities or one-by-one (repeatable)")  # fmt: skip
    own.add_argument("--dangling", default="both", metavar="WAY",
                     help="clauses of busl and msl: both, kept or left-out (default: both)")  # fmt: skip
    own.add_argument("--most-seconds", type=float, metavar="SECONDS",
                     help="of the processor, for learning on a fold (default: any number)")  # fmt: skip
    for name, words in (
        ("learning", "an option of ml.learn_structure beside the paper's, as fraction=1.0"),
        ("weights", "learn the weights of the clauses again, as method=pll or deviation=1"),
        ("testing", "an option of ml.evaluate_structure, as evidence=all-other-atoms"),
    ):
        own.add_argument(f"--{name}", action="append", default=[], metavar="OPTION=VALUE",
                         help=f"{words} (repeatable)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Compute the table of each data set, report each result, and write and print the results so far."""
    from mlnlab.experiments.reproduce.table_2 import DATASETS, USUAL, make_table, refuse_wrong, table
    from mlnlab.experiments.structures.structure_results import StructureEvaluation
    from mlnlab.steps.runs.interrupted import Interrupted

    if not arguments.files:
        raise ArgumentError("--files names the folder that has the folders imdb, uw-cse and cora.")
    names = [arguments.data] if arguments.data else list(DATASETS)
    for name in names:
        if name not in DATASETS:
            hint = did_you_mean(name, DATASETS) or "."
            raise ArgumentError(f"There is no data {name:.60}{hint} There are: {', '.join(DATASETS)}.")
    systems, settings = arguments.system or USUAL, settings_of(arguments)
    refuse_wrong(systems, settings)
    folder, tables, code = Path(arguments.folder), [], 0
    problems: list[str] = []
    for name in names:
        dataset = DATASETS[name]
        try:
            found = make_table(dataset, Path(arguments.files), folder / name, systems, settings, [Told()])
        except Interrupted as stopped:
            known = stopped.results(StructureEvaluation)
            if known is None:
                raise
            found, code = known, _INTERRUPTED
        if found.validated.results:
            tables.append(table(dataset, found))
            with pressing_on(problems):
                _write(tables[-1], found, folder, _stem(name, arguments))
        if code:
            break
    _print(tables)
    return 1 if problems else code


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings that the arguments change."""
    from mlnlab.experiments.reproduce.table_2 import Settings

    return Settings(
        options_of(arguments.learning), options_of(arguments.testing), options_of(arguments.weights),
        tuple(arguments.fold or ()), arguments.seed, tuple(arguments.switch), arguments.dangling,
        inf if arguments.most_seconds is None else arguments.most_seconds,
    )  # fmt: skip


def options_of(words: Sequence[str]) -> dict[str, Any]:
    """Return the options of words like ``fraction=1.0``.

    >>> options_of(["fraction=1.0", "dangling=True", "method=gibbs", "sampled=None"])
    {'fraction': 1.0, 'dangling': True, 'method': 'gibbs', 'sampled': None}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise ArgumentError(f"Options are written as in fraction=1.0, not {word:.60}.")
        found[name.replace("-", "_")] = _value(value)
    return found


def _value(text: str) -> object:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _stem(dataset: str, arguments: argparse.Namespace) -> str:
    """Return the beginning of file names: the data set, and all settings changed."""
    given = [
        *(
            f"{kind}-{word}"
            for kind in ("learning", "weights", "testing", "switch")
            for word in getattr(arguments, kind)
        ),
        *([f"seed-{arguments.seed}"] if arguments.seed else []),
    ]
    return "-".join([dataset, *(re.sub(r"[^A-Za-z0-9.]+", "-", word) for word in given)])


class Told:
    """Prints finished results on stderr, as they come."""

    def on_step(self, step: Step[State]) -> None:
        """Print a system's result on a fold."""
        now: Progress = step.state  # type: ignore[assignment]  # what evaluate_structure yields
        one = now.result
        said = one.problem or (
            f"AUC {one.auc:.4f}, CLL {one.cll:.4f}, learned in {one.learning_seconds:.1f} s, tested in "
            f"{one.testing_seconds:.1f} s{' (kept from before)' if now.reused else ''}"
        )
        print(printable(f"{one.learner} on {one.fold}: {said}"), file=sys.stderr, flush=True)

    def on_end(self, last: Step[State]) -> None:
        """Say nothing more."""


def _write(rows: pd.DataFrame, found: StructureEvaluation, folder: Path, stem: str) -> None:
    """Write a data set's rows of the table, its other tables and its curves."""
    from mlnlab.display.scene.export import to_svg
    from mlnlab.display.structure.structure_evaluations import structure_evaluation_scene

    for name, frame in _frames(rows, found):
        write_table(folder / f"{stem}{name}.csv", frame)
    scene = structure_evaluation_scene(found)
    if scene is not None:
        to_svg(scene, folder / f"{stem}.svg")


def _frames(rows: pd.DataFrame, found: StructureEvaluation) -> Iterator[tuple[str, pd.DataFrame]]:
    import pandas as pd

    yield "", rows
    yield "-by-predicate", found.by_predicate()
    yield "-by-fold", found.to_frame()
    if len(found.systems) > 1:
        yield "-tests", pd.concat([found.tests("cll"), found.tests("auc")])


_SHOWN: Mapping[str, str] = {
    "dataset": "data", "system": "system", "folds": "folds", "auc": "AUC", "auc_error": "±",
    "paper_auc": "paper", "auc_by_fold": "by fold", "cll": "CLL", "cll_error": "± ", "paper_cll": "paper ",
    "cll_by_fold": "by fold ",
    "learning_minutes": "minutes", "paper_minutes": "paper's minutes",
    "reported": "reported",
}  # fmt: skip


def _print(tables: Sequence[pd.DataFrame]) -> None:
    """Print the table as the paper has it; the files have more columns."""
    import pandas as pd

    if not tables:
        return
    whole = pd.concat(tables)[list(_SHOWN)].rename(columns=dict(_SHOWN))
    shown = whole.astype(object).where(whole.notna(), "").to_string(index=False, float_format="{:.3f}".format)
    print("\n".join(printable(line) for line in shown.splitlines()))
