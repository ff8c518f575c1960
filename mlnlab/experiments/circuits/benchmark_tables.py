"""The tables of data of the thesis's chapter 5, and a small one that is made here: Table 5.3.

KDD Cup has 64 variables in these files (65 in the thesis), MSWeb all 294; EachMovie is the published split
``tmovie``. The thesis trains on what is split into training and validation rows here: together these are its
199,999 and 32,711 rows of KDD Cup and MSWeb. Its 6,117 rows of EachMovie are all three parts together (4,524,
1,002 and 591), so here 5,526 rows are learned from, and 591 tested on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

FILES: Mapping[str, str] = {"kdd": "kdd", "msweb": "msweb", "eachmovie": "tmovie"}
SMALL = "small"
DATASETS = (*FILES, SMALL)
_WAYS_IN = "--files names the folder that has the folder debd."

# Table 5.3: variables, training rows, test rows, density.
PRINTED_SIZES: Mapping[str, tuple[int, int, int, float]] = {
    "kdd": (65, 199_999, 34_955, 0.0079),
    "msweb": (294, 32_711, 5_000, 0.0102),
    "eachmovie": (500, 6_117, 591, 0.0581),
}


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A table to learn from, as it was split into training and validation rows, and one to test on."""

    name: str
    tuning: DataTable
    validation: DataTable
    test: DataTable

    @property
    def train(self) -> DataTable:
        """All rows to learn from."""
        return DataTable(self.tuning.variables, np.vstack([self.tuning.rows, self.validation.rows]))

    @property
    def density(self) -> float:
        """The share of cells that are not the first value, over all rows."""
        parts = [table.rows for table in (self.tuning, self.validation, self.test)]
        return sum(float((rows != 0).sum()) for rows in parts) / sum(rows.size for rows in parts)


def benchmark(name: str, files: Path | None = None) -> Benchmark:
    """Return a data set by its name; all but ``small`` are read from files."""
    if name == SMALL:
        return make_small()
    if name not in FILES:
        hint = did_you_mean(name, DATASETS) or "."
        raise ArgumentError(f"There is no data {name:.60}{hint} There are: {', '.join(DATASETS)}.")
    if files is None or not (files / "debd").is_dir():
        raise ArgumentError(f"{name} is read from files: {_WAYS_IN}")
    parts = [files / "debd" / f"{FILES[name]}.{part}.data.xz" for part in ("train", "valid", "test")]
    for part in parts:
        if not part.is_file():
            raise ArgumentError(f"{part.name} is missing. {_WAYS_IN}")
    train = DataTable.of(parts[0])
    return Benchmark(name, train, *(DataTable.of(part, train.variables) for part in parts[1:]))


def make_small() -> Benchmark:
    """Make 900 rows of eight variables: each copies one of two others, which of them a third one says."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (900, 8))
    for variable in range(3, 8):
        copied = np.where(rows[:, variable - 3] == 1, rows[:, variable - 1], rows[:, variable - 2])
        rows[:, variable] = copied ^ (rng.random(900) < 0.1)
    variables = tuple(RandomVariable.numbered(f"X{number}", 2) for number in range(8))
    tuning, validation, test = (DataTable(variables, part) for part in np.split(rows, [540, 600]))
    return Benchmark(SMALL, tuning, validation, test)


def size_table(sets: Iterable[Benchmark]) -> pd.DataFrame:
    """Return Table 5.3, the thesis's sizes beside these."""
    import pandas as pd

    rows = []
    for one in sets:
        variables, train, test, density = PRINTED_SIZES.get(one.name, ("", "", "", ""))
        rows.append({
            "dataset": one.name, "variables": len(one.test.variables), "printed": variables,
            "training rows": len(one.tuning) + len(one.validation), "printed training rows": train,
            "test rows": len(one.test), "printed test rows": test,
            "density": one.density, "printed density": density,
        })  # fmt: skip
    return pd.DataFrame(rows)
