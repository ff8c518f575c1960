"""Options that multiply work are held against an estimate before anything is begun."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference.ask import run_costs
from mlnlab.inference.ask.run_costs import run_cost
from mlnlab.inference.method import MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import find_method, methods
from mlnlab.steps import free_memory

TEXT = "P(e)\nQ(e, e)\n1 P(x)\n0.5 P(x) => Q(x, y)\n-0.3 Q(x, y)"
HUGE = 10**13
DAY = 86_400.0

# What multiplies the work of each method; each alone is refused at a huge value.
SAMPLERS = {
    "gibbs": ("samples", "burn_in", "thin"),
    "mc-sat": ("samples", "burn_in", "thin", "tries", "moves", "passes"),
    "simulated-tempering": ("samples", "burn_in"),
    "lazy-mc-sat": ("samples", "burn_in", "tries", "moves", "passes"),
}
SEARCHES = {
    "max-walk-sat": ("flips", "tries"),
    "simulated-annealing": ("sweeps", "tries"),
    "icm": ("tries",),
}
APPROXIMATIONS = ("belief-propagation", "lifted-belief-propagation", "mean-field", "structured-mean-field")
MULTIPLYING = [(m, o, ml.infer) for m, names in SAMPLERS.items() for o in names]
MULTIPLYING += [(m, o, ml.map_state) for m, names in SEARCHES.items() for o in names]


def cost(name, asking, **options):
    method = find_method(name, MARGINALS if asking is ml.infer else MOST_PROBABLE)
    return run_cost(method, method.settings(**options), opening(ml.MLN.from_text(TEXT), {"e": 20}, None))


@pytest.fixture(autouse=True)
def _much_memory(monkeypatch):
    monkeypatch.setattr(free_memory, "free_bytes", lambda: 16e9)


@pytest.mark.parametrize(("method", "option", "asking"), MULTIPLYING)
def test_each_option_that_multiplies_work_is_refused_where_it_is_huge(method, option, asking):
    with pytest.raises(ml.TooLargeError) as refused:
        asking(ml.MLN.from_text(TEXT), {"e": 3}, method=method, **{option: HUGE})
    told = str(refused.value)
    assert f"By {method} this would take about" in told
    assert "the limit is 24 hours" in told
    assert f"ask for less: {option}=" in told
    assert "allow it: most_hours=" in told
    assert refused.value.estimate > DAY


def test_states_cost_time_of_their_own():
    every, few = (cost("max-walk-sat", ml.map_state, flips_per_state=n) for n in (1, 100_000))
    assert every.seconds > 2 * few.seconds > 0


def test_a_search_is_as_long_as_all_its_tries_together():
    length = find_method("max-walk-sat", MOST_PROBABLE).length
    assert length(find_method("max-walk-sat", MOST_PROBABLE).settings(flips=1_000, tries=3)).number == 3_000


@pytest.mark.parametrize("method", SAMPLERS)
def test_chains_that_do_not_fit_into_memory_are_refused(method):
    model = ml.MLN.from_text(TEXT)
    with pytest.raises(ml.TooLargeError, match="of memory; 16 GB are free") as refused:
        ml.infer(model, {"e": 3}, method=method, chains=10**7)
    assert "ask for less: chains=4 is usual, not 10,000,000" in refused.value.remedies
    if method != "lazy-mc-sat":
        with pytest.raises(ml.TooLargeError, match="of memory"):
            ml.sampler(method, model, {"e": 3}, chains=10**7)


def test_auto_refuses_them_too():
    model = ml.MLN.from_text(TEXT)
    with pytest.raises(
        ml.TooLargeError, match=r"By \S+ this would take about .* hours of computing"
    ) as refused:
        ml.infer(model, {"e": 20}, samples=10**12)
    assert "most_hours=" in str(refused.value)
    with pytest.raises(ml.TooLargeError, match="of memory; 16 GB are free"):
        ml.infer(model, {"e": 20}, chains=10**7)


def test_rungs_are_held_against_memory():
    with pytest.raises(ml.TooLargeError, match="of memory; 16 GB are free"):
        ml.infer(ml.MLN.from_text(TEXT), {"e": 20}, method="simulated-tempering", rungs=10**8)


def test_who_says_how_many_hours_gets_them(monkeypatch):
    monkeypatch.setattr(run_costs.budget, "MOST_HOURS", 1e-6)
    model = ml.MLN.from_text(TEXT)
    with pytest.raises(ml.TooLargeError):
        ml.infer(model, {"e": 3}, method="gibbs", samples=500)
    with pytest.raises(ml.TooLargeError):
        ml.map_state(model, {"e": 3}, method="max-walk-sat", flips=100_000)
    assert ml.infer(model, {"e": 3}, method="gibbs", samples=500, most_hours=1).method == "gibbs"
    assert ml.map_state(model, {"e": 3}, method="max-walk-sat", flips=100_000, most_hours=1).world
    for odd in (0, -1, "long", True, float("nan")):
        with pytest.raises(ml.ArgumentError, match="most_hours must be a number above 0"):
            ml.infer(model, {"e": 3}, method="gibbs", most_hours=odd)


def test_more_hours_than_a_float_can_hold_are_as_good_as_no_limit():
    model = ml.MLN.from_text(TEXT)
    assert ml.infer(model, {"e": 3}, method="gibbs", samples=500, most_hours=10**400).method == "gibbs"
    assert ml.infer(model, {"e": 3}, most_hours=10**400).method


def test_hours_for_a_search_do_not_keep_a_proof_from_being_found():
    assert ml.map_state(ml.MLN.from_text(TEXT), {"e": 3}, flips=HUGE).proven_optimal


@pytest.mark.parametrize(("method", "option", "asking"), MULTIPLYING)
def test_an_estimate_grows_with_each_option(method, option, asking):
    few, many = (cost(method, asking, **{option: number}) for number in (10**6, 10**9))
    assert many.seconds > 100 * few.seconds or option in {"burn_in", "tries", "moves", "passes"}
    assert many.seconds > few.seconds


def test_all_methods_of_steps_say_how_long_a_run_is_or_have_no_such_option():
    without = {m.name for m in methods() if m.steps is not None and m.length is None}
    assert without == {"rc2"}


@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_sweeps_that_may_never_settle_are_refused_where_more_than_usual_are_asked_for(method):
    model = ml.MLN.from_text(TEXT)
    with pytest.raises(ml.TooLargeError, match=rf"By {method} this would take up to about") as refused:
        ml.infer(model, {"e": 3}, method=method, sweeps=HUGE)
    assert "ask for less: sweeps=1000 is usual, not 10,000,000,000,000" in refused.value.remedies
    assert ml.infer(model, {"e": 3}, method=method, sweeps=2_000).method == method
    assert cost(method, ml.infer).seconds == 0


def test_numbers_that_no_float_can_hold_are_refused_by_a_sentence():
    model = ml.MLN.from_text(TEXT)
    for options in ({"method": "gibbs", "samples": 10**400}, {"chains": 10**400}, {"samples": 10**400}):
        with pytest.raises(ml.TooLargeError):
            ml.infer(model, {"e": 20}, **options)


NETWORK = ml.sample_network("lattice")
NETWORK_OPTIONS = [("gibbs", o) for o in ("samples", "burn_in", "thin")] + [
    (m, "sweeps") for m in APPROXIMATIONS if not m.startswith("lifted")
]


@pytest.mark.parametrize(("method", "option"), NETWORK_OPTIONS)
def test_networks_are_refused_by_hours_too(method, option, monkeypatch):
    with pytest.raises(ml.TooLargeError, match=f"By {method} this would take .* the limit is 24") as refused:
        ml.marginals(NETWORK, method=method, **{option: HUGE})
    assert f"ask for less: {option}=" in str(refused.value)
    assert ml.marginals(NETWORK, method=method).method == method
    monkeypatch.setattr(run_costs.budget, "MOST_HOURS", 1e-9)
    if method == "gibbs":
        with pytest.raises(ml.TooLargeError):
            ml.marginals(NETWORK, method=method)
        assert ml.marginals(NETWORK, method=method, most_hours=1).method == method


def test_chains_over_networks_are_held_against_memory():
    for asking in (ml.marginals, ml.marginal_steps):
        with pytest.raises(ml.TooLargeError, match="of memory; 16 GB are free") as refused:
            asking(NETWORK, method="gibbs", chains=10**7)
        assert "ask for less: chains=4 is usual, not 10,000,000" in refused.value.remedies


def test_usual_options_are_cheap_on_small_models():
    for method in methods():
        if method.length is not None:
            asking = ml.infer if method.marginals is not None else ml.map_state
            assert cost(method.name, asking).seconds < 600
