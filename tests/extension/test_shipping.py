"""What is built from the project holds the JupyterLab extension where Lab looks, once, and needs no node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest


def built(repository, kind, folder):
    """Build an archive with the build system alone; no program of a JavaScript world is on the path."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder]
    environment = os.environ | {"PATH": "/nonexistent"}
    subprocess.run(command, cwd=repository, env=environment, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(repository, tmp_path_factory):
    """The names in the wheel."""
    with zipfile.ZipFile(built(repository, "wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        return archive.namelist()


def test_the_wheel_brings_the_extension_to_where_lab_looks(repository, wheel):
    place = f"{wheel[-1].partition('.dist-info/')[0]}.data/data/share/jupyter/labextensions/mlnlab/"
    source = repository / "mlnlab" / "labextension"
    expected = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert {name.removeprefix(place) for name in wheel if name.startswith(place)} == expected
    assert {"package.json", "install.json"} <= expected


def test_the_wheel_brings_it_once_and_without_its_sources(wheel):
    assert not [name for name in wheel if "labextension/" in name or "extension/src" in name]
    assert not [name for name in wheel if "node_modules" in name]
    assert "mlnlab/display/static/scene.js" in wheel


def test_the_wheel_brings_the_sample_data_with_their_generators(repository, wheel):
    source = repository / "sample_data"
    expected = {path.relative_to(source).as_posix() for path in source.rglob("*.*") if path.suffix != ".pyc"}
    assert {name.removeprefix("mlnlab/sample_data/") for name in wheel if "sample_data" in name} == expected
    # Inside the package the generators import each other by other names than in a clone.
    generators = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    assert generators
    assert not [text for text in generators if re.search(r"^(from|import) sample_data", text, re.MULTILINE)]


def test_the_source_archive_can_build_both(repository, tmp_path):
    with tarfile.open(built(repository, "sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"extension/package.json", "extension/yarn.lock", "extension/src/model.grammar"} <= names
    assert {"mlnlab/labextension/package.json", "mlnlab/display/static/scene.js"} <= names
    made = ("extension/node_modules/", "extension/lib/", "extension/.yarn/")
    assert not [name for name in names if name.startswith(made)]
