"""Load the data sets and networks that come with mlnlab: ``ml.sample("karate_club")``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from mlnlab.errors import ArgumentError, InputError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.factor_graph import FactorGraph

_PACKAGE = Path(__file__).resolve().parents[1]

# The generator of each lies beside its data, in the folder ``sample_data``.
SAMPLES = {
    "friends_smokers": (
        "Eight people: smoking spreads among friends and causes cancer; half of the habits are known."
    ),
    "department": (
        "Four professors, four students, eight courses, in the shape of the figure that explains lifting."
    ),
    "florentine_families": (
        "Marriages among fifteen families of Renaissance Florence: who sides with the Medici?"
    ),
    "karate_club": (
        "Friendships of the 34 members of a karate club: who goes with the instructor when it splits?"
    ),
    "university": "Five areas of a university with the schema and about the sizes of UW-CSE, to learn from.",
    "movies": "Five databases of movies with the schema and the sizes of the IMDB data set, to learn from.",
    "citations": "Four sets of careless citations in the vocabulary of Cora: which are of the same paper?",
    "web_pages": "Pages of four universities in the vocabulary of WebKB: of which classes is each?",
}
NETWORKS = {
    "greenhouse": "Sixteen variables of a greenhouse: what makes plants wilt, and does the alarm tell?",
    "lattice": "A Potts model: 25 sites of three spins, neighbours of which like to agree.",
}


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A data set: its model, its databases by name, and exact answers where there are any."""

    name: str
    description: str
    folder: Path
    mln: MLN
    databases: FrozenMapping[Database]
    answers: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def db(self) -> Database:
        """The first database."""
        return next(iter(self.databases.values()))

    @property
    def mln_path(self) -> Path:
        """The file of the model."""
        return self.folder / f"{self.name}.mln"

    def __repr__(self) -> str:
        return f"<Sample {self.name}: {self.description} Databases: {', '.join(self.databases)}>"


@overload
def sample(name: None = None) -> FrozenMapping[str]: ...
@overload
def sample(name: str) -> Sample: ...
def sample(name: str | None = None) -> Sample | FrozenMapping[str]:
    """Return a data set by its name; without a name, the names with a sentence about each.

    >>> import mlnlab as ml
    >>> list(ml.sample())
    ['friends_smokers', 'department', 'florentine_families', 'karate_club', 'university', 'movies',
     'citations', 'web_pages']
    >>> ml.sample("department").db
    <Database department.db: 20 true atoms, 16 constants>
    """
    if name is None:
        return FrozenMapping(SAMPLES)
    asked, name = name, str(name).replace("-", "_")
    if name not in SAMPLES:
        hint = did_you_mean(name, SAMPLES) or "."
        raise ArgumentError(f"There is no sample {asked!r}{hint} There are: {', '.join(SAMPLES)}.")
    folder = sample_folder() / name
    mln = MLN.load(folder / f"{name}.mln")
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    databases = {file: Database.load(folder / f"{file}.db", mln) for file in _database_names(folder, name)}
    return Sample(name, SAMPLES[name], folder, mln, FrozenMapping(databases), answers)


def _database_names(folder: Path, name: str) -> list[str]:
    """Return the databases of a data set, the one that bears its name first."""
    return sorted((path.stem for path in folder.glob("*.db")), key=lambda stem: (stem != name, stem))


@overload
def sample_network(name: None = None) -> FrozenMapping[str]: ...
@overload
def sample_network(name: str) -> FactorGraph | BayesianNetwork: ...
def sample_network(name: str | None = None) -> FactorGraph | BayesianNetwork | FrozenMapping[str]:
    """Return a network by its name, from its file; without a name, the names with a sentence about each.

    >>> import mlnlab as ml
    >>> list(ml.sample_network())
    ['greenhouse', 'lattice']
    >>> ml.sample_network("greenhouse")
    <BayesianNetwork greenhouse of 16 variables and 23 edges: 217 cells, 746,496 states>
    """
    if name is None:
        return FrozenMapping(NETWORKS)
    if name not in tuple(NETWORKS):  # for what cannot be hashed, too
        hint = did_you_mean(str(name), NETWORKS) or "."
        raise ArgumentError(f"There is no network {name!r:.60}{hint} There are: {', '.join(NETWORKS)}.")
    from mlnlab.factors.files.bif_reading import load_bif
    from mlnlab.factors.files.uai_reading import load_uai

    folder = sample_folder() / "networks"
    return load_bif(folder / f"{name}.bif") if name == "greenhouse" else load_uai(folder / f"{name}.uai")


def sample_folder() -> Path:
    """Return the folder of the sample data: inside an installed package, beside it in a clone."""
    for place in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data"):
        if (place / "README.md").is_file():
            return place
    raise InputError(
        "The sample data, a part of mlnlab, are missing. Install mlnlab again: "
        f'"{sys.executable}" -m pip install --force-reinstall --no-deps mlnlab'
        " (in a clone of the repository: python -m sample_data writes them again)."
    )
