"""The scripts behind ``make``: they find a Python, install once, and stay silent after that."""

from __future__ import annotations

import ast
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tomllib

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


def test_the_extension_of_jupyterlab_is_linked_to_the_sources(project):
    """pip copies it; a copy would stay what it was while the sources change."""
    built = project / "mlnlab" / "labextension"
    built.mkdir(parents=True)
    (built / "package.json").write_text("{}")
    link = project / ".venv" / "share" / "jupyter" / "labextensions" / "mlnlab"
    link.mkdir(parents=True)
    (link / "package.json").write_text("a copy of pip's")
    for _ in range(2):
        assert run_script(project).returncode == 0
        assert link.is_symlink()
        assert link.samefile(built)
    link.unlink()
    (project / "constraints.txt").write_text("# changed\n")
    assert run_script(project).returncode == 0
    assert link.samefile(built)
    assert (built / "package.json").read_text() == "{}"


def test_pip_never_writes_through_the_link(project):
    built = project / "mlnlab" / "labextension"
    built.mkdir(parents=True)
    run_script(project)
    (packages,) = (project / ".venv").glob("lib/python*/site-packages")
    copying = "folder = pathlib.Path(sys.prefix, 'share', 'jupyter', 'labextensions', 'mlnlab')\n"
    copying += "folder.mkdir(parents=True)\n(folder / 'package.json').write_text('older')\n"
    (packages / "pip" / "__main__.py").write_text(FAKE_PIP + copying)
    (project / "constraints.txt").write_text("# changed\n")
    assert run_script(project).returncode == 0
    assert list(built.iterdir()) == []


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
    for target in ("lab", "test", "lint", "bench", "clean", "extension"):
        assert f"make {target}" in shown


def given_python(project, version):
    """A Python that says to be of another version than the environment's; all else it leaves to ours."""
    stub(
        project / "stubs",
        "other-python",
        f"""case "$2" in *platform*) echo {version};; *) exec "{sys.executable}" "$@";; esac""",
    )
    return str(project / "stubs" / "other-python")


def test_a_given_python_of_another_version_makes_the_environment_anew(project):
    run_script(project)
    same = given_python(project, platform.python_version())
    assert run_script(project, PYTHON=same).stderr == ""
    other = given_python(project, "3.12.99")
    made = run_script(project, PYTHON=other, PIP_NO_INDEX="1")
    assert "making .venv with Python 3." in made.stderr
    assert not (project / ".venv" / "asked").exists()


def test_a_given_python_that_does_not_work_is_refused_beside_an_environment(project):
    run_script(project)
    failed = run_script(project, PYTHON="/nonexistent/python")
    assert failed.returncode == 1
    assert "PYTHON=/nonexistent/python is not a working Python" in failed.stderr


def test_without_constraints_what_is_there_is_upgraded(project):
    run_script(project)
    for time in (1, 2):
        run_script(project, CONSTRAINTS="")
        assert "--upgrade --upgrade-strategy eager --editable ." in asked(project)[time]
    assert "--upgrade" not in asked(project)[0]


def test_every_direct_import_is_declared(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    declared = {re.split("[<>=]", line)[0].replace("-", "_") for line in project["project"]["dependencies"]}
    pinned = (repository / "constraints.txt").read_text().lower().replace("-", "_")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (repository / "mlnlab").rglob("*.py")]
    names = {
        name.partition(".")[0]
        for tree in trees
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    foreign = names - set(sys.stdlib_module_names) - {"mlnlab"}
    distributions = {
        "bs4": "beautifulsoup4",
        "IPython": "ipython",
        "flint": "python_flint",
        "pysat": "python_sat",
    }
    for name in foreign:
        distribution = distributions.get(name, name)
        assert distribution in declared, name
        assert f"\n{distribution}==" in pinned, name
