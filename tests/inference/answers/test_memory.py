"""Memory beside time: what answers say they held, beside what Python itself measured."""

from __future__ import annotations

import time
import tracemalloc
import warnings

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.steps.free_memory import memory_in_words

SMOKERS = "S(p)\nC(p)\nF(p, p)\n1.5 S(x) => C(x)\n0.2 F(x, y) ^ S(x) => S(y)\n-1 F(x, y)"
PAIRS = "S(p)\n0.3 S(x) ^ S(y)"
TWINS = "S(p)\nT(p)\n2 S(x) <=> T(x)"
SHORT = {"samples": 60, "burn_in": 5}

pytestmark = pytest.mark.filterwarnings("ignore::mlnlab.inference.ask.asking.SamplingWarning")


def everyone(number, text):
    return ml.MLN.from_text(f"p = {{1, ..., {number}}}\n{text}")


def peak_of(ask):
    """Return what says of a model what ``ask`` answers, and the most memory that Python counted."""
    ask(everyone(3, SMOKERS))  # imported and compiled before
    ask(everyone(12, PAIRS))
    tracemalloc.start()
    return lambda model: (ask(model), tracemalloc.get_traced_memory()[1])


@pytest.fixture(autouse=True)
def _traced():
    """Count no longer than a test takes."""
    yield
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("method", "number", "text", "options"),
    [
        ("gibbs", 60, SMOKERS, SHORT),
        ("mc-sat", 60, SMOKERS, SHORT),
        ("belief-propagation", 60, SMOKERS, {}),
        ("mean-field", 60, SMOKERS, {}),
        ("lifted-belief-propagation", 60, SMOKERS, {}),
        ("junction-tree", 500, TWINS, {}),
        ("enumeration", 18, PAIRS, {}),
    ],
)
def test_marginals_hold_what_python_counts_within_a_factor_of_two(method, number, text, options):
    measured = peak_of(lambda model: ml.infer(model, method=method, **options))
    began = time.perf_counter()
    answer, peak = measured(everyone(number, text))
    assert peak / 2.1 < answer.memory < 2.1 * peak
    assert 0 < answer.seconds <= time.perf_counter() - began


@pytest.mark.parametrize("method", ["max-walk-sat", "rc2", "icm", "simulated-annealing", "junction-tree"])
def test_searches_hold_what_python_counts_within_a_factor_of_three(method):
    text, number = (TWINS, 500) if method in {"junction-tree", "rc2"} else (SMOKERS, 60)
    options = {"flips": 2_000, "tries": 1} if method == "max-walk-sat" else {}
    measured = peak_of(lambda model: ml.map_state(model, method=method, **options))
    answer, peak = measured(everyone(number, text))
    assert peak / 3 < answer.memory < 3 * peak


@pytest.mark.parametrize("method", ["enumeration", "junction-tree"])
def test_log_z_says_its_seconds_and_its_memory(method):
    measured = peak_of(lambda model: ml.log_z(model, method=method))
    model = everyone(18, PAIRS) if method == "enumeration" else everyone(500, TWINS)
    answer, peak = measured(model)
    assert answer.seconds > 0
    assert peak / 3 < answer.memory < 3 * peak


@pytest.mark.benchmark  # half a minute of sampling large models
@pytest.mark.parametrize(
    ("number", "text"), [(18, PAIRS), (40, TWINS), (200, TWINS), (20, SMOKERS), (40, SMOKERS)]
)
def test_plans_say_within_a_factor_of_three_what_answers_hold(number, text):
    model = everyone(number, text)
    plan = ml.inference_plan(model)
    options = SHORT if plan.method in {"gibbs", "mc-sat"} else {}
    answer = ml.infer(model, method=plan.method, **options)
    traced = answer.trace.size if answer.trace is not None else 0
    assert plan.memory / 3 < answer.memory - traced < 3 * plan.memory, (plan.memory, answer.memory, traced)


@pytest.mark.parametrize("method", ["junction-tree", "gibbs", "belief-propagation", "mean-field"])
def test_networks_have_memory_beside_seconds(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ml.marginals(ml.sample_network("lattice"), method=method)
    assert found.memory > 1_000
    assert found.seconds > 0


def test_counting_bytes():
    numbers = np.zeros(1_000)
    assert bytes_of(numbers) == bytes_of(numbers, numbers) == 8_112
    many = tuple(np.zeros(10) for _ in range(10_000))
    assert bytes_of(many) == pytest.approx(10_000 * (112 + 80 + 8), rel=0.05)
    keyed = {f"name {n}": float(n) for n in range(10_000)}
    assert bytes_of(keyed) == pytest.approx(10_000 * (24 + 57) + keyed.__sizeof__(), rel=0.1)
    cycle: list[object] = []
    cycle.append(cycle)
    assert bytes_of(cycle) < 200
    assert bytes_of(everyone(9, PAIRS), "text", None, len) == 0


def test_words():
    assert [memory_in_words(n) for n in (1, 400_000, 2.5e6, 99e6, 1.23e9)] == [
        "0.01 MB", "0.4 MB", "2.5 MB", "99 MB", "1.2 GB",
    ]  # fmt: skip
