"""``import mlnlab`` is cheap: heavy libraries are loaded where they are used."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

HEAVY = ["scipy", "pandas", "duckdb", "networkx", "plotly", "numba", "IPython", "ipywidgets", "jupyterlab"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("statement", ["import mlnlab", "import mlnlab.cli; mlnlab.cli._parser()"])
def test_heavy_libraries_stay_out(statement):
    loaded = run_python(f"{statement}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_import_costs_little_more_than_what_it_stands_on():
    statements = {"bare": "pass", "base": "import numpy, lark", "mlnlab": "import mlnlab"}
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(5):  # interleaved, so that a busy moment hits all alike
        for name, code in statements.items():
            began = time.perf_counter()
            run_python(code)
            best[name] = min(best[name], time.perf_counter() - began)
    ours, base = best["mlnlab"] - best["bare"], best["base"] - best["bare"]
    assert ours < 2 * base, f"import mlnlab takes {ours / base:.1f} times what numpy and lark take"


def test_public_names_exist():
    code = "import mlnlab\nfor name in mlnlab.__all__: getattr(mlnlab, name)\nprint('all there')"
    assert run_python(code).strip() == "all there"
