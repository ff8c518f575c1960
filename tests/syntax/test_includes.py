"""Included files lie below the folder of the file that is read, links followed, unless allowed."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.syntax.formulas import analysis

SECRET = "password = {Swordfish\n"  # what a report of problems would quote


@pytest.fixture
def model(tmp_path):
    """A folder with a model, and a file beside the folder that is none of its business."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "models" / "inner").mkdir(parents=True)
    return tmp_path / "models" / "main.mln"


def refusal(action):
    with pytest.raises(ml.InputError) as found:
        action()
    return found.value


@pytest.mark.parametrize(
    "name", ["../secret.txt", "inner/../../secret.txt", "absolute", "link.mln", "link/secret.txt"]
)
def test_a_file_outside_is_neither_read_nor_quoted(model, name):
    outside = model.parent.parent
    (model.parent / "link.mln").symlink_to(outside / "secret.txt")
    (model.parent / "link").symlink_to(outside)
    model.write_text(f'#include "{outside / "secret.txt" if name == "absolute" else name}"\nP(t)\n')
    error = refusal(lambda: ml.load(model))
    (problem,) = error.diagnostics
    assert problem.code == "include-outside"
    assert "is not below the folder of the model that includes it" in problem.message
    assert "secret.txt" in problem.message or "link" in problem.message
    assert 'includes="anywhere"' in problem.repair
    assert "Swordfish" not in str(error)
    assert "Swordfish" in str(refusal(lambda: ml.load(model, includes="anywhere")))
    text = model.read_text()
    for found in (ml.check(model), ml.check(text, folder=model.parent)):
        assert [one.code for one in found] == ["include-outside"]
    assert (
        refusal(lambda: ml.MLN.from_text(text, folder=model.parent)).diagnostics[0].code == "include-outside"
    )


def test_whether_a_file_outside_exists_is_not_told(model):
    model.write_text('#include "../nothing.txt"\n')
    assert [one.code for one in ml.check(model)] == ["include-outside"]


def test_files_below_include_each_other_across_folders(model):
    model.write_text('#include "inner/a.mln"\n1 P(x)\n')
    (model.parent / "inner" / "a.mln").write_text('#include "../types.mln"\n')
    (model.parent / "types.mln").write_text("P(t)\n")
    assert ml.load(model).weights == [1]


def test_a_folder_that_is_a_link_is_where_it_leads(model, tmp_path):
    model.write_text('#include "inner/a.mln"\n')
    (model.parent / "inner" / "a.mln").write_text("P(t)\n")
    (tmp_path / "short").symlink_to(model.parent)
    assert list(ml.load(tmp_path / "short" / "main.mln").vocabulary.predicates) == ["P"]


def test_as_many_files_as_are_allowed_are_included(model, monkeypatch):
    monkeypatch.setattr(analysis, "MOST_INCLUDES", 2)
    for name in ("a", "b", "c"):
        (model.parent / f"{name}.mln").write_text(f"P{name}(t)\n")
    model.write_text('#include "a.mln"\n#include "b.mln"\n')
    assert len(ml.load(model).vocabulary.predicates) == 2
    model.write_text('#include "a.mln"\n#include "b.mln"\n#include "c.mln"\n')
    with pytest.raises(ml.InputError, match="more than 2 files are included"):
        ml.load(model)


def test_the_caller_may_allow_all(model, capsys):
    (model.parent.parent / "common.mln").write_text("P(t)\n")
    model.write_text('#include "../common.mln"\n1 P(x)\n')
    assert ml.load(model, includes="anywhere").weights == [1]
    assert ml.MLN.from_text(model.read_text(), folder=model.parent, includes="anywhere").weights == [1]
    assert ml.check(model, includes="anywhere") == ()
    assert main(["check", str(model)]) == 1
    assert "--includes anywhere on the command line" in capsys.readouterr().out
    assert main(["check", str(model), "--includes", "anywhere"]) == 0
    copy = model.parent / "copy.mln"
    assert main(["convert", str(model), str(copy), "--includes", "anywhere"]) == 0
    with pytest.raises(ml.ArgumentError, match='includes is "below" or "anywhere"'):
        ml.load(model, includes="everywhere")
