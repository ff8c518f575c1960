"""A million facts in the ways in which people write them, read by the kernel and by its readable twin.

Run it as a program for honest figures in fresh processes:
``python tests/benchmarks/counting/test_fact_reading.py``
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

FACTS = 1_000_000
WAYS = {
    "bare": ("Friends(Person{0}, Person{1})", "WorksAt(Person{2},Company{3})"),
    "quoted": ('Friends("Person {0}", "Person {1}")', 'WorksAt("Person {2}","Company {3}")'),
    "soft": ("{4:.3f} Friends(Person{0}, Person{1})", "{4} WorksAt(Person{2},Company{3})"),
    "commented": ("Friends(Person{0}, Person{1}) // since {3}", "WorksAt(Person{2},Company{3})  // é"),
    "distinct": ("Friends(Person{0}, Other{0})", "WorksAt(Person{0},Company{0})"),
    "unclosed": ("Friends(Person{0}, Person{1}", "WorksAt(Person{2},Company{3}"),
    "full stops": ("Friends(Person{0}, Person{1}).", "WorksAt(Person{2},Company{3})."),
    "blanks": ("Friends(Person {0}, Person {1})", "WorksAt(Person {2},Company {3})"),
}
RIGHT = ("bare", "quoted", "soft", "commented", "distinct")


def million_facts(way):
    """Half a million friendships and half a million employments between half a million people."""
    rng = random.Random(1)
    people = list(range(FACTS // 2))
    rng.shuffle(people)
    lines = []
    for person in people:
        numbers = rng.randrange(FACTS // 2), rng.randrange(FACTS // 2), rng.randrange(2000), rng.random()
        lines += [line.format(person, *numbers) for line in WAYS[way]]
    return "\n".join(lines).encode()


def vocabulary():
    from mlnlab.logic.vocabulary import Predicate, Vocabulary

    result = Vocabulary().with_predicate(Predicate("Friends", ("person", "person")))
    return result.with_predicate(Predicate("WorksAt", ("person", "company")))


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def scan_all_by_pattern(source):
    """The first pass as the readable twins do it."""
    from mlnlab.syntax.facts.fact_text import blanked_by_pattern
    from mlnlab.syntax.facts.plain_facts import scan_by_pattern

    return scan_by_pattern(blanked_by_pattern(source)[0])


def scan_all_by_kernel(source):
    from mlnlab.syntax.facts.fact_text import without_comments
    from mlnlab.syntax.facts.plain_facts import scan_by_kernel

    return scan_by_kernel(without_comments(source)[0])


@pytest.mark.benchmark
@pytest.mark.parametrize("way", WAYS)
def test_a_million_facts(way):
    from mlnlab.kernels.facts import fact_scan
    from mlnlab.syntax.facts.fact_files import analyse_facts, format_facts

    fact_scan.warm_up()
    source, base = million_facts(way), vocabulary()
    ours = [seconds(scan_all_by_kernel, source) for _ in range(3)]
    pattern, twin = seconds(scan_all_by_pattern, source)
    reading, analysis = min((seconds(analyse_facts, source, base) for _ in range(3)), key=lambda run: run[0])
    kernel, scan = min(ours, key=lambda run: run[0])
    print(f"\n{FACTS:,} facts, {way}, {len(source) / 1e6:.0f} MB: read {reading:.2f} s")
    print(f"of this the first pass {kernel:.2f} s, by regular expressions {pattern:.2f} s")
    print("in a fresh process:", fresh_process(source))
    assert sorted(scan.names) == sorted(twin.names)
    assert scan.lines.tolist() == twin.lines.tolist()
    if way in RIGHT:
        writing, text = seconds(format_facts, analysis.relations, analysis.vocabulary)
        again, _ = seconds(analyse_facts, text, base)
        print(f"written {writing:.2f} s, and with all constants in braces read again {again:.2f} s")
    assert kernel < pattern / 2


def fresh_process(source):
    """Return seconds and peak memory of one reading in a process that did nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.db"
        path.write_bytes(source)
        command = [sys.executable, __file__, str(path)]
        root = Path(__file__).resolve().parents[3]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout.strip()


def main(path):
    """Read one file and print what it took; importing numba and loading the compiled kernel included."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    base = vocabulary()
    from mlnlab.syntax.facts.fact_files import analyse_facts

    taken, _ = seconds(lambda: analyse_facts(Path(path).read_bytes(), base))
    print(f"{taken:.2f} s ({time.process_time():.2f} s of processor in all), peak {peak_memory()}")


def peak_memory():
    """Return the peak of this process (Linux); getrusage would give the parent's, which is inherited."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return f"{found[0] / 1024:.0f} MB" if found else "unknown"


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        for name in WAYS:
            print(name, fresh_process(million_facts(name)))
