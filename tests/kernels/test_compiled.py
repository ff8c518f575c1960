"""The decorator of all kernels: right after every change, quiet where nothing is writable, plain too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
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


def cached(package, ending="*.nb[ic]"):
    return list((package.parents[1] / "caches").rglob(ending))


def run(package, code=RUN, **others):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    root = package.parents[1]
    environment |= others or {"NUMBA_CACHE_DIR": str(root / "caches")}
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


@pytest.mark.parametrize("blocked", ["NUMBA_CACHE_DIR", "HOME"])
def test_works_where_every_folder_refuses(package, blocked):
    """Files stand where the folders of the cache would be: this stops root as well."""
    wall = package / "wall"
    wall.write_text("not a folder")
    names = (blocked,) if blocked == "NUMBA_CACHE_DIR" else ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")
    code = "from mlnlab.kernels.probe import twice; print(twice(10), twice._cache.cache_path)"
    assert run(package, code, **dict.fromkeys(names, str(wall))) == ["20", "None"]


def test_works_where_numba_has_moved_its_internals(package):
    break_it = "from numba.core import caching; del caching.CompileResultCacheImpl\n"
    code = break_it + "from mlnlab.kernels.probe import twice; print(twice(10), twice._cache.cache_path)"
    assert run(package, code) == ["20", "None"]


class TestWhereItLies:
    def test_nothing_is_written_into_the_package(self, package):
        before = sorted(package.rglob("*"))
        environment = {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(package.parents[1] / "caches")}
        assert run(package, **environment) == ["20", "0"]
        assert sorted(package.rglob("*")) == before
        assert len(cached(package)) == 4  # an index and the code of either kernel

    @pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="has a folder of its own for caches")
    def test_it_is_the_users_own_cache(self, package):
        home = package.parents[1] / "home"
        for variables, place in (
            ({"HOME": str(home), "XDG_CACHE_HOME": ""}, home / ".cache"),
            ({"HOME": str(home), "XDG_CACHE_HOME": "relative"}, home / ".cache"),
            ({"HOME": str(home), "XDG_CACHE_HOME": str(home / "xdg")}, home / "xdg"),
        ):
            assert run(package, **variables) == ["20", "0"]
            assert run(package, **variables) == ["20", "1"]
            (folder,) = (place / "mlnlab" / "kernels").iterdir()
            assert folder.stat().st_mode & 0o077 == 0
            shutil.rmtree(place)

    def test_the_same_source_elsewhere_takes_the_same_cache(self, package, tmp_path_factory):
        other = tmp_path_factory.mktemp("other")
        shutil.copytree(package.parent, other / "mlnlab")
        caches = {"NUMBA_CACHE_DIR": str(package.parents[1] / "caches")}
        assert run(package) == ["20", "0"]
        assert run(other / "mlnlab" / "kernels", **caches) == ["20", "1"]

    def test_old_versions_go_when_a_new_one_comes(self, package):
        versions = package.parents[1] / "caches" / "kernels"
        for number in range(10):
            (versions / f"v{number}").mkdir(parents=True)
            (versions / f"v{number}" / "a.nbi").touch()
            os.utime(versions / f"v{number}", (time.time() - number * 60,) * 2)
        os.utime(versions / "v0", (0, 0))  # used long ago
        stale = package / "__pycache__" / "gibbs.sweep-1.py311.nbi"
        stale.parent.mkdir(exist_ok=True)
        stale.touch()
        run(package)
        left = {path.name for path in versions.iterdir()}
        assert {name for name in left if name.startswith("v")} == {"v1", "v2", "v3", "v4", "v5"}
        assert len(left) == 6
        assert not stale.exists()

    def test_all_of_them_can_be_removed(self, package):
        run(package)
        code = "from mlnlab.kernels.cache_folder import remove_all; print(remove_all().name, remove_all())"
        assert run(package, code) == ["kernels", "None"]
        assert not (package.parents[1] / "caches").exists()


def test_two_threads_may_call_a_kernel_for_the_first_time(package):
    code = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from mlnlab.kernels.probe import twice
barrier = Barrier(2)
def first_call(value):
    barrier.wait()
    return twice(value)
with ThreadPoolExecutor(2) as threads:
    print(*threads.map(first_call, (10, 20)), len(twice.signatures))
"""
    assert run(package, code) == ["20", "30", "1"]


def test_what_is_cached_can_be_told_without_compiling(package):
    ask = """
from mlnlab.kernels import compiled, helper, probe
kernels = compiled.kernels_of(probe)
print(len(kernels), all(map(compiled.is_cached, kernels)), len(probe.twice.signatures))
"""
    assert run(package, ask) == ["2", "False", "0"]
    run(package)
    assert run(package, ask) == ["2", "True", "0"]
    (package / "helper.py").write_text(HELPER.format(step=7))
    assert run(package, ask) == ["2", "False", "0"]
    (package / "helper.py").write_text(HELPER.format(step=5))
    for path in cached(package, "*.nbi"):
        path.write_bytes(b"nonsense")
    assert run(package, ask) == ["2", "False", "0"]


def test_works_where_the_cache_can_no_longer_be_written(package):
    fail = """
from numba.core import caching
def refuse(self, key, data): raise OSError("No space left on device")
caching.IndexDataCacheFile.save = refuse
"""
    assert run(package, fail + RUN) == ["20", "0"]


def test_a_damaged_cache_is_made_anew(package):
    run(package)
    for path in cached(package):
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
import sys, mlnlab.kernels, mlnlab.syntax.facts.fact_files as facts
from mlnlab.logic.vocabulary import Predicate, Vocabulary
facts.analyse_facts("P(a)\\n0.5 P(b)", Vocabulary().with_predicate(Predicate("P", ("thing",))))
print("numba" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=KERNELS.parents[1], capture_output=True, text=True
    )
    assert result.stdout.strip() == "False", result.stderr


def test_loading_compiles_nothing_and_says_what_was_there():
    assert all(kernels.warm_up_all())
    assert all(ready for _, ready in kernels.load_cached())
    modules = [name for name, _ in kernels.load_cached()]
    assert modules == [name for name, _ in kernels.warm_up_all()]


def test_a_kernel_that_is_not_cached_is_not_loaded(monkeypatch):
    from mlnlab.kernels import compiled
    from mlnlab.kernels.chains import gibbs_sweeps

    monkeypatch.setattr(compiled, "is_cached", lambda kernel: kernel is not gibbs_sweeps.sample)
    monkeypatch.setattr(gibbs_sweeps, "warm_up", lambda: pytest.fail("it was compiled"))
    assert dict(kernels.load_cached())["gibbs_sweeps"] is False
    assert dict(kernels.load_cached())["world_arrays"] is True


SCANNED = {"comments", "names", "words"}  # parts of the scanner of facts, which warms them up


def test_warm_up_names_every_kernel_module():
    modules = {path.stem for path in KERNELS.rglob("*.py")} - {
        "__init__",
        "cache_folder",
        "compiled",
        *SCANNED,
    }
    warmed = dict(kernels.warm_up_all())
    assert set(warmed) == modules
    assert all(seconds > 0 for seconds in warmed.values())
