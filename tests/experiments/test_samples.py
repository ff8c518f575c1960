"""The sample data: as generated, as documented, and loaded as written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlnlab as ml
from mlnlab.errors import Severity
from mlnlab.experiments.samples import SAMPLES, sample, sample_folder
from sample_data.catalogue import CATALOGUE
from sample_data.folder import folder_texts

FOLDER = Path(__file__).parents[2] / "sample_data"


@pytest.fixture(scope="module")
def texts():
    return folder_texts()


def data_files():
    """Return the files that the generators make: all but the generators, which lie beside them."""
    return [path for path in FOLDER.rglob("*.*") if path.suffix not in {".py", ".pyc"}]


def test_the_folder_is_what_the_generators_make_byte_for_byte(texts):
    found = {path.relative_to(FOLDER).as_posix(): path for path in data_files()}
    assert set(found) == set(texts)
    for name, path in found.items():
        assert path.read_bytes() == texts[name].encode(), f"{name}: python -m sample_data"


def test_the_command_writes_the_folder(tmp_path):
    # Hashes of strings differ between processes: nothing may depend on the order of a set.
    command = [sys.executable, "-m", "sample_data", str(tmp_path)]
    environment = os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": str(FOLDER.parent)}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "files written" in said.stdout
    for path in data_files():
        assert (tmp_path / path.relative_to(FOLDER)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_sample_loads_without_a_remark(name):
    loaded = ml.sample(name)
    # That weights are to be learned is a note, no more.
    assert {remark.severity for remark in loaded.mln.diagnostics} <= {Severity.NOTE}
    assert loaded.mln_path.is_file()
    for database in loaded.databases.values():
        assert database.diagnostics == ()
        assert database.number_of_facts() > 0
    assert loaded.db is next(iter(loaded.databases.values()))
    assert name in repr(loaded)


def test_the_database_that_bears_the_samples_name_comes_first():
    assert list(ml.sample("friends_smokers").databases) == ["friends_smokers", "complete"]
    assert list(ml.sample("karate_club").databases) == ["karate_club", "split"]


def test_a_sample_can_only_be_read():
    with pytest.raises(AttributeError):
        ml.sample("department").name = "other"


def test_the_list_of_samples_and_a_misspelt_one():
    assert list(sample()) == list(SAMPLES) == list(CATALOGUE)
    with pytest.raises(ml.ArgumentError, match="did you mean karate_club") as caught:
        sample("karateclub")
    assert "friends_smokers, department" in str(caught.value)
    with pytest.raises(ml.ArgumentError, match="There are: friends"):
        sample("../../etc")


def test_a_missing_folder_gets_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("mlnlab.experiments.samples._PACKAGE", tmp_path / "nowhere")
    with pytest.raises(ml.InputError, match=r"Install mlnlab again: .* -m pip install --force-reinstall"):
        sample_folder()


@pytest.mark.parametrize("name", CATALOGUE)
def test_loading_the_texts_says_the_same_as_loading_the_files(name):
    mln, databases = CATALOGUE[name].generate().load()
    loaded = ml.sample(name)
    assert mln == loaded.mln
    for database in databases:
        assert database.to_text() == loaded.databases[database.name.removesuffix(".db")].to_text()


@pytest.mark.parametrize("name", CATALOGUE)
def test_sizes_are_as_published(name):
    loaded = ml.sample(name)
    for database, sizes in loaded.answers.get("sizes", {}).items():
        db = loaded.databases[database]
        assert {t: len(d) for t, d in db.vocabulary.types.items()} == sizes["constants"]
        assert db.number_of_facts() == sizes["true_atoms"]
        assert sum(map(db.number_of_atoms, db.vocabulary.predicates)) == sizes["ground_atoms"]


def test_every_number_of_the_readme_is_an_answer(texts):
    said = set(re.findall(r"0\.\d{6,}", texts["README.md"]))
    answers = "".join(text for name, text in texts.items() if name.endswith(".json"))
    assert said
    assert said <= set(re.findall(r"0\.\d{6,}", answers))


def test_answers_have_one_best_world():
    for name in CATALOGUE:
        answers = json.loads((FOLDER / name / "answers.json").read_text(encoding="utf-8"))
        for question in answers.get("questions", ()):
            assert question["map"]["gap"] > 1e-6, name


def test_a_name_may_have_hyphens():
    assert ml.sample("friends-smokers").name == "friends_smokers"
    with pytest.raises(ml.ArgumentError, match="There is no sample 'karate-clup'; did you mean karate_club"):
        ml.sample("karate-clup")


def test_what_is_said_of_the_samples_is_true():
    db = ml.sample("friends_smokers").db
    known = len(list(db.rows("Smokes"))) + len(list(db.rows("Smokes", "false")))
    assert 2 * known == len(db.domain("person"))
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "half of the habits are known" in readme
    assert "half of the smokers" not in readme
    for name, published in (("university", "929, 2112 and 260254"), ("movies", "316 constants, 1224")):
        assert published in readme
        for total in map(sum, zip(*_sizes(name), strict=True)):
            assert str(total) in CATALOGUE[name].remark


def _sizes(name):
    for sizes in ml.sample(name).answers["sizes"].values():
        yield sum(sizes["constants"].values()), sizes["true_atoms"], sizes["ground_atoms"]
