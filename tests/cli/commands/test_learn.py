"""``mlnlab learn``: what it writes is what ml.learn_weights finds; bad input gets a sentence."""

from __future__ import annotations

import csv
import io
import json
import time

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.learning.ask.learn_weights import learn_weights as learning
from mlnlab.learning.ask.learning_line import LearningLine

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\n"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.mln").write_text(MODEL)
    (tmp_path / "d.db").write_text(FACTS)
    return tmp_path


def expected(**options):
    mln = ml.MLN.from_text(MODEL)
    return ml.learn_weights(mln, ml.Database.from_text(FACTS, mln), **options)


def learn(files, *arguments):
    return main(["learn", str(files / "m.mln"), str(files / "d.db"), *arguments])


def test_the_model_goes_to_stdout_and_can_be_read_again(files, capsys):
    assert learn(files) == 0
    said = capsys.readouterr()
    weights = [formula.weight.value for formula in ml.MLN.from_text(said.out).formulas]
    assert weights == pytest.approx(expected().weights, abs=1e-6)
    assert "pseudo-log-likelihood" in said.err


@pytest.mark.parametrize("ending", ["mln", "csv", "json"])
def test_files_by_their_endings(files, ending):
    out = files / f"out.{ending}"
    prior = ml.Gaussian(0, 2)
    assert learn(files, "--prior", "gaussian:2", "--query", "Cancer", "-o", str(out)) == 0
    found = expected(prior=prior, query=["Cancer"])
    text = out.read_text()
    if ending == "mln":
        weights = [formula.weight.value for formula in ml.MLN.from_text(text).formulas]
    elif ending == "csv":
        weights = [float(row["weight"]) for row in csv.DictReader(io.StringIO(text))]
    else:
        record = json.loads(text)
        weights = [row["weight"] for row in record["formulas"]]
        assert record["objective"] == pytest.approx(found.objective)
    assert weights == pytest.approx(found.weights, abs=1e-6)


def test_options_and_methods(files, capsys):
    arguments = ("--method", "cd", "--query", "Cancer", "--option", "iterations=5", "--seed", "3")
    assert learn(files, *arguments) == 0
    assert "5 steps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--method", "nonsense"), "no weight learner nonsense"),
        (("--prior", "flat"), "write none, gaussian:DEVIATION"),
        (("--option", "iterations"), "write NAME=VALUE"),
        (("--option", "speed=3"), "no option speed"),
        (("--option", "seed=3"), "--option seed: write --seed instead"),
        (("--option", "query=Cancer"), "--option query: write --query instead"),
        (("--option", "db=other.db"), "--option db: write the files of facts after the model instead"),
        (("--option", "bounds=3"), "it needs more than a word; use ml.learn_weights in Python"),
        (("--option", "observers=3"), "it needs more than a word"),
        (("--method", "cd", "--option", "rate=fast"), "rate must be a number, not 'fast'"),
        (("--method", "cd", "--option", "rate=tuned"), "--option rate=tuned needs databases to tune on"),
        (("--method", "cd", "--option", "iterations=2.5"), "iterations must be a whole number, not 2.5"),
        (("--query", "Nothing"), "no predicate Nothing"),
        (("-o", "out.txt"), "the ending tells the format"),
    ],
)
def test_bad_input_gets_a_sentence(files, capsys, arguments, sentence):
    assert learn(files, *arguments) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_stopped_run_writes_what_it_has(files, monkeypatch, capsys):
    class Stopping:
        def on_step(self, step):
            if step.index == 3:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    def stopped(*arguments, observers=(), **options):
        return learning(*arguments, observers=[Stopping()], **options)

    monkeypatch.setattr("mlnlab.learning.ask.learn_weights.learn_weights", stopped)
    arguments = ("--method", "cd", "--query", "Cancer", "-o", str(files / "out.mln"))
    assert learn(files, *arguments) == 130
    assert "stopped" in capsys.readouterr().err
    assert len(ml.MLN.load(files / "out.mln").formulas) == 2


def test_a_terminal_shows_how_far_learning_is_and_a_file_does_not(files, monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(LearningLine.__init__, "__kwdefaults__", {"clock": time.monotonic, "patience": 0.0})
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        assert learn(files, "--method", "cd", "--query", "Cancer", "--option", "iterations=40") == 0
        assert ("cd  " in stream.getvalue() and "\r" in stream.getvalue()) == shown
        assert "40 steps" in stream.getvalue().split("\r")[-1]  # what is said at the end stands alone
