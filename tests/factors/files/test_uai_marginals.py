"""Result files of distributions: there and back, with the names of a model, and what is wrong in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.factors.files.uai_results import uai_marginals
from tests.factors import brute_force

GREENHOUSE = ml.sample_network("greenhouse")


@given(data=st.data(), graph=brute_force.graphs())
def test_distributions_go_there_and_back_to_the_last_digit(data, graph):
    evidence = data.draw(brute_force.evidence_on(graph))
    if brute_force.log_z(graph, evidence) == -brute_force.inf:
        return
    found = ml.marginals(graph, evidence)
    again = uai_marginals(ml.uai_marginals_text(graph, found))
    assert [list(one.values()) for one in again.values()] == [list(one.values()) for one in found.values()]
    assert list(again) == [f"x{number}" for number in range(len(found))]


def test_a_model_gives_the_names(tmp_path):
    found = ml.marginals(GREENHOUSE, {"Wilting": "yes"})
    ml.save_uai_marginals(GREENHOUSE, found, tmp_path / "greenhouse.MAR")
    again = ml.load_uai_marginals(tmp_path / "greenhouse.MAR", GREENHOUSE)
    assert {name: dict(one) for name, one in again.items()} == {
        name: dict(one) for name, one in found.items()
    }
    assert repr(again) == "<VariableMarginals of 16 variables by a file>"
    assert "From a file." in bundle(again)["text/html"]


def test_a_recorded_result_is_read(reference_folder):
    folder = reference_folder / "rivals-outputs"
    graph = ml.load_uai(folder / "grid-14x14.uai")
    recorded = ml.load_uai_marginals(folder / "grid-14x14.exact.MAR", graph)
    found = ml.marginals(graph)
    assert max(abs(found[n][v] - recorded[n][v]) for n in found for v in found[n]) < 1e-5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no word MAR"),
        ("PR 3.4", "there is no word MAR"),
        ("MAR 1", "the file ends too early"),
        ("MAR 1 2 0.5", "the file ends too early"),
        ("MAR 1 2 0.5 0.6", "the probabilities of x0 add up to 1.1"),
        ("MAR 1 2 0.5 half", "half is not a number"),
        ("MAR 1 2 1.5 -0.5", "-0.5 is not a weight"),
        ("MAR 1 0", "0 cannot be the number of values of x0"),
        ("MAR 1 1 1 7", "1 distributions are announced, but more follows"),
        ("MAR many", "many is not a whole number"),
        ("MAR 99999999 2 0.5 0.5", "cannot be the number of variables"),
    ],
)
def test_what_is_wrong_has_a_place_and_a_sentence(text, sentence):
    with pytest.raises(ml.InputError) as caught:
        uai_marginals(text)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("text", ["MAR 1 2 0.5 0.5", "MAR 16 9 1 0 0 0 0 0 0 0 0 " + "1 1 " * 15])
def test_results_of_another_model_are_refused(text, tmp_path):
    (tmp_path / "other.MAR").write_text(text)
    with pytest.raises(ml.InputError, match=r"in the model|the model has"):
        ml.load_uai_marginals(tmp_path / "other.MAR", GREENHOUSE)
