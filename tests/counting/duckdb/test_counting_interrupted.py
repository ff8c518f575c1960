"""Ctrl-C while counting takes long: it stops within a moment, and what is counted next is right.

A signal is sent to this process while it counts, and to a process of its own as a terminal does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.duckdb.duckdb_counter import count_in_duckdb
from mlnlab.counting.duckdb.duckdb_store import interruptible, store_of
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")

CYCLE = "A(x,y) ^ B(y,z) ^ C(z,w) ^ D(w,x)"
WIDE = "T(x,y,z) ^ S(z,y,w) ^ A(x,w)"
RULE = "A(x,y) ^ B(y,z) => C(x,z)"
MOST_SECONDS = 60.0  # an idle machine takes below one, which `make bench` measures; to the end it is minutes


def random_facts(constants, pairs, triples, seed=0):
    signatures = {**dict.fromkeys("ABCD", ("t", "t")), **dict.fromkeys("TS", ("t", "t", "t"))}
    words = Vocabulary(
        FrozenMapping({"t": SizedDomain("K", constants)}),
        FrozenMapping({name: Predicate(name, types) for name, types in signatures.items()}),
    )
    rng = np.random.default_rng(seed)
    tables = {
        name: random_rows(rng, constants, len(types), pairs if len(types) == 2 else triples)
        for name, types in signatures.items()
    }
    return Facts(words, FrozenMapping(tables))


def random_rows(rng, constants, arity, length):
    """Distinct rows, in order since they are made in order: sorting millions would outlast the tests."""
    every = constants**arity
    numbers = np.cumsum(rng.integers(1, 2 * every // length, length))
    places = np.unravel_index(numbers[numbers < every], (constants,) * arity)
    return np.column_stack(places).astype(np.uint32)


def parsed(facts, text):
    return ml.MLN(facts.vocabulary).parse(text)


def by_plan(facts, text):
    return Counter(parsed(facts, text), facts.vocabulary)(facts)


def in_duckdb(facts, text):
    with store_of(facts) as store:
        return count_in_duckdb(parsed(facts, text), store)


def changes(facts, text):
    found = DeltaCounter([parsed(facts, text)], facts.vocabulary).all(facts)
    return sorted(sum(map(abs, one.merged().values[:, 0].tolist())) for one in found.values())


# What takes several seconds; the same question about little is answered at once.
LONG = {
    "compiled loops": (by_plan, CYCLE, (60_000, 5_000_000, 1)),
    "joins": (by_plan, WIDE, (1_000, 200_000, 2_000_000)),
    "changes": (changes, RULE, (8_000, 500_000, 1)),
    "duckdb": (in_duckdb, CYCLE, (8_000, 500_000, 1)),
}


DELAYS = (0.7, 0.2, 0.05, 0.01)  # seconds; a machine that is done before the signal gets it sooner


def interrupted_while(action):
    """Run an action that a signal interrupts; the seconds from the signal to its end.

    The action is made anew for each delay, so that nothing it has kept makes the next one shorter.
    """
    for delay in DELAYS:
        if (seconds := interrupted_after(delay, action())) is not None:
            return seconds
    raise AssertionError(f"It was done within {DELAYS[-1]} s: too little to be interrupted in.")


def interrupted_after(delay, action):
    """Return the seconds from the signal to the end; ``None`` where the action was done before it."""
    sent, done = [], threading.Event()

    def send():
        if not done.wait(delay):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    finished = False
    try:
        action()
        finished = True
        done.set()
        sender.join()  # a signal that was just being sent is heard in here
    except KeyboardInterrupt:
        ended = time.perf_counter()
        done.set()
        sender.join()
        return None if finished else ended - sent[0]
    return None


@pytest.mark.parametrize("kind", LONG)
def test_an_interrupt_stops_what_takes_long_and_leaves_all_usable(kind):
    action, text, size = LONG[kind]
    few, used = random_facts(40, 200, 300), []
    action(few, text)  # kernels are loaded, as in a session

    def on_fresh_facts():
        facts = random_facts(*size)
        used[:] = [facts, {name: table.copy() for name, table in facts.tables.items()}]
        return lambda: action(facts, text)

    seconds = interrupted_while(on_fresh_facts)
    facts, rows = used
    print(f"{kind}: stopped {seconds:.2f} s after the signal")
    assert seconds < MOST_SECONDS
    assert all(np.array_equal(rows[name], table) for name, table in facts.tables.items())
    # Indexes that were made of these facts before the interrupt serve the next question.
    assert by_plan(facts, "A(x,y) ^ B(y,z)") == in_duckdb(facts, "A(x,y) ^ B(y,z)") > 0
    assert by_plan(few, text) == in_duckdb(few, text)
    assert action(few, text) == action(random_facts(40, 200, 300), text)


def test_an_interrupt_while_files_are_counted_leaves_them_open_and_clean(tmp_path):
    import duckdb

    rows = np.random.default_rng(1).integers(0, 50_000, (1_500_000, 2))
    frame = {"node1": rows[:, 0], "node2": rows[:, 1]}
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY (SELECT * FROM frame) TO '{tmp_path / 'link.parquet'}' (FORMAT parquet)")
    mln = ml.MLN.from_text(
        "node = {0, ..., 49999}\nLink(node, node)\n1 Link(x, y) ^ Link(y, z) ^ Link(z, w) ^ Link(w, x)"
    )
    short = ml.MLN.from_text("node = {0, ..., 49999}\nLink(node, node)\n1 Link(x, y) ^ Link(y, x)")
    with ml.FactFiles({"Link": tmp_path / "link.parquet"}, mln, distinct=True) as facts:
        tables = facts.store.answers("SELECT count(*) FROM duckdb_tables()")
        before = list(ml.count(short, facts))
        assert interrupted_while(lambda: partial(ml.count, mln, facts)) < MOST_SECONDS
        assert facts.store.answers("SELECT count(*) FROM duckdb_tables()") == tables
        assert list(ml.count(short, facts)) == before


def test_a_query_that_fails_says_so_and_other_threads_ask_directly():
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        interruptible(fails, lambda: None)
    names = []
    asking = threading.Thread(
        target=lambda: interruptible(lambda: names.append(threading.current_thread().name), lambda: None),
        name="elsewhere",
    )
    asking.start()
    asking.join()
    assert names == ["elsewhere"]


PROCESS = """
import json, sys, time
from tests.counting.duckdb.test_counting_interrupted import LONG, by_plan, random_facts, in_duckdb
action, text, size = LONG[sys.argv[1]]
facts, few = random_facts(*size), random_facts(40, 200, 300)
action(few, text)
print("counting", flush=True)
try:
    action(facts, text)
    print(json.dumps({"interrupted": False}))
except KeyboardInterrupt:
    ended = time.time()
    right = by_plan(few, text) == in_duckdb(few, text)
    print(json.dumps({"interrupted": True, "ended": ended, "right": right}))
"""


def interrupted_process(kind, delay):
    """Return what a process says that counts and is interrupted, and when that was."""
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS, kind],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[3],
        start_new_session=True,
    ) as process:
        assert process.stdout.readline() == "counting\n"
        time.sleep(delay)
        sent = time.time()
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
        said = process.communicate(timeout=5 * PATIENCE)[0]
    return said.splitlines()[0] if said else "", sent, process.returncode


@pytest.mark.parametrize("kind", ["compiled loops", "duckdb"])
def test_a_process_that_counts_hears_ctrl_c(kind):
    for delay in DELAYS:
        said, sent, code = interrupted_process(kind, delay)
        if said and (found := json.loads(said))["interrupted"]:
            break  # else it was done before the signal came
    assert found["interrupted"]
    assert found["right"]
    assert found["ended"] - sent < MOST_SECONDS
    assert code == 0
