"""Learning rates chosen on validation data, for CLL and for AUC."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.tuning import FACTORS, Trial, TunedRate

TEXT = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)"
FACTS = (
    "Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(C)",
    "Smokes(D)\nSmokes(E)\nCancer(D)\nCancer(E)\nSmokes(F)",
    "Smokes(G)\nCancer(G)\nSmokes(H)",
)


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def dbs(mln):
    return [ml.Database.from_text(text, mln) for text in FACTS]


def test_a_rate_that_does_nothing_loses_and_all_databases_are_learned_from_again(mln, dbs):
    found = ml.tune_rate(
        "cd", mln, dbs[:2], ["Cancer"], validation=dbs[2], rates=[1e-9, 0.1], iterations=40, samples=400
    )
    table = found.to_frame()
    assert table["rate"].tolist() == [1e-9, 0.1]
    assert table["iterations"].tolist() == [40, 40]
    assert found.rate("cll") == table.loc[table["best_cll"], "rate"].tolist()[0]
    learned = found.learn("cll", iterations=60)
    assert len(learned.data.examples) == 3
    assert learned.state.iteration == 60
    assert learned.state.move.rate == pytest.approx(found.rate("cll"))


def test_best_by_cll_and_best_by_auc_may_differ(mln, dbs):
    trials = (Trial(0.1, -0.5, 0, 0.7, 0, 1, 1.0, 0), Trial(1.0, -0.9, 0, 0.9, 0, 1, 1.0, 2),
              Trial(9.0, float("-inf"), 0, float("nan"), 0, 1, 1.0, 2))  # fmt: skip
    found = TunedRate(trials, "cd", mln, tuple(dbs), ("Cancer",), {})
    assert (found.rate("cll"), found.rate("auc")) == (0.1, 1.0)
    assert repr(found) == "<TunedRate of cd: 3 rates tried, best 0.1 by CLL and 1 by AUC>"
    assert found.to_frame()["best_auc"].tolist() == [False, True, False]


def test_in_one_go(mln, dbs):
    found = ml.learn_weights(
        mln, dbs[:2], "cd-pw", ["Cancer"], rate="tuned", validation=dbs[2:], tune_by="auc", iterations=10
    )
    assert len(found.tuned.trials) == len(FACTORS)
    assert f"{found.tuned.rate('auc'):.4g}" in found.diagnostics[0]
    rates = [trial.rate for trial in found.tuned.trials]
    assert [rate / rates[0] for rate in rates] == pytest.approx([f / FACTORS[0] for f in FACTORS])
    assert len(found.data.examples) == 3


def test_seconds_bound_each_rate(mln, dbs):
    found = ml.tune_rate(
        "cd", mln, dbs[:2], ["Cancer"], validation=dbs[2], rates=[0.1], seconds=0.05, iterations=10**9
    )
    assert found.trials[0].iterations < 10**6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "pscg", "rates": [0.1]}, "no rate to tune"),
        ({"method": "dn"}, "no rate to tune"),
        ({"rates": []}, "above 0"),
        ({"rates": [0.1, -1]}, "above 0"),
        ({"validation": []}, "validation="),
        ({"seconds": 0}, "seconds"),
        ({"seconds": "long"}, "seconds, the learning time for each rate, must be"),
        ({"rates": "abc"}, "rates must be a list of numbers above 0, not 'abc'"),
        ({"rates": [0.1, True]}, "above 0"),
    ],
)
def test_bad_input_gets_a_sentence(mln, dbs, options, words):
    given = {"method": "cd", "validation": dbs[2:], **options}
    with pytest.raises(ArgumentError, match=words):
        ml.tune_rate(given.pop("method"), mln, dbs[:2], ["Cancer"], **given)
    with pytest.raises(ArgumentError, match="validation"):
        ml.learn_weights(mln, dbs[:2], "cd", ["Cancer"], rate="tuned")
    with pytest.raises(ArgumentError, match='"cll" or by "auc"'):
        ml.learn_weights(mln, dbs[:2], "cd", ["Cancer"], rate="tuned", validation=dbs[2:], tune_by="f1")
