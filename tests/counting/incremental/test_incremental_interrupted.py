"""Flips that are interrupted, or find no memory: each is made or not, and undo takes back those that are."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.counting.incremental import incremental
from mlnlab.counting.incremental.incremental import IncrementalCounts, InterruptsHeldBack
from mlnlab.kernels.counting.changing_relations import ENTRIES, ITEM, STARTED

MOST_SECONDS = 60.0  # an idle machine takes a few hundredths, which `make bench` measures
DEEP = ["(EXIST y F(x,y) ^ S(y)) ^ (EXIST>=2 z F(z,x) ^ S(z))", "FORALL y F(x,y) => (EXIST z F(y,z) ^ S(z))",
        "F(x,y) ^ F(y,z) => F(x,z)", "(FORALL y S(y) => F(x,y)) v (EXIST=1 y F(y,x))"]  # fmt: skip


def people(size, pairs, seed=0):
    vocabulary = ml.MLN.from_text("F(p, p)\nS(p)").with_domains({"p": size}).vocabulary
    rows = np.random.default_rng(seed).integers(0, size, (pairs, 2)).astype(np.uint32)
    single = np.arange(0, size, 5, dtype=np.uint32)[:, None]
    return facts_from_tables(vocabulary, {"F": rows, "S": single})


def counted(formulas, true, vocabulary):
    """Count from scratch in the world of some rows."""
    tables = {
        name: np.array(sorted(rows), np.uint32).reshape(len(rows), 1 + (name == "F"))
        for name, rows in true.items()
    }
    facts = facts_from_tables(vocabulary, tables)
    return [Counter(formula, vocabulary)(facts) for formula in formulas]


def counts_in(facts, texts):
    formulas = [ml.MLN(facts.vocabulary).parse(text) for text in texts]
    return IncrementalCounts(formulas, facts), {
        name: set(map(tuple, facts.rows(name).tolist())) for name in "FS"
    }


@pytest.fixture
def interrupted():
    """Send an interrupt a moment after the counts are at work, and say how long it was not heard."""
    threads, ended = [], threading.Event()

    def run(counts, action):
        sent = []
        counts._store.cursor[:ENTRIES] = 0

        def send():
            while not ended.wait(0.05):
                if counts._store.cursor[STARTED] or counts._store.cursor[ITEM]:
                    sent.append(time.perf_counter())
                    os.kill(os.getpid(), signal.SIGINT)
                    return

        threads.append(threading.Thread(target=send))
        threads[-1].start()
        with pytest.raises(KeyboardInterrupt):
            action()
        return time.perf_counter() - sent[0]

    yield run
    ended.set()
    for thread in threads:
        thread.join()


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.parametrize(("texts", "plain"), [(DEEP[2:3], False), (DEEP[:3], False), (DEEP[:3], True)])
def test_an_interrupt_is_heard_at_once_and_undo_takes_back_what_was_made(
    texts, plain, interrupted, monkeypatch
):
    if plain:
        monkeypatch.setattr(IncrementalCounts, "_kind", lambda *_: object)
    facts = people(60 if plain else 1000, 100 if plain else 10_000)
    counts, true = counts_in(facts, texts)
    before = counts.numbers
    rows = np.random.default_rng(3).integers(0, facts.size("p"), (100_000 if plain else 1_000_000, 2))
    counts.flip_rows("F", rows[:1])
    counts.undo()
    assert interrupted(counts, lambda: counts.flip_rows("F", rows)) < MOST_SECONDS
    made = len(counts._done[-1][2])
    assert 0 < made < len(rows)
    now = true["F"].copy()
    for row in map(tuple, rows[:made].tolist()):
        now ^= {row}
    assert counts.numbers == counted(counts.formulas, {**true, "F": now}, facts.vocabulary)
    counts.undo()
    assert counts.numbers == before
    ahead = counts.numbers
    assert interrupted(counts, lambda: [counts.changes_of("F", rows) for _ in range(100)]) < MOST_SECONDS
    assert counts.numbers == ahead
    counts.flip_rows("F", rows[:5])
    for row in map(tuple, rows[:5].tolist()):
        true["F"] ^= {row}
    assert counts.numbers == counted(counts.formulas, true, facts.vocabulary)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_one_long_flip_hears_an_interrupt_too(interrupted):
    facts = people(4000, 200_000)
    counts, _ = counts_in(facts, ["S(u) ^ F(x,y) ^ F(y,z) ^ F(z,w) ^ F(x,w)"])
    before = counts.numbers
    assert interrupted(counts, lambda: counts.flip_rows("S", [[1]])) < MOST_SECONDS
    assert counts.numbers == before
    counts.undo()
    assert counts.numbers == before


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
def test_an_undo_that_is_interrupted_goes_on_when_it_is_called_again(interrupted):
    facts = people(5000, 10_000)
    counts, _ = counts_in(facts, DEEP[2:3])
    before, rows = counts.numbers, np.random.default_rng(3).integers(0, 5000, (100_000, 2))
    counts.flip_rows("F", rows)
    interrupted(counts, counts.undo)
    assert 0 < len(counts._done[-1][2]) < len(rows)
    counts.undo()
    assert counts.numbers == before


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("text", DEEP)
@pytest.mark.parametrize("grown", ["with_rows", "with_table", "with_queue", "with_buffer", "with_log"])
def test_no_flip_is_left_half_made_where_the_store_cannot_grow(grown, text, problem, monkeypatch):
    facts, real, calls = people(40, 120), getattr(incremental, grown), []

    def refuse_each_second_time(store):
        calls.append(grown)
        if len(calls) % 2:
            raise problem
        return real(store)

    counts, true = counts_in(facts, [text])
    monkeypatch.setattr(incremental, grown, refuse_each_second_time)
    rng, refused = np.random.default_rng(1), 0
    for step in range(150):
        name = "S" if rng.random() < 0.3 else "F"
        rows = rng.integers(0, 40, (6, 1 + (name == "F")))
        before = counts.numbers
        try:
            if step % 3 == 2:
                assert counts.changes_of(name, rows).shape == (6, 1)
                assert counts.numbers == before
                continue
            counts.flip_rows(name, rows)
        except problem:
            refused += 1
            if step % 3 == 2:
                assert counts.numbers == before
                continue
            if refused % 2:
                counts.undo()
                assert counts.numbers == before
                continue
        for row in map(tuple, rows[: len(counts._done[-1][2])].tolist()):
            true[name] ^= {row}
        if step % 10 == 0 or refused:
            assert counts.numbers == counted(counts.formulas, true, facts.vocabulary)
    assert refused == (len(calls) + 1) // 2


def test_only_the_main_thread_holds_interrupts_back_and_an_own_answer_to_them_is_kept():
    heard, before = [], signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: heard.append("heard"))
    try:
        with InterruptsHeldBack() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert heard == []
            interrupts.listen()
            assert heard == ["heard"]
            signal.raise_signal(signal.SIGINT)
        assert heard == ["heard"] * 2
        thread = threading.Thread(target=lambda: InterruptsHeldBack().__enter__().listen())
        thread.start()
        thread.join()
        signal.raise_signal(signal.SIGINT)
        assert heard == ["heard"] * 3
    finally:
        signal.signal(signal.SIGINT, before)
