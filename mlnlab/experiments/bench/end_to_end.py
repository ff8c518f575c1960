"""Whole questions to real data: samples of MC-SAT a second, and grounding in a process of its own.

The files are Alchemy's inputs (``alchemy-inputs`` in a folder of reference files); what Alchemy took for the
same questions was recorded on another machine, so a ratio says no more than the order of magnitude.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import MlnlabError
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import pose
from mlnlab.inference import mc_sat
from mlnlab.inference.memory import bytes_of
from mlnlab.model.loading import load, load_db
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAMPLES, BURN_IN, ROUNDS = 1_000, 100, 3
SAMPLED = (  # what, model, facts, query, and Alchemy's samples a second of its processor
    ("MC-SAT, 1,000 smokers", "smokers1000.mln", "smokers1000.db", ("Smokes", "Cancer"), 500.0),
    ("MC-SAT, IMDB fold 5", "imdb1-gen-learned.mln", "imdb_fold5_noq.db", ("workedUnder",), 1_100 / 6.34),
)
GROUND: tuple[
    tuple[str, str, str, tuple[str, ...]], ...
] = (  # what, model, facts, query; no query: every predicate is open, and there is no evidence
    ("Grounding, UW-CSE fold 3", "uw1-gen-learned.mln", "uwcse_fold3_noq.db", ("advisedBy",)),
    ("Grounding, all of IMDB open", "imdb1-gen-learned.mln", "imdb_fold5.db", ()),
)


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """What a whole question took: samples a second of the processor, or seconds; and bytes of memory."""

    name: str
    value: float
    unit: str
    memory: int
    recorded: float | None = None  # by Alchemy

    def __str__(self) -> str:
        """Say the number, the memory, and the rival where there is one."""
        said = f"{self.name}: {self.value:,.4g} {self.unit}, {self.memory / 1e6:,.2f} MB"
        if self.recorded is None:
            return said
        return f"{said}; {self.value / self.recorded:,.0f} times Alchemy's recorded {self.recorded:,.0f}"


def measured(folder: Path) -> Iterator[EndToEnd]:
    """Yield what each question took."""
    for name, model, facts, query, rival in SAMPLED:
        yield sampling(name, folder / model, folder / facts, query, rival)
    for name, model, facts, asked in GROUND:
        seconds, peak = in_a_fresh_process(folder / model, folder / facts, asked)
        yield EndToEnd(name, seconds, "s, in a process of its own", peak)


def sampling(name: str, model: Path, facts: Path, query: tuple[str, ...], rival: float) -> EndToEnd:
    """Ground a question and sample it, from end to end; the best of some rounds, compiled before."""
    mln = load(model)
    db = load_db(facts, mln)
    params = mc_sat.Params(samples=SAMPLES, burn_in=BURN_IN, chains=1)
    fastest, memory = 0.0, 0
    for _ in range(ROUNDS + 1):
        began = time.thread_time()
        shared = mc_sat.prepared(pose(mln, db, query))
        last = run(mc_sat.steps_on(params, shared)).state
        fastest = max(fastest, (SAMPLES + BURN_IN) / (time.thread_time() - began))
        memory = bytes_of(shared, last, shared.ground.clauses.question.choices)
    return EndToEnd(name, fastest, "samples a second", memory, rival)


def in_a_fresh_process(model: Path, facts: Path, query: tuple[str, ...]) -> tuple[float, int]:
    """Return the seconds of grounding in a new process, and its largest memory, Python's included."""
    name = "mlnlab.experiments.bench.end_to_end"
    command = [sys.executable, "-m", name, str(model), str(facts), *query]
    done = subprocess.run(  # noqa: S603 - ourselves
        command, check=False, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise MlnlabError(f"Grounding {model.name} failed: {done.stderr.strip().splitlines()[-1:]}")
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def ground_here(model: Path, facts: Path, query: tuple[str, ...]) -> tuple[float, int]:
    """Return the seconds that grounding takes here, what it compiles included, and this process's peak."""
    mln = load(model, semantics="alchemy")
    db = load_db(facts, mln)
    if not query:
        query = tuple(mln.vocabulary.predicates)
        db = db.without(query)
    began = time.perf_counter()
    ground_clauses(pose(mln, db, query))
    return time.perf_counter() - began, peak_of_this_process()


def peak_of_this_process() -> int:
    """Return the most memory that this process had so far; 0 where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="utf-8") as told:  # noqa: PTH123 - no file of ours
            lines = [line.split() for line in told if line.startswith("VmHWM:")]
    except OSError:
        return 0
    return 1024 * int(lines[0][1]) if lines else 0


if __name__ == "__main__":
    from pathlib import Path

    sys.stdout.write("{} {}".format(*ground_here(Path(sys.argv[1]), Path(sys.argv[2]), tuple(sys.argv[3:]))))
