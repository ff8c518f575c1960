"""A million facts, read by mlnlab and, side by side in the same run, by the obvious loop over ``re.findall``.

Run it as a program for one honest figure in a fresh process: ``python tests/benchmarks/test_fact_reading.py``
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

FACTS = 1_000_000
ATOM = re.compile(rb"(\w+)\(([^)]*)\)")


def million_facts():
    """Half a million friendships and half a million employments between half a million people."""
    rng = random.Random(1)
    people = list(range(FACTS // 2))
    rng.shuffle(people)
    lines = []
    for person in people:
        lines.append(f"Friends(Person{person}, Person{rng.randrange(FACTS // 2)})\n")
        lines.append(f"WorksAt(Person{rng.randrange(FACTS // 2)},Company{rng.randrange(2000)})\n")
    return "".join(lines).encode()


def vocabulary():
    from mlnlab.logic.vocabulary import Predicate, Vocabulary

    result = Vocabulary().with_predicate(Predicate("Friends", ("person", "person")))
    return result.with_predicate(Predicate("WorksAt", ("person", "company")))


def read_by_pattern(source):
    """The rival: find all atoms, number the constants in dictionaries."""
    numbers, rows = {}, {}
    for name, arguments in ATOM.findall(source):
        row = [numbers.setdefault(word.strip(), len(numbers)) for word in arguments.split(b",")]
        rows.setdefault(name, []).append(row)
    return numbers, rows


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


@pytest.mark.benchmark
def test_a_million_facts():
    from mlnlab.kernels import fact_scan
    from mlnlab.syntax.facts import analyse_facts, format_facts

    fact_scan.warm_up()
    source, base = million_facts(), vocabulary()
    ours, rival = [], []
    for _ in range(3):  # in turn, so that a busy moment hits both
        ours.append(seconds(analyse_facts, source, base))
        rival.append(seconds(read_by_pattern, source))
    analysis, (numbers, rows) = ours[0][1], rival[0][1]
    writing, text = seconds(format_facts, analysis.relations, analysis.vocabulary)
    again, _ = seconds(analyse_facts, text, base)
    assert sum(map(len, analysis.vocabulary.types.values())) == len(numbers)
    assert len(analysis.relations["WorksAt"].true) == len({tuple(row) for row in rows[b"WorksAt"]})
    reading, by_pattern = (min(taken for taken, _ in runs) for runs in (ours, rival))
    print(
        f"\n{FACTS:,} facts, {len(source) / 1e6:.0f} MB: read {reading:.2f} s, re.findall {by_pattern:.2f} s,"
    )
    print(f"written {writing:.2f} s, and with all constants in braces read again {again:.2f} s")
    print("in fresh processes:", fresh_process(source, "ours"), "|", fresh_process(source, "pattern"))
    assert reading < by_pattern / 2


def fresh_process(source, which):
    """Return seconds and peak memory of one reading in a process that did nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.db"
        path.write_bytes(source)
        command = [sys.executable, __file__, which, str(path)]
        root = Path(__file__).resolve().parents[2]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout.strip()


def main(which, path):
    """Read one file and print what it took; importing numba and loading the compiled kernel included."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    base = vocabulary()
    if which == "ours":
        from mlnlab.syntax.facts import analyse_facts

        taken, _ = seconds(lambda: analyse_facts(Path(path).read_bytes(), base))
    else:
        taken, _ = seconds(lambda: read_by_pattern(Path(path).read_bytes()))
    print(f"{which} {taken:.2f} s ({time.process_time():.2f} s of processor in all), peak {peak_memory()}")


def peak_memory():
    """Return the peak of this process (Linux); getrusage would give the parent's, which is inherited."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return f"{found[0] / 1024:.0f} MB" if found else "unknown"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        for kind in ("ours", "ours", "pattern"):
            print(fresh_process(million_facts(), kind))
