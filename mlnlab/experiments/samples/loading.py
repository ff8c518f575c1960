"""``ml.sample("karate_club")``: the data sets that come with mlnlab."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from mlnlab.errors import ArgumentError, InputError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database import Database
from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = Path(__file__).resolve().parents[2]


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
    from mlnlab.experiments.samples.catalogue import CATALOGUE

    if name is None:
        return FrozenMapping({known: entry.description for known, entry in CATALOGUE.items()})
    asked, name = name, str(name).replace("-", "_")
    if name not in CATALOGUE:
        hint = did_you_mean(name, CATALOGUE) or "."
        raise ArgumentError(f"There is no sample {asked!r}{hint} There are: {', '.join(CATALOGUE)}.")
    folder = sample_folder() / name
    mln = MLN.load(folder / f"{name}.mln")
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    databases = {file: Database.load(folder / f"{file}.db", mln) for file in _database_names(folder, name)}
    return Sample(name, CATALOGUE[name].description, folder, mln, FrozenMapping(databases), answers)


def _database_names(folder: Path, name: str) -> list[str]:
    """Return the databases of a data set, the one that bears its name first."""
    return sorted((path.stem for path in folder.glob("*.db")), key=lambda stem: (stem != name, stem))


def sample_folder() -> Path:
    """Return the folder of the sample data: inside an installed package, beside it in a clone."""
    for place in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data"):
        if (place / "README.md").is_file():
            return place
    raise InputError(
        "The sample data, a part of mlnlab, are missing. Install mlnlab again: "
        f'"{sys.executable}" -m pip install --force-reinstall --no-deps mlnlab'
        " (in a clone of the repository: python -m mlnlab.experiments.samples writes them anew)."
    )
