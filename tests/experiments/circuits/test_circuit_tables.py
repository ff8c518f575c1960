"""The small setting of Tables 5.3 to 5.5 and Figure 5.3: pieces are kept, and agree with their files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.experiments.circuits.answered_queries import answer_queries
from mlnlab.experiments.circuits.benchmark_tables import benchmark, size_table
from mlnlab.experiments.circuits.circuit_tables import PRINTED, figure_frame, model_table, time_table
from mlnlab.experiments.circuits.conditional_queries import Share
from mlnlab.experiments.circuits.learned_models import (
    LEARNERS,
    compile_largest,
    model_path,
    models,
    split_for_tuning,
    thesis_work,
    tune,
)

WORKS = [thesis_work("small", learner) for learner in LEARNERS]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("circuits")
    return folder, [model for model, kept in models(benchmark("small"), WORKS, folder) if not kept]


def test_pieces_are_measured_and_kept(learned):
    folder, found = learned
    data = benchmark("small")
    assert [model.learner for model in found] == list(LEARNERS)
    for model, work in zip(found, WORKS, strict=True):
        network = ml.load_xmod(model_path(folder, work, ".xmod"))
        assert model.test == pytest.approx(network.log_likelihood(data.test), abs=1e-4)
        assert model.test > -8 * np.log(2) + 1.5  # far better than independent coins
        assert model.leaves == sum(len(tree.leaves()) for tree in network.trees)
        assert model.compiled == f"{ml.compile_circuit(network).edges:,}"
        if work.learner != "network":
            circuit = ml.load_ac(model_path(folder, work, ".ac"))
            assert circuit.edges == model.edges < model.table_edges
            assert circuit.log_likelihood(data.test) == pytest.approx(model.test, abs=1e-4)
    assert [kept for _, kept in models(data, WORKS, folder)] == [True] * 3
    other = replace(WORKS[0], edges="table 5.2")
    assert [kept for _, kept in models(data, [other], folder)] == [False]


def test_queries_are_answered_by_the_models_of_the_folder(learned):
    folder, found = learned
    shares = [Share(0.3, 0.3), Share(0.3, 0.0)]
    ways = ["greedy", "quick", "fast"]
    once = list(answer_queries(benchmark("small"), WORKS, ways, folder, number=6, seconds=5.0, shares=shares))
    again = list(
        answer_queries(benchmark("small"), WORKS, ways, folder, number=6, seconds=5.0, shares=shares)
    )
    assert [kept for _, kept in again] == [True] * 6
    assert [one for one, _ in again] == [one for one, _ in once]
    answers = [one for one, _ in once]
    assert {one.queries for one in answers} == {6}
    by_way = {one.way: one.mean for one in answers if one.given == 0.3}
    assert by_way["fast"] == pytest.approx(by_way["greedy"], abs=0.3)
    points = figure_frame(answers)
    assert len(points[points["varied"] == "evidence"]) == 6
    assert len(points[points["varied"] == "query"]) == 3  # one scenario is on both graphs
    assert list(time_table(answers)["way"]) == ways
    assert len(model_table(found)) == 3
    with pytest.raises(ArgumentError, match="network"):
        list(answer_queries(benchmark("small"), WORKS[:1], ["slow"], folder))


def test_a_model_that_took_anothers_place_is_asked_again(tmp_path):
    data, work = benchmark("small"), WORKS[0]
    shares = [Share(0.3, 0.3)]
    list(models(data, [work], tmp_path))
    ask = partial(answer_queries, data, [work], [work.learner], tmp_path, number=6, shares=shares)
    ((once, _),) = ask()
    fewer = ml.DataTable(data.tuning.variables, data.tuning.rows[:50])
    list(models(replace(data, tuning=fewer), [work], tmp_path))
    ((again, kept),) = ask()
    assert (kept, again.mean == once.mean) == (False, False)


def test_the_time_of_a_circuit_that_was_stopped_on_its_way_is_not_told(tmp_path):
    data, work = benchmark("small"), WORKS[0]
    path = model_path(tmp_path, work, ".checkpoint")
    ml.learn_circuit(data.train, checkpoint=path, most_splits=1, **work.options)
    ((found, _),) = models(data, [work], tmp_path)
    assert np.isnan(found.seconds)
    ((again, kept),) = models(data, [work], tmp_path)
    assert kept
    assert again.test == found.test


def test_the_largest_prefix_that_compiles_is_told():
    data = benchmark("small")
    found = ml.learn_network(data.train, kappa=0.5)
    whole = ml.compile_circuit(found.network).edges
    assert compile_largest(found.trees_after, found.n_splits, 9 * whole) == (whole, found.n_splits)
    edges, splits = compile_largest(found.trees_after, found.n_splits, whole // 2)
    assert splits < found.n_splits
    assert edges <= whole // 2
    assert compile_largest(found.trees_after, found.n_splits, 1) == (0, 0)


def test_prices_are_chosen_on_a_tenth_of_the_rows():
    data = benchmark("small")
    assert tune(data, "quick", prices=(50.0, 0.1)).k_e == 0.1
    network = tune(data, "network")
    assert 0 < network.k_p <= 1
    assert network.options == {"kappa": network.k_p}


def test_tuning_rows_and_their_rest_are_all_rows():
    table = benchmark("small").train
    first, second = split_for_tuning(table)
    assert (len(first), len(second)) == (540, 60)
    both = np.vstack([first.rows, second.rows])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, table.rows.tolist()))


def test_data_that_are_not_there_get_a_sentence(tmp_path):
    with pytest.raises(ArgumentError, match="There is no data msewb; did you mean msweb"):
        benchmark("msewb")
    with pytest.raises(ArgumentError, match="debd"):
        benchmark("msweb", tmp_path)
    with pytest.raises(ArgumentError, match="these are"):
        thesis_work("kdd", "winmine")


@pytest.mark.data
def test_sizes_of_the_published_data(data_folder):
    table = size_table([benchmark(name, data_folder) for name in ("kdd", "msweb", "eachmovie")])
    assert list(table["training rows"]) == [199_999, 32_711, 5_526]
    assert table["density"].to_numpy() == pytest.approx([0.0079, 0.0102, 0.0581], abs=1e-3)
    assert {dataset for dataset, _ in PRINTED} == set(table["dataset"])
