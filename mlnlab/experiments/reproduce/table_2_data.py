"""The datasets of Table 2 of Kok and Domingos (ICML 2009): files, the paper's parameters, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from mlnlab.errors import ArgumentError
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN


class Published(NamedTuple):
    """A row of the paper's Table 2: AUC and CLL, and the minutes that learning took on one fold."""

    auc: float
    cll: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of the paper: its files, its parameters, and the predicates to predict."""

    name: str
    folder: str
    declarations: str
    files: str
    longest: int  # ω
    length_penalty: float  # π
    path_length_penalty: float  # π'
    groups: tuple[tuple[str, ...], ...] = ()
    predicates: tuple[str, ...] | None = None
    published: Mapping[str, Published] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """Return the parameters of algorithm 1 by the names that ``ml.learn_structure`` has for them."""
        return {
            "longest": self.longest, "penalty": 1.0, "fewest": 50, "sampled": 500, "fraction": 0.5,
            "length_penalty": self.length_penalty, "path_length_penalty": self.path_length_penalty,
        }  # fmt: skip

    def options_of_rival(self, name: str) -> dict[str, Any]:
        """Return the parameters of BUSL or MSL that are not at their defaults.

        "We set their parameters corresponding to π to values we used for LHL. We also set their minWeight
        parameter to zero" (section 4.2).
        """
        price = {"busl": "length_penalty", "msl": "price"}[name]
        return {price: self.length_penalty, "least_weight": 0.0}

    def databases(self, data: Path) -> dict[str, Database]:
        """Read the five folds."""
        folder = data / self.folder
        if not folder.is_dir():
            raise ArgumentError(f"The files of {self.name} are needed: {data} has no folder {self.folder}.")
        model = MLN.load(folder / self.declarations)
        found = [folder / self.files.format(fold) for fold in range(1, 6)]
        return {path.stem: Database.load(path, model) for path in found}


_HOUR = 60.0
DATASETS: Mapping[str, Dataset] = {
    one.name: one
    for one in (
        Dataset(
            "imdb", "imdb", "imdb_decl.mln", "imdb_fold{}.db", 5, 0.1, 0.01, (("actor", "director"),), None,
            {
                "lhl": Published(0.69, -0.13, 15.63), "lhl-noheu": Published(0.69, -0.13, 39.0),
                "lhl-findpaths": Published(0.69, -0.13, 242.41),
                "lhl-liftgraph": Published(0.45, -0.27, 0.18),
                "busl": Published(0.47, -0.14, 4.69),
                "msl": Published(0.41, -0.17, 0.17),
            },
        ),
        Dataset(
            "uw-cse", "uw-cse", "uwcse_decl.mln", "uwcse_fold{}.db", 5, 0.01, 0.001,
            (("student", "professor"),), None,
            {
                "lhl": Published(0.22, -0.04, 7.55 * _HOUR),
                "lhl-noheu": Published(0.22, -0.04, 158.24 * _HOUR),
                "lhl-findpaths": Published(0.19, -0.04, 56.69 * _HOUR),
                "lhl-liftgraph": Published(0.14, -0.06, 0.001 * _HOUR),
                "busl": Published(0.21, -0.05, 12.97 * _HOUR),
                "msl": Published(0.18, -0.57, 2.13 * _HOUR),
            },
        ),
        Dataset(
            "cora", "cora", "cora_decl.mln", "cora_fold{}.db", 4, 0.01, 0.001, (),
            ("SameBib", "SameTitle", "SameAuthor", "SameVenue"),
            {
                "lhl": Published(0.87, -0.26, 14.82 * _HOUR),
                "lhl-noheu": Published(0.87, -0.26, 33.99 * _HOUR),
                "lhl-findpaths": Published(0.91, -0.17, 5935.5 * _HOUR),
                "lhl-liftgraph": Published(nan, nan, 0.01 * _HOUR),  # crashed when it was tested
                "busl": Published(0.17, -0.37, 18.65 * _HOUR),
                "msl": Published(0.17, -0.37, 65.6 * _HOUR),
            },
        ),
    )
}  # fmt: skip
