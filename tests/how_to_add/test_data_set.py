"""The page on data sets is followed: its generator, copied beside the others, gives answers that hold."""

from __future__ import annotations

import importlib
import shutil
import sys

import pytest

import mlnlab as ml
from tests.how_to_add.skeletons import PAGES


@pytest.fixture(scope="module")
def texts(repository, tmp_path_factory):
    """The data set of the skeleton, in a copy of the folder of generators."""
    folder = tmp_path_factory.mktemp("samples")
    shutil.copytree(
        repository / "sample_data", folder / "own_samples", ignore=shutil.ignore_patterns("__pycache__")
    )
    own = folder / "own_samples" / "puddles"
    own.mkdir()
    (own / "__init__.py").write_text("")
    shutil.copy(PAGES / "skeleton_data_set.txt", own / "puddles.py")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module("own_samples.puddles.puddles").puddles()
    finally:
        sys.path.remove(str(folder))
        for module in [name for name in sys.modules if name.split(".")[0] == "own_samples"]:
            del sys.modules[module]


def test_it_loads(texts):
    mln, databases = texts.load()
    assert len(mln.formulas) == 3
    assert [db.name for db in databases] == ["puddles.db", "last_day.db"]


def test_the_engine_reaches_its_answers(texts):
    mln, (complete, last_day) = texts.load()
    assert list(ml.count(mln, complete)) == texts.answers["counts"]["puddles"]
    asked = texts.answers["questions"][0]
    found = ml.infer(mln, last_day, asked["query"], method="enumeration")
    for atom, probability in asked["marginals"].items():
        assert found[atom] == pytest.approx(probability, abs=1e-9)
    best = ml.map_state(mln, last_day, asked["query"], method="enumeration")
    assert best.log_weight == pytest.approx(asked["map"]["log_weight"], abs=1e-9)
