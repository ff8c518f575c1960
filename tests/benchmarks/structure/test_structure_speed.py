"""How many candidates are judged in a second, LiftGraph's share, and growth with constants, atoms and ω."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import mlnlab as ml
from mlnlab.experiments.reproduce.table_2 import DATASETS
from mlnlab.experiments.studies.planted_rules import make_planted_database
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.structure.clauses.clause_scores import ScoreParams, Scorer
from mlnlab.structure.clauses.create_mln import CreateMLN
from mlnlab.structure.lift.lift_graph import lift_graph
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.paths.path_support import supported_paths

pytestmark = pytest.mark.benchmark

MOST_PATHS = 300  # of a data set, evenly among all; scores of one path need no other's


class Measured(NamedTuple):
    """What a run took on one core, by phase; of the scores as many as were measured."""

    constants: int
    true_atoms: int
    lifting: float
    finding: float
    paths: int
    scored: int
    candidates: int
    scoring: float

    def __str__(self) -> str:
        """Return a row of the table; the share is that of lifting among all, scores of all paths included."""
        whole = self.lifting + self.finding + self.scoring * self.paths / max(1, self.scored)
        return (
            f"{self.constants:9,} {self.true_atoms:10,} {self.paths:7,} {self.finding:8.2f} "
            f"{1e3 * self.scoring / max(1, self.scored):8.1f} {self.candidates / self.scoring:12,.0f} "
            f"{whole:8.1f} {self.lifting:8.2f} {self.lifting / whole:8.2%}"
        )


HEAD = (
    f"{'':22} {'constants':>9} {'true atoms':>10} {'paths':>7} {'search s':>8} {'ms/path':>8} "
    f"{'candidates/s':>12} {'whole s':>8} {'lift s':>8} {'its part':>8}"
)


def _timed(function: Callable[[], object]) -> tuple[float, object]:
    began = time.process_time()
    found = function()
    return time.process_time() - began, found


def measured(databases: Sequence[ml.Database], longest: int, fewest: float) -> Measured:
    """Lift, find paths, and judge the clauses of a part of them."""
    lifting, lifted = _timed(
        lambda: tuple(lift_graph(Hypergraph.from_database(db)).run() for db in databases)
    )
    graphs: tuple[LiftedHypergraph, ...] = lifted  # type: ignore[assignment]
    finding, _ = _timed(lambda: list(supported_paths(graphs, longest, fewest=fewest)))
    paths = list(supported_paths(graphs, longest, fewest=fewest))
    chosen = tuple(paths[:: max(1, len(paths) // MOST_PATHS)])
    source = CreateMLN(tuple(databases), graphs, chosen, ScoreParams())
    assert isinstance(source.scorer, Scorer)
    scoring, last = _timed(lambda: list(source)[-1])
    nodes = sum(graph.hypergraph.number_of_nodes for graph in graphs)
    atoms = sum(db.number_of_facts() for db in databases)
    candidates = last.candidates  # type: ignore[attr-defined]
    return Measured(nodes, atoms, lifting, finding, len(paths), len(chosen), candidates, scoring)


def test_growth_with_constants_atoms_and_length(capsys: pytest.CaptureFixture[str]) -> None:
    measured([make_planted_database(0, 0.1)], 3, 2)  # everything is compiled
    lines = [HEAD]
    for people in (25, 50, 100, 200):
        databases = [make_planted_database(seed, 0.1, people, people // 3) for seed in range(3)]
        lines.append(f"{f'{people} people, length 4':22} {measured(databases, 4, 10)}")
    for longest in (2, 3, 4, 5):
        databases = [make_planted_database(seed, 0.1, 50, 16) for seed in range(3)]
        lines.append(f"{f'50 people, length {longest}':22} {measured(databases, longest, 10)}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert len(lines) == 9


@pytest.mark.data
@pytest.mark.parametrize("name", DATASETS)
def test_the_data_sets_of_the_paper(
    name: str, data_folder: object, capsys: pytest.CaptureFixture[str]
) -> None:

    dataset = DATASETS[name]
    databases = list(dataset.databases(Path(str(data_folder))).values())[1:]
    measured([make_planted_database(0, 0.1)], 3, 2)
    found = measured(databases, dataset.longest, 50)
    with capsys.disabled():
        print(f"\n{HEAD}\n{f'{name}, length {dataset.longest}':22} {found}")
    assert found.candidates > 0
