"""The decorator of all kernels: right after every change, quiet where nothing is writable, plain too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlnlab import kernels

KERNELS = Path(kernels.__file__).parent

HELPER = """
from mlnlab.kernels.compiled import compiled

@compiled
def step(value):
    return value + {step}
"""

PROBE = """
from mlnlab.kernels.compiled import compiled, plain_twin
from mlnlab.kernels.helper import step

@compiled
def twice(value):
    return step(step(value))
"""

RUN = "from mlnlab.kernels.probe import twice; print(twice(10), sum(twice.stats.cache_hits.values()))"


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels with two more, one of which calls the other from another file."""
    folder = tmp_path / "mlnlab" / "kernels"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "mlnlab" / "__init__.py").touch()
    (folder / "helper.py").write_text(HELPER.format(step=5))
    (folder / "probe.py").write_text(PROBE)
    return folder


def run(package, code=RUN):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    root = package.parents[1]
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=False, cwd=root, env={**environment, "PYTHONPATH": str(root)}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout.split()


def test_a_second_process_takes_the_cache(package):
    assert run(package) == ["20", "0"]
    assert run(package) == ["20", "1"]


def test_a_changed_helper_in_another_file_changes_the_result(package):
    assert run(package) == ["20", "0"]
    (package / "helper.py").write_text(HELPER.format(step=1000))
    assert run(package) == ["2010", "0"]


def test_a_new_file_in_a_folder_below_makes_the_cache_stale(package):
    run(package)
    (package / "inner").mkdir()
    (package / "inner" / "more.py").write_text("x = 1\n")
    assert run(package) == ["20", "0"]


def test_works_where_nothing_is_writable(package):
    refuse = "from numba.core import caching; caching.CacheImpl._locator_classes = []\n"
    code = refuse + "from mlnlab.kernels.probe import twice; print(twice(10), twice._cache.cache_path)"
    assert run(package, code) == ["20", "None"]


def test_works_where_the_cache_can_no_longer_be_written(package):
    fail = """
from numba.core import caching
def refuse(self, key, data): raise OSError("No space left on device")
caching.IndexDataCacheFile.save = refuse
"""
    assert run(package, fail + RUN) == ["20", "0"]


def test_a_damaged_cache_is_made_anew(package):
    run(package)
    for path in (package / "__pycache__").glob("*.nb[ic]"):
        path.write_bytes(path.read_bytes()[:40])
    assert run(package) == ["20", "0"]


def test_the_plain_twin_runs_plain_helpers(package):
    code = """
from mlnlab.kernels import helper, probe
print(probe.plain_twin(probe.twice)(10), len(probe.twice.signatures), len(helper.step.signatures))
"""
    assert run(package, code) == ["20", "0", "0"]


def test_numba_is_not_imported_before_a_kernel_is_used():
    code = """
import sys, mlnlab.kernels, mlnlab.syntax.facts as facts
from mlnlab.logic.vocabulary import Predicate, Vocabulary
facts.analyse_facts("P(a)\\n0.5 P(b)", Vocabulary().with_predicate(Predicate("P", ("thing",))))
print("numba" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=KERNELS.parents[1], capture_output=True, text=True
    )
    assert result.stdout.strip() == "False", result.stderr


def test_warm_up_names_every_kernel_module():
    modules = {path.stem for path in KERNELS.glob("*.py")} - {"__init__", "compiled"}
    warmed = dict(kernels.warm_up_all())
    assert set(warmed) == modules
    assert all(seconds > 0 for seconds in warmed.values())
