"""Learning networks of decision trees: seconds beside those of Libra's bnlearn, and counting beside C.

Libra's figures were measured once, as seconds of the processor with reading the data (reference/ac-peers.md,
section 1); ours are without reading and compiling. At one setting both learn the same splits.
"""

from __future__ import annotations

import time
from statistics import median

import pytest

import mlnlab as ml
from tests.benchmarks.beside_c.leaf_speed import words_per_second
from tests.benchmarks.beside_c.measurement import Effort

pytestmark = [pytest.mark.benchmark, pytest.mark.data]

LIBRA = {  # penalty of a split, splits, seconds, log-likelihood of a training row
    "nltcs": (1, 728, 1.38, -5.9235),
    "plants": (10, 1_064, 9.0, -12.3835),
    "kdd": (5, 1_111, 66.8, -2.3313),
    "msweb": (5, 1_474, 61.7, -9.4150),
    "tmovie": (10, 2_555, 170.5, -51.2293),
}
COLUMNS = "{:8} {:>7} {:>7} {:>8} {:>7} {:>7} {:>12} {:>9}"
HEAD = COLUMNS.format("", "splits", "Libra", "seconds", "Libra", "ratio", "LL of a row", "Libra")


@pytest.mark.parametrize("name", LIBRA)
def test_networks_of_libras_size(name, data_folder, capsys):
    k_p, splits, seconds, value = LIBRA[name]
    table = ml.DataTable.of(data_folder / "debd" / f"{name}.train.data.xz")
    learner = ml.network_learner(table, k_p=k_p, prior=0.5)
    spent = []
    for _ in range(4):  # the first one compiles
        began = time.process_time()
        *_, last = learner
        spent.append(time.process_time() - began)
    own = median(spent[1:])
    line = COLUMNS.format(
        name, f"{last.n_splits:,}", f"{splits:,}", f"{own:.3f}", f"{seconds:.2f}", f"{seconds / own:,.0f}",
        f"{last.value / len(table):.4f}", f"{value:.4f}",
    )  # fmt: skip
    with capsys.disabled():
        print(f"\n{HEAD}\n{line}")
    assert abs(last.n_splits - splits) <= 1
    assert own < seconds / 10


@pytest.mark.parametrize("name", ["kdd", "msweb", "tmovie"])
def test_leaves_are_counted_as_in_c(name, data_folder, in_c, capsys):
    table = ml.DataTable.of(data_folder / "debd" / f"{name}.train.data.xz")
    found = words_per_second(f"Leaves of {name}", table, Effort(11, 200_000_000), in_c)
    speeds = f"{found.ours:,.0f} M {found.unit}/s, C {found.in_c:,.0f}, ratio {found.ratio:.2f}"
    with capsys.disabled():
        print(f"\n{found.name}: {speeds}")
    assert found.same_results
