"""``mlnlab infer``: tables, files, several databases, and every kind of bad input."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest

from mlnlab.cli import main
from mlnlab.cli.arguments.method_arguments import split_queries

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
"""
FACTS = """
Friends(Ivan, John)
Friends(John, Ivan)
Smokes(Ivan)
"""


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "a.mln").write_text(MODEL)
    (tmp_path / "a.db").write_text(FACTS)
    (tmp_path / "b.db").write_text("Smokes(Zoe)\n")
    return [str(tmp_path / name) for name in ("a.mln", "a.db", "b.db")]


def test_a_table_most_probable_first(paths, capsys):
    assert main(["infer", *paths[:2], "--query", "Smokes(John),Smokes(Ivan)", "--open", "Cancer"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "  1.0000  Smokes(Ivan)  (fact)\n  0.8466  Smokes(John)\n"
    assert "8 worlds" in shown.err


def test_the_other_semantics(paths, capsys):
    options = ["--query", "Smokes(John)", "--open", "Cancer", "--semantics", "alchemy"]
    assert main(["infer", *paths[:2], *options]) == 0
    assert capsys.readouterr().out == "  0.6475  Smokes(John)\n"


def test_conditions(paths, capsys):
    options = ["-q", "Smokes(John)", "--open", "Cancer", "--given", "Cancer(John) ^ Smokes(Ivan)"]
    assert main(["infer", *paths[:2], *options]) == 0
    assert "Smokes(John)" in capsys.readouterr().out


def test_several_databases_are_answered_each_for_itself(paths, capsys, tmp_path):
    assert main(["infer", *paths, "-q", "Cancer"]) == 0
    shown = capsys.readouterr().out
    assert f"{paths[1]}:\n" in shown
    assert f"{paths[2]}:\n" in shown
    target = tmp_path / "answers.csv"
    assert main(["infer", *paths, "-q", "Cancer", "-o", str(target)]) == 0
    rows = list(csv.reader(target.read_text().splitlines()))
    assert rows[0] == ["database", "query", "probability", "fact"]
    assert {row[0] for row in rows[1:]} == set(paths[1:])
    assert [row[1] for row in rows if row[0] == paths[2]] == ["Cancer(Zoe)"]


def test_files_hold_all_digits(paths, tmp_path, capsys):
    for name in ("answers.csv", "answers.json"):
        assert (
            main(["infer", *paths[:2], "-q", "Smokes", "--open", "Cancer", "-o", str(tmp_path / name)]) == 0
        )
        assert capsys.readouterr().out == f"{tmp_path / name}\n"
    (answer,) = json.loads((tmp_path / "answers.json").read_text())
    rows = list(csv.reader((tmp_path / "answers.csv").read_text().splitlines()))
    assert rows[0] == ["query", "probability", "fact"]
    assert {name: float(value) for name, value, _ in rows[1:]} == answer["probabilities"]
    assert [name for name, _, fact in rows[1:] if fact == "true"] == answer["facts"] == ["Smokes(Ivan)"]
    assert answer["method"] == "enumeration"


def test_without_facts_all_is_unknown(tmp_path, capsys):
    (tmp_path / "a.mln").write_text("thing = {A}\nP(thing)\n0 P(x)")
    assert main(["infer", str(tmp_path / "a.mln"), "-q", "P"]) == 0
    assert capsys.readouterr().out == "  0.5000  P(A)\n"


def test_one_world_is_counted_as_one(tmp_path, capsys):
    (tmp_path / "a.mln").write_text("thing = {A}\nP(thing)\n1 P(x)")
    (tmp_path / "a.db").write_text("P(A)")
    assert main(["infer", str(tmp_path / "a.mln"), str(tmp_path / "a.db"), "-q", "P"]) == 0
    assert "there is 1 world, so the answer is exact" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (["-q", "Smoke"], "There is no predicate Smoke; did you mean Smokes?"),
        (["-q", "Smokes", "--method", "gibs"], "There is no inference method gibs"),
        (["-q", "Smokes", "-o", "a.txt"], "a.txt: the ending tells the format; it must be .csv or .json."),
        (
            ["-q", "Smokes", "-o", "nowhere/a.csv"],
            "nowhere/a.csv cannot be written: there is no folder nowhere",
        ),
        (["-q", "Smokes(x"], "is not a formula of this model"),
    ],
)
def test_bad_options(paths, change, sentence, capsys):
    assert main(["infer", *paths[:2], *change]) == 1
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_a_missing_folder_is_said_before_anything_is_computed(paths, monkeypatch):
    monkeypatch.setattr("mlnlab.inference.ask.asking.infer", lambda *_, **__: pytest.fail("computed"))
    assert main(["infer", *paths[:2], "-q", "Smokes", "-o", "nowhere/a.csv"]) == 1


