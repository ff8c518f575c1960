"""``mlnlab convert``: every way there and back, and every kind of bad input."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.model.database.database import same_database

MODEL = """
person = {Anna, Bob, "<b>$x_1$</b> & co"}
Smokes(person)
Friends(person, person)
1.5 Smokes(x) => EXIST y Friends(x, y)
@0.5 Smokes("<b>$x_1$</b> & co")
Friends(x, y) => Friends(y, x).
"""
FACTS = (
    'Smokes(Anna)\n!Smokes(Bob)\n0.7 Smokes("<b>$x_1$</b> & co")\nFriends(Anna, Bob)\n?Friends(Bob, Bob)\n'
)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "a.mln"
    path.write_text(MODEL)
    return path


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "a.db"
    path.write_text(FACTS)
    return path


def test_a_model_to_the_same_model(model, tmp_path, capsys):
    target = tmp_path / "b.mln"
    assert main(["convert", str(model), str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert ml.load(target) == ml.load(model)


def test_a_model_to_symbols(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "b.txt")]) == 0
    lines = (tmp_path / "b.txt").read_text().splitlines()
    assert "      1.5  Smokes(x) ⇒ (∃y Friends(x, y))" in lines
    assert '0.5 fixed  Smokes("<b>$x_1$</b> & co")' in lines
    assert "     hard  Friends(x, y) ⇒ Friends(y, x)" in lines


def test_a_model_to_a_page(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "b.html")]) == 0
    page = BeautifulSoup((tmp_path / "b.html").read_text(), "html.parser")
    assert not page.find_all(["script", "b"])
    assert "<b>$x_1$</b> & co" in page.get_text()
    assert not [tag for tag in page.find_all() if "//" in (tag.get("src") or tag.get("href") or "")]


def test_a_model_to_latex(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "b.tex")]) == 0
    text = (tmp_path / "b.tex").read_text()
    assert r"1.5 & $\displaystyle \mathrm{Smokes}(x) \Rightarrow (\exists  y\, " in text
    assert r"\$x\_1\$" in text
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "b.tex"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("tables", ["csv", "tsv", "parquet"])
def test_facts_to_a_folder_and_back(tables, model, facts, tmp_path, capsys):
    folder, back = tmp_path / "tables", tmp_path / "back.db"
    assert main(["convert", str(facts), str(folder), "--model", str(model), "--tables", tables]) == 0
    assert f"{folder / 'Smokes'}.{tables}\n" in capsys.readouterr().out
    assert main(["convert", str(folder), str(back), "--model", str(model)]) == 0
    mln = ml.load(model)
    assert same_database(ml.load_db(facts, mln), ml.load_db(back, mln))


def test_facts_to_sqlite_and_back(model, facts, tmp_path):
    middle, back = tmp_path / "a.sqlite", tmp_path / "back.db"
    assert main(["convert", str(facts), str(middle), "--model", str(model)]) == 0
    assert main(["convert", str(middle), str(back), "--model", str(model)]) == 0
    mln = ml.load(model)
    assert same_database(ml.load_db(facts, mln), ml.load_db(back, mln))


def test_bad_input_gets_a_sentence(model, facts, tmp_path, capsys):
    for arguments, sentence in [
        ([model, tmp_path / "a.docx"], "a model can be written as .mln, .txt, .tex, .html."),
        ([facts, tmp_path / "tables"], "Facts need --model MODEL.mln"),
        ([tmp_path / "a.foo", tmp_path / "tables"], "facts can be read as .db"),
        ([facts, tmp_path / "a.foo", "--model", model], "facts can be written as .db"),
        ([tmp_path / "none.db", tmp_path / "tables", "--model", model], "There is no file"),
        ([tmp_path / "none", tmp_path / "b.db", "--model", model], "none"),
        ([model, tmp_path / "none" / "b.mln"], "cannot be written"),
    ]:
        assert main(["convert", *map(str, arguments)]) == 1
        message = capsys.readouterr().err
        assert sentence in message
        assert len(message.splitlines()) == 1
        assert "unexpected" not in message


def test_nothing_is_overwritten_unasked(model, facts, tmp_path, capsys):
    target = tmp_path / "b.mln"
    target.write_text("// mine")
    assert main(["convert", str(model), str(target)]) == 1
    assert capsys.readouterr().err == f"mlnlab convert: {target}: exists already; --force overwrites it.\n"
    assert target.read_text() == "// mine"
    assert main(["convert", str(model), str(target), "--force"]) == 0
    assert ml.load(target) == ml.load(model)
    other = tmp_path / "c.db"
    other.write_text("")
    assert main(["convert", str(facts), str(other), "--model", str(model)]) == 1
    assert "exists already" in capsys.readouterr().err


def test_in_and_out_must_differ(model, facts, tmp_path, capsys):
    (tmp_path / "link.mln").symlink_to(model)
    for source, target in [(model, model), (model, tmp_path / "link.mln"), (facts, facts)]:
        before = source.read_text()
        assert main(["convert", str(source), str(target), "--model", str(model)]) == 1
        assert "--force overwrites it." in capsys.readouterr().err
        assert source.read_text() == before


def test_a_folder_must_be_empty_or_loses_its_old_tables(model, facts, tmp_path, capsys):
    folder = tmp_path / "tables"
    folder.mkdir()
    command = ["convert", str(facts), str(folder), "--model", str(model)]
    assert main([*command, "--tables", "tsv"]) == 0
    (folder / "notes.txt").write_text("mine")
    assert main(command) == 1
    assert "is not empty; --force replaces the tables in it." in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["Friends.csv", "Smokes.csv", "constants.csv", "notes.txt"]
