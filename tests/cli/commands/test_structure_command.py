"""``mlnlab structure``: what it writes is what ml.learn_structure finds; bad input gets a sentence."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.structure.ask.learn_structure import learn_structure as learning

MODEL = "Smokes(person)\nCancer(person)\n"
FACTS = "\n".join(f"Smokes(P{n})\nCancer(P{n})" for n in range(5)) + "\nSmokes(Q)\nCancer(R)\n"
OPTIONS = ("--longest", "2", "--fewest", "0", "--fraction", "1", "--sampled", "None")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "m.mln").write_text(MODEL)
    (tmp_path / "d.db").write_text(FACTS)
    return tmp_path


def structure(files, *arguments):
    return main(["structure", str(files / "m.mln"), str(files / "d.db"), *arguments])


def test_the_learned_model_goes_to_stdout_or_to_a_file_and_on_from_a_checkpoint(files, capsys):
    database = ml.Database.from_text(FACTS, ml.MLN.from_text(MODEL))
    expected = ml.learn_structure(database, longest=2, fewest=0, fraction=1.0, sampled=None, signs=1)
    assert structure(files, *OPTIONS, "--option", "signs=1") == 0
    said = capsys.readouterr()
    assert said.out == expected.mln.to_text()
    assert "clauses of" in said.err
    kept = ("--checkpoint", str(files / "run.npz"), "--out", str(files / "out.mln"), "--option", "signs=1")
    for _ in range(2):
        assert structure(files, *OPTIONS, *kept) == 0
        assert (files / "out.mln").read_text() == expected.mln.to_text()
    assert structure(files, *OPTIONS, *kept[:4]) == 1
    assert "with other settings (signs=1 instead of signs='all')" in capsys.readouterr().err


def test_msl_takes_predicates_and_a_theory_from_the_command_line(files, capsys):
    database = ml.Database.from_text(FACTS, ml.MLN.from_text(MODEL))
    (files / "theory.mln").write_text(f"{MODEL}1 Smokes(x) v Cancer(x)\n")
    theory = ml.MLN.load(files / "theory.mln")
    for words, options in (
        (("forbidden=!Smokes,Cancer",), {"forbidden": ["!Smokes", "Cancer"]}),
        ((f"theory={files / 'theory.mln'}", "required=Smokes"), {"theory": theory, "required": ["Smokes"]}),
    ):
        given = [part for word in words for part in ("--option", word)]
        assert structure(files, "--method", "msl", "--longest", "3", *given) == 0
        expected = ml.learn_structure(database, "msl", longest=3, **options)
        assert capsys.readouterr().out == expected.mln.to_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--method", "lhl-nohue"), "no structure learner lhl-nohue"),
        (("--method", "lhl-liftgraph", "--longest", "3"), "lhl-liftgraph has no option longest"),
        (("--longest", "many"), "--longest must be a whole number from 1 to 8, not 'many'"),
        (("--longest", "3", "--option", "longest=4"), "longest is given twice"),
        (("--option", "seed=3"), "--option seed: write --seed instead"),
        (("--option", "start=3"), "use ml.learn_structure in Python"),
        (("--method", "msl", "--option", "modes=Smokes:+"), "use ml.learn_structure in Python"),
        (("--method", "msl", "--option", "forbidden=Smoke"), "did you mean Smokes"),
        (("--method", "msl", "--option", "theory=none.mln"), "none.mln"),
        (("-o", "out.txt"), "is written as a .mln file"),
        (("--most-hours", "0"), "--most-hours must be"),
    ],
)
def test_bad_input_gets_a_sentence(files, capsys, arguments, sentence):
    assert structure(files, *arguments) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_stopped_run_writes_the_best_model_so_far(files, monkeypatch, capsys):
    class Stopping:
        def on_step(self, step):
            if step.state.create is not None:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    def stopped(*arguments, **options):
        return learning(*arguments, observers=[Stopping()], **options)

    monkeypatch.setattr("mlnlab.structure.ask.learn_structure.learn_structure", stopped)
    assert structure(files, *OPTIONS, "-o", str(files / "out.mln")) == 130
    assert "stopped" in capsys.readouterr().err
    assert len(ml.MLN.load(files / "out.mln").formulas) == 2
