"""``mlnlab bench``: how fast mlnlab is here, beside the same loops in C."""

from __future__ import annotations

import json
import platform
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import InputError, printable
from mlnlab.experiments.bench import PARTS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mlnlab.experiments.bench.end_to_end import EndToEnd
    from mlnlab.experiments.bench.measurement import Measurement

END_TO_END = "end-to-end"
_MANUAL = """
Measures the compiled loops of mlnlab and, where there is gcc or cc, the same loops in
C (-O3 -march=native) by turns in one run. The ratio is our speed over that of C: 1 is
the same, 2 is twice as fast as C. It hardly depends on the machine; the speeds do,
and so they are only worth comparing with others of the same machine.

The C loop of Gibbs sampling draws the same random numbers and must follow the same
trajectory bit for bit. That of enumeration is written as one would: it looks at each
world by itself; the sums must agree to nine digits. If they do not, the exit code
is 1. Without a C compiler only our own speeds are shown. Memory is that of the arrays
that a loop works on.

--only chooses parts. With --data FOLDER, a folder with Alchemy's inputs (smokers1000.mln,
imdb1-gen-learned.mln, uw1-gen-learned.mln and their .db files), whole questions follow:
samples of MC-SAT a second beside what Alchemy took, and seconds and peak memory of
grounding UW-CSE and all of IMDB, each in a process of its own.

With --counting the rival is DuckDB: how long true groundings take to count in random
relations, as these grow and as their arguments become more. Both start without
indexes of ours and with tables loaded in DuckDB; if their counts differ, the exit code
is 1. In a notebook, ml.plot(ml.counting_growth()) draws the curves."""

_EXAMPLES = """
  mlnlab bench             half a minute
  mlnlab bench --quick     a few seconds, less precise
  mlnlab bench --json      for a program
  mlnlab bench --only gibbs sample-sat
  mlnlab bench --only end-to-end --data alchemy-inputs
  mlnlab bench --counting  counting beside DuckDB, up to a million true atoms"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "bench", summary="speed on this machine, beside C", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("--quick", action="store_true", help="measure less, in a few seconds")
    parser.add_argument("--only", nargs="+", choices=(*PARTS, END_TO_END), help="measure these parts only")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="Alchemy's inputs, for whole questions")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--counting", action="store_true", help="measure counting, beside DuckDB")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and fail where the rival comes to other results."""
    if arguments.counting:
        return _run_counting(arguments)
    from mlnlab.experiments.bench import measurements
    from mlnlab.experiments.bench.in_c import Rival, rival
    from mlnlab.experiments.bench.measurement import FULL, QUICK

    only = arguments.only or (*PARTS, END_TO_END)
    loops = set(only) & set(PARTS)
    if not loops and arguments.data is None:
        raise InputError("Whole questions need data: name the folder with Alchemy's inputs by --data.")
    found = []
    with rival() if loops else nullcontext(Rival(None, "")) as other:
        for measurement in measurements(QUICK if arguments.quick else FULL, other.functions, only):
            print(f"measured: {measurement.name}", file=sys.stderr, flush=True)
            found.append(measurement)
    whole = _whole_questions(arguments.data) if END_TO_END in only and arguments.data else []
    words = printable(other.words)
    print(_as_json(found, words, whole) if arguments.json else _as_table(found, words, whole))
    differing = [measurement.name for measurement in found if measurement.same_results is False]
    for name in differing:
        print(f"mlnlab bench: {name}: C comes to other results than mlnlab.", file=sys.stderr)
    return 1 if differing else 0


def _whole_questions(folder: Path) -> list[EndToEnd]:
    """Measure questions from end to end."""
    from mlnlab.experiments.bench.end_to_end import measured

    found = []
    for one in measured(folder):
        print(f"measured: {one.name}", file=sys.stderr, flush=True)
        found.append(one)
    return found


def _run_counting(arguments: argparse.Namespace) -> int:
    """Measure counting beside DuckDB."""
    from mlnlab.experiments.bench.counting_growth import GrowthPoint, counting_growth

    def told(point: GrowthPoint) -> None:
        print(f"measured: {point.shape}, {point.tuples:,} true atoms", file=sys.stderr, flush=True)

    sizes = (1_000, 10_000) if arguments.quick else (1_000, 10_000, 100_000, 1_000_000)
    growth = counting_growth(sizes, rounds=1 if arguments.quick else 3, told=told)
    if arguments.json:
        print(
            json.dumps({"machine": _machine(), "measurements": [asdict(p) for p in growth.points]}, indent=2)
        )
    else:
        print(f"{'':<12}{'atoms':>10}{'arity':>7}{'mlnlab':>12}{'DuckDB':>12}{'ratio':>8}")
        for p in growth.points:
            times = f"{1e3 * p.planned:>9.3f} ms{1e3 * p.duckdb:>9.3f} ms{p.duckdb / p.planned:>8.1f}"
            print(f"{p.shape:<12}{p.tuples:>10,}{p.arity:>7}{times}")
    for point in growth.points:
        if not point.same:
            print(f"mlnlab bench: DuckDB counts {point.formula} otherwise than mlnlab.", file=sys.stderr)
    return 0 if growth.agree else 1


def _machine() -> dict[str, str]:
    return {"system": platform.platform(), "python": platform.python_version()}


def _as_table(found: Sequence[Measurement], rival: str, whole: Sequence[EndToEnd]) -> str:
    width = max((len(measurement.name) for measurement in found), default=0)
    beside = any(measurement.in_c is not None for measurement in found)
    heading = f"{'':<{width}}  {'mlnlab':>8}" + (f"  {'C':>8}  {'ratio':>6}" if beside else "")
    lines = [f"{heading}  {'memory':>10}"] if found else []
    for measurement in found:
        line = f"{measurement.name:<{width}}  {measurement.ours:8.1f}"
        if measurement.in_c is not None and measurement.ratio is not None:
            line += f"  {measurement.in_c:8.1f}  {measurement.ratio:6.2f}"
        line += f"  {measurement.memory / 1e6:7.2f} MB"
        lines.append(f"{line}  million {measurement.unit} a second")
    return "\n".join([*lines, *map(str, whole), *([rival] if found else [])])


def _as_json(found: Sequence[Measurement], rival: str, whole: Sequence[EndToEnd]) -> str:
    records = [asdict(measurement) for measurement in found]
    content = {"machine": _machine(), "compiler": rival, "measurements": records}
    questions = {"questions": [asdict(one) for one in whole]} if whole else {}
    return json.dumps({**content, **questions}, indent=2)
