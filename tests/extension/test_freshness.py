"""The build of the JupyterLab extension that ships is the one that its sources make, and ships whole."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import tomllib

import pytest

MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def stamp(repository):
    """The module that the build stamps itself with."""
    spec = importlib.util.spec_from_file_location("stamp", repository / "extension" / "stamp.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def description(stamp):
    """What the build says of itself."""
    return json.loads((stamp.BUILD / "package.json").read_text(encoding="utf-8"))


def test_the_build_is_fresh(stamp):
    assert stamp.STAMP.read_text(encoding="utf-8").strip() == stamp.fingerprint(), (
        "extension/ or a module that it draws with has changed since the build: run `make extension`, and"
        " commit mlnlab/labextension with the change"
    )


def test_the_stamp_covers_the_sources_and_what_they_draw_with(stamp):
    names = {path.name for path in stamp.sources()}
    assert {"package.json", "yarn.lock", "model.grammar", "drawings.ts", "index.css", "model.svg"} <= names
    assert {"scene.js", "table.js", "look.js", "drawing.js", "table_rules.js"} <= names
    assert not {"run_view.js", "player.js"} & names  # widgets bring these themselves


@pytest.mark.parametrize("changed", ["extension/src/cells.ts", "mlnlab/display/static/items.js"])
def test_a_change_is_seen(stamp, repository, tmp_path, monkeypatch, changed):
    made = shutil.ignore_patterns("node_modules", "lib", ".yarn")
    shutil.copytree(repository / "extension", tmp_path / "extension", ignore=made)
    shutil.copytree(stamp.SHARED, tmp_path / "mlnlab" / "display" / "static")
    monkeypatch.setattr(stamp, "SOURCES", tmp_path / "extension")
    monkeypatch.setattr(stamp, "SHARED", tmp_path / "mlnlab" / "display" / "static")
    before = stamp.fingerprint()
    with (tmp_path / changed).open("a") as file:
        file.write("\n")
    assert stamp.fingerprint() != before


def test_the_build_holds_what_lab_loads(stamp, description):
    build = description["jupyterlab"]["_build"]
    assert (stamp.BUILD / build["load"]).is_file()
    assert build["extension"] == "./extension"
    named = [path.name for path in (stamp.BUILD / "static").glob("remoteEntry.*")]
    assert named == [build["load"].removeprefix("static/")]
    install = json.loads((stamp.BUILD / "install.json").read_text(encoding="utf-8"))
    assert install["packageName"] == "mlnlab"


def test_the_build_has_the_version_of_the_package(description, repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    assert description["version"] == project["project"]["version"]


def test_the_build_is_small(stamp):
    assert sum(path.stat().st_size for path in stamp.BUILD.rglob("*") if path.is_file()) < MOST_BYTES


def test_no_registry_and_no_folder_of_a_machine_is_named(stamp, repository):
    built = [path for path in stamp.BUILD.rglob("*") if path.is_file()]
    own = [path for path in stamp.sources() if path.is_relative_to(stamp.SOURCES)]
    for path in [*built, *own]:
        text = path.read_text(encoding="utf-8")
        assert str(repository) not in text, path
        assert not re.search(r"registry\.[a-z]+[./]|npmjs|yarnpkg|npmmirror|/home/|/root/|/tmp/", text), path
    lock = (stamp.SOURCES / "yarn.lock").read_text(encoding="utf-8")
    assert "http" not in lock


def test_what_is_installed_or_compiled_is_not_tracked(repository):
    if not (repository / ".git").exists():
        pytest.skip("no git here: an unpacked archive")
    listed = ["git", "ls-files", "extension", "mlnlab/labextension"]
    tracked = subprocess.run(
        listed, cwd=repository, check=True, capture_output=True, text=True
    ).stdout.split()
    assert not [name for name in tracked if re.search(r"node_modules|extension/lib/|\.yarn/", name)]
    built = {f"mlnlab/labextension/{name}" for name in ("package.json", "sources.sha256", "install.json")}
    assert built <= set(tracked)
