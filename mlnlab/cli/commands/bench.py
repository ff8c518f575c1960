"""``mlnlab bench``: how fast mlnlab is here, beside the same loops in C."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mlnlab.experiments.bench.measurement import Measurement

_MANUAL = """
Measures the compiled loops of mlnlab and, where there is gcc or cc, the same loops in
C (-O3 -march=native) by turns in one run. The ratio is our speed over that of C: 1 is
the same, 2 is twice as fast as C. It hardly depends on the machine; the speeds do,
and so they are only worth comparing with others of the same machine.

The C loop of Gibbs sampling draws the same random numbers and must follow the same
trajectory bit for bit. That of enumeration is written as one would: it looks at each
world by itself; the sums must agree to nine digits. If they do not, the exit code
is 1. Without a C compiler only our own speeds are shown.

With --counting the rival is DuckDB: how long true groundings take to count in random
relations, as these grow and as their arguments become more. Both start without
indexes of ours and with tables loaded in DuckDB; if their counts differ, the exit code
is 1. In a notebook, ml.plot(ml.counting_growth()) draws the curves."""

_EXAMPLES = """
  mlnlab bench             half a minute
  mlnlab bench --quick     a few seconds, less precise
  mlnlab bench --json      for a program
  mlnlab bench --counting  counting beside DuckDB, up to a million true atoms"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "bench", summary="speed on this machine, beside C", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("--quick", action="store_true", help="measure less, in a few seconds")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--counting", action="store_true", help="measure counting, beside DuckDB")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and fail where the rival comes to other results."""
    if arguments.counting:
        return _run_counting(arguments)
    from mlnlab.experiments.bench import measurements
    from mlnlab.experiments.bench.in_c import rival
    from mlnlab.experiments.bench.measurement import FULL, QUICK

    found = []
    with rival() as other:
        for measurement in measurements(QUICK if arguments.quick else FULL, other.functions):
            print(f"measured: {measurement.name}", file=sys.stderr, flush=True)
            found.append(measurement)
    words = printable(other.words)
    print(_as_json(found, words) if arguments.json else _as_table(found, words))
    differing = [measurement.name for measurement in found if measurement.same_results is False]
    for name in differing:
        print(f"mlnlab bench: {name}: C comes to other results than mlnlab.", file=sys.stderr)
    return 1 if differing else 0


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


def _as_table(found: Sequence[Measurement], rival: str) -> str:
    width = max(len(measurement.name) for measurement in found)
    beside = any(measurement.in_c is not None for measurement in found)
    heading = f"{'':<{width}}  {'mlnlab':>8}" + (f"  {'C':>8}  {'ratio':>6}" if beside else "")
    lines = [heading]
    for measurement in found:
        line = f"{measurement.name:<{width}}  {measurement.ours:8.1f}"
        if measurement.in_c is not None and measurement.ratio is not None:
            line += f"  {measurement.in_c:8.1f}  {measurement.ratio:6.2f}"
        lines.append(f"{line}  million {measurement.unit} a second")
    return "\n".join([*lines, rival])


def _as_json(found: Sequence[Measurement], rival: str) -> str:
    records = [asdict(measurement) for measurement in found]
    return json.dumps({"machine": _machine(), "compiler": rival, "measurements": records}, indent=2)
