"""The results of Table 1 of Van den Broeck, Meert and Davis (2013), and the tables made of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from mlnlab.errors import count_of
from mlnlab.experiments.reproduce.table_1_data import DATASETS
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    import pandas as pd

LEARNERS = ("pscg", "pll", "lwl")  # in the paper's order
PAPER_SECONDS = {"pscg": 2400.0, "pll": 1.0, "lwl": 120.0}
PAPER_COMPILING = 0.25  # of LWL's time
PAPER_MOST_FORMULAS, PAPER_GIGABYTES = 50, 25  # of more formulas it says that memory did not suffice


@storable("table_1.Result")
@dataclass(frozen=True, slots=True)
class Result:
    """The likelihood of a structure's weights, learned in one way, on one fold."""

    dataset: str
    structure: str
    fold: str
    learner: str
    formulas: int
    log_likelihood: float = nan  # of the fold held out
    training: float = nan  # of the other folds
    learning_seconds: float = nan
    compiling_seconds: float = nan
    testing_seconds: float = nan
    definitions: int = 0  # of the circuit
    cells: int = 0  # of a theory that is not compiled by rules
    order: int = 0  # how many sizes are summed over, one below the other
    peak_megabytes: float = nan  # of the process so far; nan where it cannot be told
    ended: str = ""
    problem: str = ""
    model: str = ""
    key: str = ""  # of everything that it depends on


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodTable:
    """The results, and the tables made of them."""

    results: tuple[Result, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each result."""
        import pandas as pd

        frame = pd.DataFrame([asdict(one) for one in self.results])
        return frame.drop(columns=["model", "key"], errors="ignore")

    def table(self) -> pd.DataFrame:
        """Return the table as printed: a row for each fold, a column for each learner, and who is best."""
        import pandas as pd

        rows: dict[tuple[str, str, str], dict[str, Any]] = {}
        for one in self.results:
            key = (one.dataset, one.structure, one.fold)
            row = rows.setdefault(key, dict(zip(("data", "structure", "fold"), key, strict=True)))
            row[one.learner] = one.log_likelihood
        for row in rows.values():
            known = {
                name: row.get(name, nan) for name in LEARNERS if row.get(name, nan) == row.get(name, nan)
            }
            row["best"] = max(known, key=lambda name: known[name]) if known else ""
        return pd.DataFrame(list(rows.values()), columns=["data", "structure", "fold", *LEARNERS, "best"])

    def exceptions(self) -> pd.DataFrame:
        """Return the rows in which lifted learning is not best."""
        table = self.table()
        return table[table["lwl"].notna() & (table["best"] != "lwl")]

    def seconds(self) -> pd.DataFrame:
        """Return the mean seconds of each learner beside the paper's, and the share of compiling."""
        frame = self.to_frame()
        done = frame[frame["problem"] == ""]
        found = done.groupby("learner")[["learning_seconds", "compiling_seconds"]].mean()
        found["compiling_share"] = found.pop("compiling_seconds") / found["learning_seconds"]
        found["paper_seconds"] = [PAPER_SECONDS[str(name)] for name in found.index]
        found["paper_share"] = [PAPER_COMPILING if name == "lwl" else nan for name in found.index]
        return found.reset_index()

    def problems(self) -> pd.DataFrame:
        """Return the results that did not compile, or were refused, with the reason."""
        frame = self.to_frame()
        columns = ["dataset", "structure", "fold", "learner", "formulas", "compiling_seconds", "definitions"]
        more = ["cells", "order", "peak_megabytes", "problem"]
        return frame.loc[frame["problem"] != "", [*columns, *more]]

    def failure(self) -> str:
        """Describe the results of theories larger than any that the paper compiled; empty if none."""
        large = [one for one in self.results if one.formulas > PAPER_MOST_FORMULAS]
        if not large:
            return ""
        compiled = [one for one in large if one.definitions or one.cells]
        text = (
            f"The paper compiled no theory of over {PAPER_MOST_FORMULAS} formulas in {PAPER_GIGABYTES} GB."
            f" Here there were {count_of(len(large), 'attempt')}, of which {len(compiled)} compiled"
        )
        if compiled:
            most, cells = (max(getattr(one, name) for one in compiled) for name in ("definitions", "cells"))
            into = [f"{most:,} definitions"] * bool(most) + [f"{cells:,} cells"] * bool(cells)
            peak = max(one.peak_megabytes for one in compiled)
            text += f", to {' and '.join(into)} at most, in up to {peak:,.0f} MB of the whole process"
        judged = sum(not one.problem for one in large)
        return f"{text}; {judged} were learned and judged, the reasons for the others are listed."

    def __repr__(self) -> str:
        return f"<LikelihoodTable: {len(self.results)} results, {len(self.exceptions())} not won by lwl>"


def make_published_table() -> pd.DataFrame:
    """Return the paper's table in the shape of ours."""
    import pandas as pd

    rows = [
        (data.name, f"{structure} (paper)", f"fold {n}", *map(float, numbers))
        for data in DATASETS.values()
        for structure, folds in data.published.items()
        for n, numbers in enumerate(folds, 1)
    ]
    frame = pd.DataFrame(rows, columns=["data", "structure", "fold", *LEARNERS])
    frame["best"] = frame[list(LEARNERS)].idxmax(axis=1)
    return frame
