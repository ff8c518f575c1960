"""The scripts behind ``make``: they find a Python, install once, and stay silent after that."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="make and bash are for POSIX systems")

# Stands in for pip: it notes what it was asked, and installs nothing.
FAKE_PIP = """
import pathlib, sys
with pathlib.Path(sys.prefix, "asked").open("a") as log:
    print(*sys.argv[1:], file=log)
"""


def run_script(folder, *arguments, **variables):
    environment = os.environ | variables
    command = ["bash", ".ci/environment", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


@pytest.fixture
def project(tmp_path, repository):
    """A project folder with an environment whose pip is the stand-in."""
    shutil.copytree(repository / ".ci", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "constraints.txt").write_text("numpy==2.0\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    (packages,) = (tmp_path / ".venv").glob("lib/python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip" / "__main__.py").write_text(FAKE_PIP)
    return tmp_path


def asked(project):
    return (project / ".venv" / "asked").read_text().splitlines()


def test_a_second_run_installs_nothing(project):
    first = run_script(project)
    assert first.returncode == 0, first.stderr
    assert len(asked(project)) == 1
    assert "--constraint constraints.txt --editable ." in asked(project)[0]
    second = run_script(project)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert len(asked(project)) == 1


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_changed_file_installs_again(project, changed):
    run_script(project)
    (project / changed).write_text("# changed\n")
    run_script(project)
    assert len(asked(project)) == 2


def test_the_test_environment_serves_both(project):
    run_script(project)
    run_script(project, "test")
    assert asked(project)[1].endswith(".[test]")
    run_script(project)
    run_script(project, "test")
    assert len(asked(project)) == 2


def test_a_failed_installation_is_tried_again(project):
    (packages,) = (project / ".venv").glob("lib/python*/site-packages")
    (packages / "pip" / "__main__.py").write_text(FAKE_PIP + "sys.exit(1)\n")
    for attempt in (1, 2):
        failed = run_script(project)
        assert failed.returncode == 1
        assert "pip could not install" in failed.stderr
        assert len(asked(project)) == attempt


def test_without_constraints_the_ranges_decide(project):
    run_script(project, CONSTRAINTS="")
    assert "--constraint" not in asked(project)[0]


def stub(folder, name, text):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_names_that_do_not_work_are_passed_over(project):
    """Version managers leave commands on the path that only say that they are not there."""
    stubs = project / "stubs"
    stub(stubs, "python3.13", "echo 'command not found' >&2; exit 127")
    stub(stubs, "python3.12", "exit 1")
    stub(stubs, "python3.11", f'exec "{sys.executable}" "$@"')
    # A stand-in for a moved environment, which has to be made anew.
    (project / ".venv" / "pyvenv.cfg").unlink()
    made = run_script(project, PATH=f"{stubs}:/usr/bin:/bin", CONSTRAINTS="", PIP_NO_INDEX="1")
    assert "making .venv with Python 3." in made.stderr


def test_no_python_is_said_in_a_sentence(project):
    shutil.rmtree(project / ".venv")
    failed = run_script(project, PYTHON="/nonexistent/python")
    assert failed.returncode == 1
    assert (
        failed.stderr.strip()
        == "mlnlab: PYTHON=/nonexistent/python is not a working Python 3.11, 3.12 or 3.13."
    )


@pytest.mark.parametrize("script", ["environment", "chromium", "run"])
def test_scripts_are_sound(script, repository):
    path = repository / ".ci" / script
    assert path.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", path], check=True)


def test_make_help_names_every_target(repository):
    shown = subprocess.run(
        ["make", "help"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout
    for target in ("lab", "test", "lint", "bench", "clean"):
        assert f"make {target}" in shown
