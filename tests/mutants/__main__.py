"""Try random faults of one token in the engine, and list those that no test nearby notices.

    python -m tests.mutants --sites 200 --seed 1        as `make mutants SITES=200 SEED=1`
    python -m tests.mutants --within mlnlab/logic mlnlab/circuits --seconds 900

Faults are tried room by room in a copy of the tree, by the nearest test files (see ``judge``). Results are
appended to a file after each room, one line a fault, so that a trial which was stopped goes on where it was.
A survivor is killed by a new test, its code is deleted, or tests/mutants/equivalent.txt says why it changes
nothing. A fault that is "unreached" is in a function that no test nearby calls.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.mutants.judge import RED, judge
from tests.mutants.nearest import nearest
from tests.mutants.sites import Site, sites, with_fault

ROOT = Path(__file__).resolve().parents[2]
# Without kernels: each change would compile all of them anew, and twins are compared flip for flip.
ENGINE = (
    "algebra", "circuits", "counting", "evaluation", "factors", "grounding", "inference", "learning",
    "lifted", "logic", "model", "steps", "structure", "syntax",
)  # fmt: skip
NEEDED = ("mlnlab", "tests", "sample_data", "notebooks", "pyproject.toml", "Makefile", ".ci")


def main():
    """Try faults, and print the survivors."""
    arguments = _arguments()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + arguments.seconds
    every = [site for site in _all_sites() if site.file.startswith(tuple(arguments.within))]
    chosen = random.Random(arguments.seed).sample(every, min(arguments.sites, len(every)))
    known = _known(arguments.results)

    def tell(site, verdict, by):
        record = {"key": _key(site), "site": site.to_json(), "verdict": verdict, "by": by}
        known[_key(site)] = record
        with arguments.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{verdict:9} {site}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mlnlab-mutants-") as folder:
        tree = _copied_tree(Path(folder))
        _load_what_all_need()
        for room, sites_of_room in _rooms(_list_untried(chosen, known)).items():
            if time.monotonic() > end:
                break
            began = time.monotonic()
            judge(tree, sites_of_room, _nearest_files(sites_of_room), arguments.watch, tell)
            print(f"{room}: {time.monotonic() - began:.0f} s", flush=True)
    _report(chosen, known)


def _list_untried(chosen, known):
    """Leave out faults that turned a test red, or change nothing; survivors meet new tests in each trial."""
    shown = _shown_equivalent()
    red = {key for key, record in known.items() if record["verdict"] == RED}
    return [site for site in chosen if _key(site) not in red and words_of(site, ROOT) not in shown]


def _rooms(chosen):
    """Return sites by the folder of their file, so that the tests of a room are collected once."""
    rooms = defaultdict(list)
    for site in chosen:
        rooms[str(Path(site.file).parent)].append(site)
    return rooms


def _nearest_files(chosen):
    """Return the test files of the sites' files, then those of their room."""
    groups = [nearest(ROOT, Path(file))[:2] for file in dict.fromkeys(site.file for site in chosen)]
    paths = [path for rank in (0, 1) for group in groups if rank < len(group) for path in group[rank]]
    return list(dict.fromkeys(str(path.relative_to(ROOT)) for path in paths))


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Try faults of one token.")
    parser.add_argument("--sites", type=int, default=200)
    parser.add_argument("--within", nargs="+", default=["mlnlab"], help="only in these files or folders")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no further fault after these"
    )
    parser.add_argument(
        "--watch", type=float, default=90.0, help="look at tests without a fault for so many seconds"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl")
    return parser.parse_args()


def _all_sites():
    files = sorted(path for name in ENGINE for path in (ROOT / "mlnlab" / name).rglob("*.py"))
    return [
        site
        for path in files
        for site in sites(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]


def _key(site):
    """Return what tells a fault apart, also where lines above it have moved."""
    text = (ROOT / site.file).read_text(encoding="utf-8")
    line = text.split("\n")[site.line - 1].strip()
    column = site.start - (text.rfind("\n", 0, site.start) + 1)
    words = f"{site.file}|{line}|{column}|{site.before}|{site.after}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _known(results):
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else ()
    return {record["key"]: record for record in map(json.loads, lines)}


def _copied_tree(folder):
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "labextension")
            )
        else:
            shutil.copy(source, folder / name)
    shared = ROOT.parent / "shared"
    if shared.exists():
        os.environ.setdefault("MLNLAB_DATA", str(shared / "data"))
    return folder


def _load_what_all_need():
    """Load libraries, so that each trial, a fork of this process, has them at once; pytest loads its own."""
    for name in (
        "numpy",
        "scipy.sparse",
        "scipy.optimize",
        "numba",
        "pandas",
        "pytest",
        "lark",
        "duckdb",
        "networkx",
    ):
        __import__(name)


def _report(chosen, known):
    shown = _shown_equivalent()
    equivalent = [site for site in chosen if words_of(site, ROOT) in shown]
    records = [known[_key(site)] for site in chosen if _key(site) in known and site not in equivalent]
    left = [record for record in records if record["verdict"] != RED]
    print(f"{len(records)} of {len(chosen)} faults were tried; {len(records) - len(left)} turned a test red.")
    print(f"{len(equivalent)} others are known to change nothing.")
    for record in left:
        site = Site(**record["site"])
        print(f"{record['verdict']}: {words_of(site, ROOT)}  (line {site.line})")


def words_of(site, root):
    """Return the line of a site with its fault in it, as the list of equivalent ones has it."""
    lines = with_fault((root / site.file).read_text(encoding="utf-8"), site).split("\n")
    return f"{site.file}: {lines[site.line - 1].strip()}"


def _shown_equivalent():
    lines = (Path(__file__).parent / "equivalent.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith(("#", " "))}


if __name__ == "__main__":
    main()
