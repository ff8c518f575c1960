"""Ctrl-C: each run says what to type, and ``ml.so_far()`` returns what was known; asked with real signals."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import mlnlab as ml
from mlnlab.lifted.compile.compiling import Compilation
from mlnlab.steps.runs import interrupted

TRANSITIVE = "P(e)\nQ(e)\nR(e, e)\n1 P(x) ^ R(x, y) => Q(y)\n0.5 Q(x) => P(x)\n0.3 R(x, y) ^ Q(x)"

# A process sends SIGINT to itself once a run has come so far.
SIGNALLED = """
import os, signal
import mlnlab as ml

def press(calls=[0], after={after}):
    calls[0] += 1
    if calls[0] == after:
        os.kill(os.getpid(), signal.SIGINT)

{setting}
try:
    {work}
    print("not interrupted")
except KeyboardInterrupt as stopped:
    print(stopped)
known = ml.so_far()
{showing}
"""


def signalled(setting, work, showing, after=3):
    text = SIGNALLED.format(
        setting=textwrap.dedent(setting), work=work, showing=textwrap.dedent(showing), after=after
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "not interrupted" not in done.stdout
    assert "ml.so_far()" in done.stdout
    return done.stdout


def test_a_search_for_paths_that_is_stopped_keeps_its_paths_and_goes_on_behind_them():
    found = signalled(
        """
        db = ml.sample("department").db
        search = ml.find_paths(db, longest=3)
        alike = ml.find_paths(db, longest=3)
        support = search.support
        object.__setattr__(search, "support", lambda path: press() or support(path))
        """,
        "list(search)",
        """
        whole = [s.path for s in alike if s.verdict == "kept"]
        rest = [s.path for s in alike.resume(known.state) if s.verdict == "kept"]
        print(0 < len(known.paths) < len(whole), [*known.paths, *rest] == whole)
        """,
        after=40,
    )
    assert "True True" in found


def test_a_compilation_that_is_stopped_gives_a_circuit_that_counts_the_same():
    found = signalled(
        f"""
        from mlnlab.lifted.compile.compiling import Compilation
        mln = ml.MLN.from_text({TRANSITIVE!r})
        defined = Compilation.define_theory
        Compilation.define_theory = lambda *given: press() or defined(*given)
        """,
        "ml.lift(mln).compile()",
        """
        Compilation.define_theory = defined
        whole = ml.lift(mln).compile()
        print(len(known.unlifted) > 0, known.log_z({"e": 2}), whole.log_z({"e": 2}))
        print(abs(known.log_z({"e": 2}).value - ml.log_z(mln, {"e": 2}, method="enumeration").value) < 1e-9)
        """,
    )
    assert found.rstrip().endswith("True")
    assert "stopped after 2 definitions" in found


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_wherever_compilation_is_stopped_its_circuit_counts_what_enumeration_counts(after, monkeypatch):
    mln, calls, defined = ml.MLN.from_text(TRANSITIVE), [], Compilation.define_theory
    expected = ml.log_z(mln, {"e": 2}, method="enumeration").value

    def stopping(*given):
        calls.append(given)
        if len(calls) == after:
            raise KeyboardInterrupt
        return defined(*given)

    monkeypatch.setattr(Compilation, "define_theory", stopping)
    with pytest.raises(interrupted.Interrupted, match="Compiling was stopped"):
        ml.lift(mln).compile()
    monkeypatch.setattr(Compilation, "define_theory", defined)
    assert ml.so_far().log_z({"e": 2}).value == pytest.approx(expected, abs=1e-9)


def test_lifting_that_is_stopped_gives_the_hypergraph_as_it_is():
    db = ml.sample("department").db

    class Finger:
        def on_step(self, step):
            if step.index == 4:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(interrupted.Interrupted, match="LiftGraph was stopped"):
        ml.lift_graph(db).run(observers=[Finger()])
    states = list(ml.lift_graph(db))
    assert (ml.so_far().labels == states[4].labels).all()


def test_what_was_interrupted_last_is_what_is_asked(monkeypatch):
    monkeypatch.setattr(interrupted, "_latest", [])
    with pytest.raises(ml.ArgumentError, match="Nothing has been interrupted yet"):
        ml.so_far()
    interrupted.Interrupted("the first", lambda: 1)
    interrupted.Interrupted("the second", lambda: 2)
    assert ml.so_far() == 2
    interrupted.Interrupted("Counting was stopped before anything was known.")
    with pytest.raises(ml.ArgumentError, match="before anything was known"):
        ml.so_far()


@pytest.mark.parametrize(
    ("setting", "work", "showing"),
    [
        ('mln = ml.MLN.from_text("P(e)\\n1 P(x)")',
         'ml.infer(mln, {"e": 3}, method="gibbs", burn_in=0, observers=[Finger()])',
         'print(0 < known["P(E1)"] < 1)'),
        ('mln = ml.MLN.from_text("P(e)\\n-1 P(x)\\n2 P(x) v P(y)")',
         'ml.map_state(mln, {"e": 3}, method="max-walk-sat", observers=[Finger()])',
         "print(len(known.world.true_atoms) >= 2)"),
        ('mln = ml.MLN.from_text("P(e)\\nP(x)")\ndb = ml.Database.from_text("P(A)\\nP(B)\\n!P(C)", mln)',
         'ml.learn_weights(mln, db, "pll", observers=[Finger()])', "print(len(known.weights) == 1)"),
    ],
    ids=["infer", "map_state", "learn_weights"],
)  # fmt: skip
def test_each_question_says_what_to_type(setting, work, showing):
    finger = """
class Finger:
    def on_step(self, step):
        press()

    def on_end(self, last):
        pass
"""
    assert signalled(finger + setting, work, showing, after=2).rstrip().endswith("True")


def test_results_of_another_kind_are_none():
    """A command that would write a model does not write the circuit that was being compiled."""
    assert interrupted.Interrupted("stopped", lambda: "text").results(str) == "text"
    assert interrupted.Interrupted("stopped", lambda: "text").results(int) is None
    assert interrupted.Interrupted("stopped").results(str) is None
    unsure = interrupted.Interrupted("stopped", lambda: "nothing yet", knows_something=False)
    assert unsure.results(str) is None
    assert unsure.so_far() == "nothing yet"


def test_there_is_one_interrupt():
    assert not interrupted.Interrupted.__subclasses__()
