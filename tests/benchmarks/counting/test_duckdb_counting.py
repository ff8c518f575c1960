"""Counting facts that stay in Parquet, under a limit of memory, in a process of its own.

    MLNLAB_FACTS=100000000 \\
        .venv/bin/python -m pytest -s -m benchmark tests/benchmarks/counting/test_duckdb_counting.py

writes 10^8 facts (about 0.7 GB, as long as it runs); without the setting there are 10^6.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import duckdb
import pytest

pytestmark = pytest.mark.benchmark

FACTS = int(os.environ.get("MLNLAB_FACTS", "1000000"))
NODES = FACTS // 10
MOST_BYTES = 2 << 30

COUNTING = """
import json, resource, sys, time
import mlnlab as ml
link, mark, nodes, distinct = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "True"
mln = ml.MLN.from_text(f"node = {{0, ..., {nodes - 1}}}\\nLink(node, node)\\nMark(node)\\n"
    "1 Link(x, y) ^ Link(y, z)\\n1 Link(x, y) ^ Mark(x) => Mark(y)\\n1 Link(x, y) ^ Link(x, z) ^ Mark(x)\\n")
began = time.time()
with ml.FactFiles({"Link": link, "Mark": mark}, mln, memory="1200MB", threads=2, distinct=distinct) as facts:
    opened = time.time() - began
    counts = list(ml.count(mln, facts))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"counts": counts, "opened": opened, "seconds": time.time() - began, "peak": peak}))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    link, mark = folder / "link.parquet", folder / "mark.parquet"
    with duckdb.connect(
        config={"memory_limit": "1GB", "threads": 2, "preserve_insertion_order": False}
    ) as connection:
        # Ten links leave each node, to nodes that multiplication scatters; no two are the same.
        target = f"((k % {NODES}) * 7919 + (k // {NODES}) * 104729 + 13) % {NODES}"
        connection.execute(
            f"COPY (SELECT (k % {NODES})::INTEGER node1, ({target})::INTEGER node2 FROM range({FACTS}) r(k))"
            f" TO '{link}' (FORMAT parquet)"
        )
        connection.execute(
            f"COPY (SELECT (3 * k)::INTEGER node FROM range({NODES // 3}) r(k)) TO '{mark}' (FORMAT parquet)"
        )
    yield link, mark
    link.unlink()
    mark.unlink()


@pytest.mark.parametrize("distinct", [True, False])
def test_facts_in_parquet_are_counted_below_two_gigabytes(files, distinct):
    arguments = [*map(str, files), str(NODES), str(distinct)]
    answer = subprocess.run(
        [sys.executable, "-c", COUNTING, *arguments], check=True, capture_output=True, text=True
    )
    found = json.loads(answer.stdout)
    times = f"{found['seconds']:.1f} s, of which {found['opened']:.1f} s to open"
    print(f"{FACTS:,} facts, distinct={distinct}: {times}; at most {found['peak'] / 2**30:.2f} GiB")
    path, clause, star = found["counts"]
    assert path == FACTS * 10
    assert star == NODES // 3 * 100
    assert 0 < NODES**2 - clause < FACTS
    assert found["peak"] < MOST_BYTES
