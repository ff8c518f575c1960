"""Circuits beside C, and one conditional through Python's door, in one run."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import pytest

from mlnlab.circuits.propositional.libra_circuits import load_ac
from mlnlab.factors.data.data_table import DataTable
from tests.benchmarks.beside_c.in_c import FLAGS, _call, find_compiler
from tests.benchmarks.beside_c.measurement import TINY, Effort
from tests.benchmarks.circuits.circuit_speed import edges_per_second, layered_circuit, loops_in_c

SOURCE = Path(__file__).with_name("circuit_passes.c")
NAMES = ("one row", "blocks")
FULL = Effort(rounds=11, updates=20_000_000)  # edges times rows in a round


def compiled(folder, source=SOURCE):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("There is no C compiler here; install gcc to measure beside C.")
    return loops_in_c(_call, compiler, FLAGS, source, folder)


@pytest.mark.parametrize("name", NAMES)
def test_the_loop_in_c_follows_ours(name, tmp_path):
    assert edges_per_second(name, layered_circuit(2_000), TINY, compiled(tmp_path)[name]).same_results


@pytest.mark.parametrize("name", NAMES)
def test_other_results_in_c_are_seen(name, tmp_path):
    wrong = tmp_path / "circuit_passes.c"
    wrong.write_text(
        SOURCE.read_text().replace("total += values", "total -= values").replace("+= more", "-= more")
    )
    assert not edges_per_second(
        name, layered_circuit(2_000), TINY, compiled(tmp_path, wrong)[name]
    ).same_results


@pytest.mark.benchmark
@pytest.mark.parametrize("edges", [25_000, 1_000_000])
@pytest.mark.parametrize("name", NAMES)
def test_circuits_beside_c(name, edges, tmp_path):
    circuit = layered_circuit(edges)
    found = edges_per_second(name, circuit, FULL, compiled(tmp_path)[name])
    speeds = f"ours {1e3 / found.ours:.3f}, C {1e3 / found.in_c:.3f} ns an edge, ratio {found.ratio:.2f}"
    print(f"\n{found.name}, {circuit.edges:,} edges: {speeds}")
    assert found.same_results
    # numba looks, for every node, whether its lanes overlap those of a child; C keeps them in registers.
    assert found.ratio > (0.9 if name == "one row" else 0.6)
    assert found.ours > 2_000 or name == "one row"  # half a nanosecond


@pytest.mark.benchmark
@pytest.mark.parametrize("name", ["nltcs", "msweb"])
def test_conditionals_of_recorded_circuits(name, reference_folder, tmp_path):
    """Recorded: Libra's own program 0.138 and 0.513 ms; pyAgrum 0.6 and 3.4 ms on sparser networks."""
    import lzma

    folder = reference_folder / "rivals-outputs"
    (tmp_path / "circuit.ac").write_bytes(lzma.decompress((folder / f"libra-{name}.ac.xz").read_bytes()))
    circuit = load_ac(tmp_path / "circuit.ac")
    tables = []
    for ending in ("q", "ev"):
        plain = folder / f"{name}.{ending}"
        source = plain if plain.exists() else folder / f"{name}.{ending}.xz"
        tables.append(DataTable.of(source, circuit.variables))
    named = [
        [
            {v.name: x for v, x in zip(circuit.variables, row, strict=True) if x >= 0}
            for row in table.rows.tolist()
        ]
        for table in tables
    ]
    one, many = [], []
    for _ in range(11):
        began = time.thread_time()
        for query, evidence in zip(*named, strict=True):
            circuit.query(query, evidence)
        one.append((time.thread_time() - began) / 200)
        began = time.thread_time()
        circuit.queries(*tables)
        many.append((time.thread_time() - began) / 200)
    single, batch = median(one) * 1e3, median(many)
    print(f"\n{name}: one conditional {single:.3f} ms, in a batch {batch * 1e6:.1f} us, ", end="")
    print(f"{batch * 1e9 / (2 * circuit.edges):.2f} ns for each edge and evaluation")
    assert single < 0.15
    assert batch * 1e9 / (2 * circuit.edges) < 0.5
