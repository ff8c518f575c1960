"""Free memory: what the machine, its control groups and the process's limits leave, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mlnlab as ml
from mlnlab.steps import free_memory
from mlnlab.steps.free_memory import free_bytes, refuse_beyond_memory

MEMINFO = "MemTotal: 24000000 kB\nMemFree: 1000000 kB\nMemAvailable: 20000000 kB\nSwapFree: 500000 kB\n"


def system(root, **files):
    """Write the files of a system under a folder; two underscores stand for a slash."""
    for name, text in {"proc__meminfo": MEMINFO, **files}.items():
        path = root / name.replace("__", "/").replace("-", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(autouse=True)
def _nothing_allowed(monkeypatch):
    monkeypatch.delenv(free_memory.ALLOWING, raising=False)
    monkeypatch.setattr(free_memory, "_of_process", lambda root: iter(()))


def test_the_machine_has_what_is_available_and_its_swap(tmp_path):
    assert free_bytes(system(tmp_path)) == 1024 * 20_500_000


def test_a_container_has_what_its_group_leaves_it(tmp_path):
    files = {
        "proc__self__cgroup": "0::/machine/box\n",
        "sys__fs__cgroup__machine__box__memory.max": "4000000000\n",
        "sys__fs__cgroup__machine__box__memory.current": "3000000000\n",
        "sys__fs__cgroup__machine__box__memory.stat": "anon 5\ninactive_file 500000000\n",
        "sys__fs__cgroup__memory.max": "max\n",
    }
    assert free_bytes(system(tmp_path, **files)) == 1_500_000_000


def test_a_group_around_it_may_leave_less(tmp_path):
    files = {
        "proc__self__cgroup": "0::/machine/box\n",
        "sys__fs__cgroup__machine__box__memory.max": "4000000000\n",
        "sys__fs__cgroup__machine__box__memory.current": "0\n",
        "sys__fs__cgroup__machine__memory.max": "900000000\n",
        "sys__fs__cgroup__machine__memory.current": "400000000\n",
    }
    assert free_bytes(system(tmp_path, **files)) == 500_000_000


def test_older_control_groups_are_read_too_and_a_container_may_see_its_own_as_the_root(tmp_path):
    files = {
        "proc__self__cgroup": "5:cpu:/\n4:memory:/docker/abc\n0::/\n",
        "sys__fs__cgroup__memory__memory.limit_in_bytes": "2000000000\n",
        "sys__fs__cgroup__memory__memory.usage_in_bytes": "800000000\n",
        "sys__fs__cgroup__memory__memory.stat": "total_inactive_file 300000000\n",
    }
    assert free_bytes(system(tmp_path, **files)) == 1_500_000_000
    unlimited = {**files, "sys__fs__cgroup__memory__memory.limit_in_bytes": "9223372036854771712\n"}
    assert free_bytes(system(tmp_path / "other", **unlimited)) == 1024 * 20_500_000


def test_where_a_system_tells_nothing_nothing_is_refused(tmp_path):
    assert free_bytes(tmp_path) == float("inf")


def test_who_insists_says_how_much_may_be_taken(monkeypatch):
    monkeypatch.setattr(free_memory, "_of_machine", lambda root: 1e9)
    with pytest.raises(ml.TooLargeError, match="about 44 GB of memory; 1 GB are free") as refused:
        refuse_beyond_memory(43.6e9, "It", ["use fewer constants"])
    assert refused.value.estimate == 43.6e9
    assert refused.value.remedies[0] == "use fewer constants"
    assert 'os.environ["MLNLAB_MEMORY"] = "44GB"' in refused.value.remedies[1]
    for text, fits in (("44GB", True), ("43 gb", False), ("0.05T", True), ("44000MiB", True), ("50e9", None)):
        monkeypatch.setenv(free_memory.ALLOWING, text)
        if fits is None:
            with pytest.raises(ml.ArgumentError, match='an amount of memory such as "20GB"'):
                refuse_beyond_memory(43.6e9, "It")
        elif fits:
            refuse_beyond_memory(43.6e9, "It")
        else:
            with pytest.raises(ml.TooLargeError):
                refuse_beyond_memory(43.6e9, "It")


def test_small_work_does_not_ask(monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda: pytest.fail("asked"))
    refuse_beyond_memory(1e6, "It")


FRIENDS = "S(p)\nF(p, p)\n1 F(x, y) ^ S(x) => S(y)\n0.5 F(x, y)"
PAIRS = "S(p)\n0.3 S(x) ^ S(y)"
PEOPLE = {"p": 6}


def triples():
    mln = ml.MLN.from_text("R(p, p, p)\n1 R(x, y, z) ^ R(y, z, w) ^ R(z, w, x)")
    facts = "\n".join(f"R(P{i}, P{(i * i) % 60}, P{(i * 3) % 60})" for i in range(60))
    return mln, ml.Database.from_text(facts, mln)


def learned(method):
    mln = ml.MLN.from_text(PAIRS)
    facts = "\n".join(f"S(P{i})" for i in range(24)) + "\np = {P24}"
    return ml.learn_weights(mln, ml.Database.from_text(facts, mln), method)


WORK = {
    "auto": lambda: ml.infer(ml.MLN.from_text(FRIENDS), {"p": 40}, samples=10),
    "gibbs": lambda: ml.infer(ml.MLN.from_text(FRIENDS), PEOPLE, method="gibbs"),
    "junction tree": lambda: ml.infer(ml.MLN.from_text(PAIRS), PEOPLE, method="junction-tree"),
    "map state": lambda: ml.map_state(ml.MLN.from_text(FRIENDS), PEOPLE, method="max-walk-sat"),
    "log z": lambda: ml.log_z(ml.MLN.from_text(FRIENDS), PEOPLE, method="junction-tree"),
    "counting": lambda: ml.count(*triples()),
    "grounding": lambda: ml.ground(ml.MLN.from_text(FRIENDS), PEOPLE),
    "factor graph": lambda: ml.marginals(ml.sample_network("lattice"), method="junction-tree"),
    "elimination": lambda: ml.variable_elimination(ml.sample_network("lattice"), ["x11"]),
    "circuit": lambda: ml.lift(ml.MLN.from_text(FRIENDS)).compile().log_z({"p": 500}),
    "worlds": lambda: ml.lift(ml.MLN.from_text(FRIENDS)).compile(method="cells").sample_worlds(1, {"p": 50}),
    "likelihood": lambda: learned("ll"),
}  # fmt: skip


@pytest.mark.parametrize("work", WORK)
def test_what_takes_more_memory_than_is_free_is_refused(work, monkeypatch):
    monkeypatch.setattr(free_memory, "SMALL", 0)
    monkeypatch.setattr(free_memory, "free_bytes", lambda: 10.0)
    with pytest.raises(ml.TooLargeError, match=r"of memory; .* are free"):
        WORK[work]()


LIMITED = """
import resource
import mlnlab as ml
text = "S(p)\\n" + "0.1 " + " ^ ".join(f"S(x{i})" for i in range(2))
mln = ml.MLN.from_text(text)
ml.infer(mln, {"p": 3}, method="junction-tree")
import mlnlab.steps.free_memory as memory
used = memory._read_numbers(memory.Path("/proc/self/status"))["VmSize"] * 1024
resource.setrlimit(resource.RLIMIT_AS, (int(used) + 300_000_000,) * 2)
try:
    ml.infer(mln, {"p": 25}, method="junction-tree")
except ml.TooLargeError as refused:
    print(refused)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is one of Linux")
def test_a_limit_of_the_process_is_kept_by_a_refusal_and_not_by_a_crash():
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "of memory; " in done.stdout, done.stderr
