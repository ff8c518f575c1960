"""Networks over variables of several values: a greenhouse with sixteen variables, and a lattice of spins.

Both are ours. The greenhouse's tables were written by hand: zeros among them (a broken pump never waters, a
broken sensor never rings), two and three values, loops. The lattice is a Potts model: neighbours like to
agree, each site has a leaning of its own, drawn once with a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from mlnlab.errors import ArgumentError
from mlnlab.experiments.samples.loading import sample_folder
from mlnlab.factors.bayesian_network import BayesianNetwork
from mlnlab.factors.bif_reading import load_bif
from mlnlab.factors.bif_writing import bif_text
from mlnlab.factors.conditional_table import ConditionalTable
from mlnlab.factors.factor import Factor
from mlnlab.factors.factor_graph import FactorGraph
from mlnlab.factors.random_variables import RandomVariable
from mlnlab.factors.uai_reading import load_uai
from mlnlab.factors.uai_writing import uai_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Network: TypeAlias = FactorGraph | BayesianNetwork

_VALUES = {
    "Season": ("winter", "between", "summer"),
    "Cloud": ("clear", "overcast"),
    "Light": ("low", "medium", "high"),
    "Heating": ("off", "on"),
    "Vents": ("closed", "open"),
    "Temperature": ("cold", "mild", "hot"),
    "Pump": ("works", "broken"),
    "Irrigation": ("off", "on"),
    "Soil": ("dry", "moist", "wet"),
    "Fungus": ("no", "yes"),
    "Pests": ("no", "yes"),
    "Wilting": ("no", "yes"),
    "Sensor": ("works", "broken"),
    "Alarm": ("silent", "rings"),
    "Growth": ("poor", "fair", "good"),
    "Harvest": ("small", "usual", "large"),
}
_MILD, _WARM = [0.1, 0.7, 0.2], [0.02, 0.38, 0.6]
# A variable, its parents, and a row for each combination of their values, the last parent turning fastest.
_TABLES: tuple[tuple[str, tuple[str, ...], ArrayLike], ...] = (
    ("Season", (), [0.25, 0.5, 0.25]),
    ("Cloud", ("Season",), [[0.3, 0.7], [0.5, 0.5], [0.75, 0.25]]),
    ("Light", ("Season", "Cloud"), [
        [0.3, 0.6, 0.1], [0.85, 0.14, 0.01], [0.1, 0.5, 0.4], [0.4, 0.5, 0.1],
        [0.02, 0.18, 0.8], [0.15, 0.6, 0.25],
    ]),
    ("Heating", ("Season",), [[0.1, 0.9], [0.6, 0.4], [1.0, 0.0]]),
    ("Vents", ("Season",), [[0.95, 0.05], [0.6, 0.4], [0.2, 0.8]]),
    ("Temperature", ("Light", "Heating", "Vents"), [
        [0.7, 0.29, 0.01], [0.9, 0.1, 0.0], [0.15, 0.75, 0.1], [0.4, 0.55, 0.05],
        [0.25, 0.65, 0.1], [0.45, 0.5, 0.05], [0.03, 0.57, 0.4], _MILD,
        [0.05, 0.45, 0.5], [0.15, 0.6, 0.25], [0.0, 0.15, 0.85], _WARM,
    ]),
    ("Pump", (), [0.97, 0.03]),
    ("Irrigation", ("Pump",), [[0.3, 0.7], [1.0, 0.0]]),
    ("Soil", ("Irrigation", "Temperature"), [
        [0.3, 0.6, 0.1], [0.55, 0.4, 0.05], [0.85, 0.14, 0.01], [0.02, 0.5, 0.48],
        [0.08, 0.72, 0.2], [0.25, 0.65, 0.1],
    ]),
    ("Fungus", ("Soil", "Temperature"), [
        [0.99, 0.01], [0.98, 0.02], [0.99, 0.01], [0.95, 0.05], [0.92, 0.08], [0.93, 0.07],
        [0.8, 0.2], [0.65, 0.35], [0.7, 0.3],
    ]),
    ("Pests", ("Temperature",), [[0.97, 0.03], [0.9, 0.1], [0.8, 0.2]]),
    ("Wilting", ("Soil", "Fungus"), [
        [0.25, 0.75], [0.1, 0.9], [0.95, 0.05], [0.4, 0.6], [0.85, 0.15], [0.3, 0.7],
    ]),
    ("Sensor", (), [0.98, 0.02]),
    ("Alarm", ("Wilting", "Sensor"), [[0.99, 0.01], [1.0, 0.0], [0.1, 0.9], [1.0, 0.0]]),
    ("Growth", ("Light", "Temperature", "Wilting"), [
        [0.8, 0.19, 0.01], [0.95, 0.05, 0.0], [0.5, 0.45, 0.05], [0.85, 0.14, 0.01],
        [0.55, 0.4, 0.05], [0.9, 0.1, 0.0], [0.6, 0.35, 0.05], [0.9, 0.09, 0.01],
        [0.2, 0.5, 0.3], [0.7, 0.28, 0.02], [0.3, 0.5, 0.2], [0.8, 0.19, 0.01],
        [0.5, 0.4, 0.1], [0.85, 0.14, 0.01], [0.08, 0.37, 0.55], [0.6, 0.35, 0.05],
        [0.15, 0.45, 0.4], [0.75, 0.23, 0.02],
    ]),
    ("Harvest", ("Growth", "Pests"), [
        [0.85, 0.14, 0.01], [0.95, 0.05, 0.0], [0.15, 0.75, 0.1], [0.5, 0.47, 0.03],
        [0.03, 0.37, 0.6], [0.2, 0.55, 0.25],
    ]),
)  # fmt: skip
_SIDE, _SPINS, _SEED = 5, 3, 11


def greenhouse() -> BayesianNetwork:
    """Return the greenhouse: what makes plants wilt, and what the alarm tells about it."""
    variables = {name: RandomVariable(name, values) for name, values in _VALUES.items()}
    tables = [
        ConditionalTable(variables[name], [variables[parent] for parent in parents], rows)
        for name, parents, rows in _TABLES
    ]
    return BayesianNetwork(tuple(tables), "greenhouse")


def lattice(side: int = _SIDE, spins: int = _SPINS, seed: int = _SEED) -> FactorGraph:
    """Return a square lattice of sites with so many spins: neighbours are e times as likely to agree."""
    rng = Random(seed)
    sites = [RandomVariable.numbered(f"x{number}", spins) for number in range(side * side)]
    leanings = [Factor.of((site,), [round(rng.uniform(0.2, 2.0), 2) for _ in range(spins)]) for site in sites]
    agree = [[2.718281828459045 if a == b else 1.0 for b in range(spins)] for a in range(spins)]
    across = [(n, n + 1) for n in range(side * side) if (n + 1) % side]
    down = [(n, n + side) for n in range(side * (side - 1))]
    ties = [Factor.of((sites[a], sites[b]), agree) for a, b in (*across, *down)]
    return FactorGraph((*leanings, *ties), tuple(sites))


NETWORKS: Mapping[str, tuple[str, Callable[[], Network]]] = {
    "greenhouse": (
        "Sixteen variables of a greenhouse: what makes plants wilt, and does the alarm tell?",
        greenhouse,
    ),
    "lattice": ("A Potts model: 25 sites of three spins, neighbours of which like to agree.", lattice),
}


def network_files() -> dict[str, str]:
    """Return the text of each network's file by its path in the folder of sample data."""
    greenhouse_text, lattice_text = bif_text(greenhouse()), uai_text(lattice())
    return {"networks/greenhouse.bif": greenhouse_text, "networks/lattice.uai": lattice_text}


def sample_network(name: str | None = None) -> Network | FrozenMapping[str]:
    """Return a network by its name, from its file; without a name, the names with a sentence about each.

    >>> import mlnlab as ml
    >>> list(ml.sample_network())
    ['greenhouse', 'lattice']
    >>> ml.sample_network("greenhouse")
    <BayesianNetwork greenhouse of 16 variables and 23 edges: 217 cells, 746,496 states>
    """
    if name is None:
        return FrozenMapping({known: sentence for known, (sentence, _) in NETWORKS.items()})
    if name not in NETWORKS:
        hint = did_you_mean(str(name), NETWORKS) or "."
        raise ArgumentError(f"There is no network {name!r:.60}{hint} There are: {', '.join(NETWORKS)}.")
    folder = sample_folder() / "networks"
    return load_bif(folder / f"{name}.bif") if name == "greenhouse" else load_uai(folder / f"{name}.uai")
