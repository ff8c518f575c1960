"""BUSL on the data sets of LHL's paper, four folds at a time, with its settings: seconds by phase."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

import mlnlab as ml
from mlnlab.experiments.reproduce.table_2_data import DATASETS
from mlnlab.experiments.studies.planted_rules import make_planted_database
from mlnlab.structure.learners.busl import JUDGING, PHASES

pytestmark = pytest.mark.benchmark

HEAD = (
    f"{'':14} {'networks s':>10} {'judging s':>10} {'model s':>8} {'whole s':>8} {'paper s':>8} {'nodes':>6}"
    f" {'paths':>6} {'clauses':>8} {'kept':>5} {'WPLL':>8} {'units':>8}"
)


def seconds_by_phase(learner):
    """Run a learner; return its last state, and the seconds of the processor in each phase."""
    spent, before = Counter(), time.process_time()
    for state in learner:
        now = time.process_time()
        spent[state.phase] += now - before
        before = now
    return state, spent


def row_of(name, dataset, state, spent):
    networks = sum(spent[phase] for phase in PHASES[: PHASES.index(JUDGING)])
    metrics = state.metrics()
    return (
        f"{name:14} {networks:10.1f} {spent[JUDGING]:10.1f} {spent[PHASES[-1]]:8.1f} {spent.total():8.1f} "
        f"{60 * dataset.published['busl'].minutes:8,.0f} {metrics['template nodes']:6,} "
        f"{metrics['paths judged']:6,} {metrics['clauses to try']:8,} {metrics['clauses kept']:5,} "
        f"{state.assembly.value:8.3f} {state.without:8.3f}"
    )


@pytest.mark.data
@pytest.mark.parametrize("dangling", [True, False], ids=["dangling", "no-dangling"])
@pytest.mark.parametrize("name", ["imdb", "uw-cse"])
def test_folds_of_the_paper(name, dangling, data_folder, capsys):
    ml.learn_structure(make_planted_database(0, 0.0, 8, 4), "busl")  # everything is compiled
    dataset = DATASETS[name]
    databases = dataset.databases(Path(data_folder))
    lines = [HEAD]
    for fold in databases:
        training = [db for other, db in databases.items() if other != fold]
        options = {**dataset.options_of_rival("busl"), "dangling": dangling}
        state, spent = seconds_by_phase(ml.structure_learner("busl", training, most_hours=10, **options))
        lines.append(row_of(fold, dataset, state, spent))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert state.ended