def test_letters_that_an_output_cannot_hold_are_written_as_codes(tmp_path):
    (tmp_path / "a.mln").write_text("Größe(thing)\n0 Größe(Zoë)", encoding="utf-8")
    command = [sys.executable, "-m", "mlnlab", "infer", str(tmp_path / "a.mln"), "-q", "Größe"]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "  0.5000  Gr\\xf6\\xdfe(Zo\\xeb)\n"


def test_bad_files(paths, tmp_path, capsys):
    assert main(["infer", str(tmp_path / "none.mln"), "-q", "P"]) == 1
    assert main(["infer", paths[0], str(tmp_path), "-q", "Smokes"]) == 1
    (tmp_path / "bad.mln").write_text("1 A(x)")
    assert main(["infer", str(tmp_path / "bad.mln"), "-q", "A"]) == 1
    shown = capsys.readouterr().err
    assert "There is no file" in shown
    assert "is a folder" in shown
    assert "bad.mln:1:3: error" in shown


def test_queries_are_split_outside_of_brackets():
    assert split_queries(['A, B(x, y),C("a,(b", D)', " E ", ""]) == ["A", "B(x, y)", 'C("a,(b", D)', "E"]


def test_names_cannot_steer_the_terminal(tmp_path, capsys):
    (tmp_path / "a.mln").write_text("Q(thing)\n1 Q(x)")
    name = "\x1b]0;owned\x07\u202e"
    (tmp_path / "a.db").write_text(f'?Q("{name}")\n')
    paths = [str(tmp_path / "a.mln"), str(tmp_path / "a.db")]
    assert main(["infer", *paths, "-q", "Q"]) == 0
    shown = capsys.readouterr()
    assert shown.out == '  0.7311  Q("�]0;owned��")\n'
    assert main(["infer", *paths, "-q", f"Z({name})"]) == 1
    assert not set(capsys.readouterr().err) & set(name[:1] + name[-2:])
    assert main(["infer", *paths, "-q", "Q", "-o", str(tmp_path / "a.json")]) == 0
    (answer,) = json.loads((tmp_path / "a.json").read_text())
    assert list(answer["probabilities"]) == [f'Q("{name}")']


def test_nothing_to_ask_about_gets_a_sentence(tmp_path, capsys):
    (tmp_path / "a.mln").write_text("Smokes(person)\n1 Smokes(x)")
    for query in ("Smokes", "Smokes(x) ^ Smokes(y)"):
        assert main(["infer", str(tmp_path / "a.mln"), "-q", query]) == 1
        assert "How many constants are there of person?" in capsys.readouterr().err
    (tmp_path / "a.mln").write_text("person = {}\nSmokes(person)\n1 Smokes(x)")
    assert main(["infer", str(tmp_path / "a.mln"), "-q", "Smokes(x) ^ Smokes(y)"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no constants of type person are known, from the model or from facts." in shown.err
    assert main(["infer", str(tmp_path / "a.mln"), "-q", " , "]) == 1
    assert "--query is empty: name a predicate" in capsys.readouterr().err
