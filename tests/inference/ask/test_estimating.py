"""``auto`` and refusals know methods by what their records estimate, and find nothing out twice."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference import method_registry
from mlnlab.inference.ask.answering_methods import ways_of, ways_to_answer
from mlnlab.inference.ask.choosing import chosen_plan
from mlnlab.inference.costs import inference_problem as problems
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.method import LOG_Z, MARGINALS, MOST_PROBABLE
from mlnlab.inference.methods import junction_tree, rc2
from mlnlab.inference.methods.junction_tree import METHOD as TREE

TRANSITIVE = "F(e, e)\nS(e)\n1 F(x, y) ^ F(y, z) => F(x, z)\n0.5 S(x)"
ORACLE = """
from dataclasses import replace
from mlnlab.inference.costs.inference_problem import Cost
from mlnlab.inference.methods.junction_tree import METHOD as TREE

KNOWN = Cost(1.0, 8.0, "it knows")
METHOD = replace(TREE, name="crystal-ball", estimate_cost=lambda params, problem: KNOWN, turn=1)
"""


@pytest.fixture
def crystal_ball(tmp_path, monkeypatch):
    """A method in a file of its own, which nothing but the folder of methods leads to."""
    import mlnlab.inference.methods as package

    (tmp_path / "crystal_ball.py").write_text(ORACLE)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    yield "crystal-ball"
    sys.modules.pop("mlnlab.inference.methods.crystal_ball", None)
    vars(package).pop("crystal_ball", None)


def test_a_new_method_is_chosen_and_named_by_its_estimate(crystal_ball):
    mln = ml.MLN.from_text(TRANSITIVE)
    asked = opening(mln, {"e": 12}, None)
    for kind in (MARGINALS, LOG_Z):
        assert chosen_plan(Problem(asked, kind, {"limit": 1 << 20})).method == crystal_ball
    plan = ml.inference_plan(mln, {"e": 12})
    assert plan.method == crystal_ball
    assert plan.why.endswith("it knows")
    with pytest.raises(ml.TooLargeError) as refusal:
        ml.infer(mln, {"e": 12}, method="enumeration")
    assert any(way.startswith('method="crystal-ball" would answer, in') for way in refusal.value.remedies)
    with pytest.raises(ml.ArgumentError, match=r"did you mean crystal-ball\?"):
        ml.infer(mln, {"e": 2}, method="cristal-ball")


def test_a_method_that_doubts_itself_is_left_for_another(crystal_ball):
    record = method_registry.find_method(crystal_ball)
    asked = opening(ml.MLN.from_text(TRANSITIVE), {"e": 12}, None)
    module = sys.modules["mlnlab.inference.methods.crystal_ball"]
    doubtful = lambda params, problem: Cost(1.0, 8.0, "it knows", "it is cloudy")  # noqa: E731
    module.METHOD = replace(record, is_exact=False, turn=3, estimate_cost=doubtful)
    plan = chosen_plan(Problem(asked, MARGINALS, {"samples": 100}))
    assert plan.method == "mc-sat"
    assert "it is cloudy" in plan.why
    module.METHOD = replace(record, estimate_cost=lambda params, problem: Cost(1e9, 8.0))
    assert chosen_plan(Problem(asked, MARGINALS)).method != crystal_ball  # years are not preferred to samples


@pytest.mark.parametrize("kind", [MARGINALS, LOG_Z, MOST_PROBABLE])
def test_a_question_is_ground_once_however_many_methods_estimate_their_costs(kind, monkeypatch):
    calls = Counter()
    for module, name in ((problems, "small_ground"), (junction_tree, "tied_choices")):
        original = getattr(module, name)

        def counted(*arguments, original=original, name=name):
            calls[name] += 1
            return original(*arguments)

        monkeypatch.setattr(module, name, counted)
    asked = opening(ml.MLN.from_text(TRANSITIVE), {"e": 12}, None)
    problem = Problem(asked, kind)
    if kind != MOST_PROBABLE:
        try:
            chosen_plan(problem)
        except ml.TooLargeError:
            assert kind == LOG_Z
    ways_of(problem)
    assert set(calls.values()) == {1}, calls


def test_no_million_of_atoms_is_listed_to_refuse(monkeypatch):
    """The refusal of a thousand people's friends names lifting, and lists nobody's friends."""
    text = "Smokes(p)\nFriends(p, p)\n1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n-0.5 Smokes(x)"
    for place in (
        "mlnlab.grounding.lazy.lazy_priors.list_atoms",
        "mlnlab.inference.costs.inference_problem.list_atoms",
    ):
        monkeypatch.setattr(place, lambda *_: pytest.fail("a million atoms were listed"))
    with pytest.raises(ml.TooLargeError, match='method="lifted" would answer'):
        ml.infer(ml.MLN.from_text(text), {"p": 1_000}, "Smokes", open="Friends", method="enumeration")


def test_an_exact_search_is_named_where_a_trial_proves_that_it_answers():
    mln = ml.MLN.from_text("S(e)\nF(e, e)\n1 S(x) ^ F(x, y) => S(y)\n0.4 S(x)\n-0.3 F(x, y)")
    with pytest.raises(ml.TooLargeError) as refusal:
        ml.map_state(mln, {"e": 8}, method="enumeration")
    named = [re.search(r'method="([\w-]+)"', way) for way in refusal.value.remedies]
    assert "rc2" in [found.group(1) for found in named if found]
    assert ml.map_state(mln, {"e": 8}, method="rc2").proven_optimal


def test_the_trial_of_an_exact_search_is_bounded(monkeypatch):
    """Random constraints of three literals, near where they are the hardest: not proven within the trial."""
    import random

    draw = random.Random(1)
    lines = ["P(n)", "n = {1, ..., 120}"]
    for _ in range(900):
        literals = (f"{draw.choice(['', '!'])}P({draw.randint(1, 120)})" for _ in range(3))
        lines.append("1 " + " v ".join(literals))
    spent = []
    enough = rc2._is_enough

    def watched(params, solver, began):
        spent.append((solver.conflicts, solver.cores))
        return enough(params, solver, began)

    monkeypatch.setattr(rc2, "_is_enough", watched)
    ways = ways_to_answer(opening(ml.MLN.from_text("\n".join(lines)), None, None), MOST_PROBABLE)
    assert "rc2" not in [way.method for way in ways]
    assert {"max-walk-sat", "simulated-annealing", "icm"} <= {way.method for way in ways}
    conflicts, cores = spent[-1]
    assert conflicts <= rc2.TRIAL.conflicts + rc2.TRIAL.conflicts_per_state
    assert cores <= rc2.TRIAL.cores


def test_a_record_without_an_estimate_is_never_named():
    silent = replace(TREE, estimate_cost=None)
    assert silent.cost(Problem(opening(ml.MLN.from_text(TRANSITIVE), {"e": 2}, None), MARGINALS)) is None
