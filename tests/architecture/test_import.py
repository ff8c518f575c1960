"""``import mlnlab`` is cheap: heavy libraries are loaded where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["scipy", "pandas", "duckdb", "networkx", "plotly", "numba", "IPython", "ipywidgets", "jupyterlab"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("statement", ["import mlnlab", "import mlnlab.cli; mlnlab.cli._parser()"])
def test_heavy_libraries_stay_out(statement):
    loaded = run_python(f"{statement}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])")
    assert loaded.strip() == "[]"


COUNTING = """
import sys
number = 0
def counting(frame, event, argument):
    global number
    number += event in {"call", "c_call"}
sys.setprofile(counting)
STATEMENT
sys.setprofile(None)
print(number)
"""


def test_import_costs_less_than_what_the_work_stands_on():
    """Calls are counted, which no machine does faster than another; of ours there were a twentieth."""
    for statement in ("import mlnlab", "import numpy, lark"):
        run_python(statement)  # compiled to bytes once
    ours, base = (
        int(run_python(COUNTING.replace("STATEMENT", statement)))
        for statement in ("import mlnlab", "import numpy, lark")
    )
    assert ours < base / 4


def test_public_names_exist():
    code = "import mlnlab\nfor name in mlnlab.__all__: getattr(mlnlab, name)\nprint('all there')"
    assert run_python(code).strip() == "all there"
