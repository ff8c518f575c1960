"""Arguments of learners that make no sense: each gets a sentence, none is taken for another."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError

MLN = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\n!Smokes(x)")
DB = ml.Database.from_text("Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(C)", MLN)
OTHER = ml.Database.from_text("Smokes(D)\nCancer(D)\nCancer(E)", MLN)

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"fixed": 0}, r"named by their numbers in a list, fixed=\[0, 2\], not 0"),
    ({"fixed": "0"}, r"named by their numbers in a list"),
    ({"fixed": [3]}, r"from 0 to 2, not by 3"),
    ({"fixed": [-1]}, r"from 0 to 2, not by -1"),
    ({"tied": [(0, -1)]}, r"from 0 to 2, not by -1"),
    ({"bounds": {-1: (0, 1)}}, r"from 0 to 2, not by -1"),
    ({"tied": [0, 1]}, r"in a list, tied=\[\(0, 1\)\], not 0"),
    ({"tied": [(1, 1)]}, r"two formulas or more, not of \(1, 1\)"),
    ({"tied": [(0, 1)], "fixed": [0]}, r"formula 0 is not learned, so that formula 1 cannot be tied to it"),
    ({"bounds": 3}, r"Bounds are a pair such as \(0, 10\)"),
    ({"bounds": {0: 5}}, r"not 5"),
    ({"bounds": {0: (1, 2, 3)}}, r"not \(1, 2, 3\)"),
    ({"bounds": {0: ("a", "b")}}, r"not \('a', 'b'\)"),
    ({"bounds": (float("nan"), 1)}, r"Bounds are a pair"),
    ({"bounds": (float("inf"), float("inf"))}, r"Bounds are a pair"),
    ({"bounds": {"Cancer": (0, 1)}}, r"not by 'Cancer'"),
    ({"start": "abc"}, r"start= needs a finite number for each of the 3 formulas"),
    ({"start": [1]}, r"start= needs a finite number"),
    ({"start": [0, -1e300, 1]}, r"The weight of formula 1, .*, is -1e\+300 where learning begins"),
    (
        {"bounds": {2: (1e7, None)}},
        r"The weight of formula 2, .*, is 1e\+07 where .* no weight may be beyond",
    ),
    ({"prior": 10}, r"A prior must be ml\.Gaussian\(\.\.\.\), ml\.Laplace\(\.\.\.\) or None, not 10"),
    ({"prior": "gaussian"}, r"A prior must be ml\.Gaussian"),
    ({"prior": [None]}, r"1 priors were given for 3 formulas"),
    ({"method": ["pll"]}, r"There is no weight learner \['pll'\]"),
    ({"method": "cd", "iterations": "10"}, r"iterations must be a whole number, not '10'"),
    ({"method": "cd", "iterations": 2.5}, r"iterations must be a whole number, not 2.5"),
    ({"method": "cd", "rate": "fast"}, r"rate must be a number, not 'fast'"),
    ({"method": "cd", "rate": True}, r"rate must be a number, not True"),
    ({"method": "cd", "per_weight": 1}, r"per_weight must be yes or no, True or False, not 1"),
    ({"method": "pscg", "damping": "x"}, r"damping must be a number, not 'x'"),
    ({"method": "pscg", "damping": float("inf")}, r"damping must be a number of at least 0, not inf"),
    ({"method": "pscg", "largest_step": -1}, r"largest_step must be a number above 0"),
    ({"method": "dn", "largest_step": 0.0}, r"largest_step must be a number above 0"),
    ({"method": "dn", "tolerance": float("nan")}, r"tolerance must be a number of at least 0, not nan"),
    ({"method": "pscg", "tolerance": -1.0}, r"tolerance must be a number of at least 0, not -1.0"),
    ({"method": "smd", "meta_rate": float("inf")}, r"meta_rate must be a number of at least 0"),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG, ids=[str(given)[:40] for given, _ in WRONG])
def test_each_gets_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        ml.learn_weights(MLN, DB, **given)


def test_what_is_no_learner_and_what_has_no_choice_gets_a_sentence() -> None:
    with pytest.raises(ArgumentError, match=r"exact log-likelihood: leave method, optimizer= out"):
        ml.weight_posterior(MLN, DB, method="cd", optimizer="newton")
    with pytest.raises(ArgumentError, match=r"learners= names weight learners, .*; x is 3\."):
        ml.contours(MLN, DB, fixed=[0], learners={"x": 3})  # type: ignore[dict-item]


@pytest.mark.parametrize("values", [("a", 1), (0, "1"), (None, 1), (0, None), (0, 0), (float("nan"), 1)])
def test_priors_are_distributions(values: tuple[Any, Any]) -> None:
    for kind in (ml.Gaussian, ml.Laplace):
        with pytest.raises(ArgumentError, match="A prior has a finite mean and a"):
            kind(*values)


@pytest.mark.parametrize("values", [(1e300, 1), (-2e6, 1), (0, 1e-200), (0, 1e300)])
def test_priors_can_be_computed_with(values: tuple[float, float]) -> None:
    for kind in (ml.Gaussian, ml.Laplace):
        with pytest.raises(ArgumentError, match="cannot be computed with"):
            kind(*values)


def test_numbers_of_numpy_are_numbers() -> None:
    plain = ml.learn_weights(MLN, DB, fixed=[0, 2], prior=ml.Gaussian(0, 2))
    for fixed in (np.array([0, 2]), (np.int64(0), 2), {0, 2}):
        found = ml.learn_weights(MLN, DB, fixed=fixed, prior=ml.Gaussian(np.float64(0), np.float32(2)))
        np.testing.assert_array_equal(found.weights, plain.weights)
    bounded = ml.learn_weights(MLN, DB, bounds=[-0.1, 0.1])
    np.testing.assert_array_equal(bounded.weights, ml.learn_weights(MLN, DB, bounds=(-0.1, 0.1)).weights)
    above = ml.learn_weights(MLN, DB, bounds={1: (None, np.float64(0.2))})
    np.testing.assert_array_equal(
        above.weights, ml.learn_weights(MLN, DB, bounds={1: (-np.inf, 0.2)}).weights
    )
    assert ml.learn_weights(MLN, DB, "cd", iterations=np.int64(4)).state.iteration == 4


def test_parts_of_a_learner_go_together_without_naming_what_has_no_choice() -> None:
    exact = ml.weight_learner("pll", MLN, DB, objective="log-likelihood")
    assert exact.description == "log-likelihood with counts by exact, newton"
    assert ml.weight_learner("cd", MLN, DB, objective="log-likelihood").preset.counts == "mc-sat"
    pseudo = ml.weight_learner("pscg", MLN, DB, objective="pseudo-log-likelihood")
    assert pseudo.description == "pseudo-log-likelihood, scaled-conjugate-gradient"
    with pytest.raises(ArgumentError, match="needs no expected counts; leave counts= out"):
        ml.weight_learner("pll", MLN, DB, counts="mc-sat")


@pytest.mark.parametrize(
    ("method", "constants", "largest", "ways"),
    [("ll", 1500, 1502**2, 3), ("pscg", 900, 902**3, 4)],  # too many atoms; too many groundings
)
def test_what_is_too_large_to_be_ground_names_ways_that_a_learner_has(
    method: str, constants: int, largest: int, ways: int
) -> None:
    friends = ml.MLN.from_text("F(t, t)\nF(x, y) ^ F(y, z) => F(x, z)")

    names = ", ".join(f"C{n}" for n in range(constants))
    db = ml.Database.from_text(f"F(A, B)\nt = {{{names}}}", friends)
    with pytest.raises(TooLargeError) as found:
        ml.learn_weights(friends, db, method)
    refusal = found.value
    assert f"{largest:,}" in refusal.summary or refusal.estimate > largest
    assert len(refusal.remedies) == ways
    assert 'method="pll"' in str(refusal)
    assert "query=[...]" in str(refusal)
    assert "ask for" not in str(refusal)
    assert ml.learn_weights(friends, ml.Database.from_text("F(A, B)", friends), method).state.iteration


def test_a_misspelt_optimizer_is_corrected_without_importing_the_others():
    code = (
        "import sys\n"
        "from mlnlab.learning.descent.optimizer_registry import find_optimizer\n"
        "try:\n"
        "    find_optimizer('newtom')\n"
        "except ValueError as error:\n"
        "    print(error)\n"
        "print([name for name in sys.modules if name.startswith('mlnlab.learning.optimizers.')])\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    sentence, imported = out.splitlines()
    assert "newton" in sentence
    assert "stochastic-meta-descent" in sentence
    assert imported == "[]"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"i": 2}, 'has no option i: it belongs to counter="ijgp"'),
        ({"counter": "planned", "bindings": 5}, 'has no option bindings: it belongs to counter="rejection"'),
        ({"frequency": 3}, 'has no option frequency: it belongs to Algorithm 1, method="cd" with a counter='),
    ],
)
def test_options_of_counters_say_whose_they_are(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        ml.learn_weights(MLN, DB, "cd", **options)
