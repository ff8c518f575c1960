"""Networks over variables of several values: a greenhouse with sixteen variables, and a lattice of spins.

Both are ours. The greenhouse's tables were written by hand: zeros among them (a broken pump never waters, a
broken sensor never rings), two and three values, loops. The lattice is a Potts model: neighbours like to
agree, each site has a leaning of its own, drawn once with a seed.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from mlnlab.factors.files.bif_writing import bif_text
from mlnlab.factors.files.uai_writing import uai_text
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.conditional_table import ConditionalTable
from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import RandomVariable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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
    """Return the greenhouse network: causes of wilting plants, and an alarm."""
    variables = {name: RandomVariable(name, values) for name, values in _VALUES.items()}
    tables = [
        ConditionalTable(variables[name], [variables[parent] for parent in parents], rows)
        for name, parents, rows in _TABLES
    ]
    return BayesianNetwork(tuple(tables), "greenhouse")


def lattice(side: int = _SIDE, spins: int = _SPINS, seed: int = _SEED) -> FactorGraph:
    """Return a square lattice of sites: the factor of two neighbours is e for equal spins, else 1."""
    rng = Random(seed)
    sites = [RandomVariable.numbered(f"x{number}", spins) for number in range(side * side)]
    leanings = [Factor.of((site,), [round(rng.uniform(0.2, 2.0), 2) for _ in range(spins)]) for site in sites]
    agree = [[2.718281828459045 if a == b else 1.0 for b in range(spins)] for a in range(spins)]
    across = [(n, n + 1) for n in range(side * side) if (n + 1) % side]
    down = [(n, n + side) for n in range(side * (side - 1))]
    ties = [Factor.of((sites[a], sites[b]), agree) for a, b in (*across, *down)]
    return FactorGraph((*leanings, *ties), tuple(sites))


def network_files() -> dict[str, str]:
    """Return the text of each network's file by its path in the folder of sample data."""
    greenhouse_text, lattice_text = bif_text(greenhouse()), uai_text(lattice())
    return {"networks/greenhouse.bif": greenhouse_text, "networks/lattice.uai": lattice_text}
