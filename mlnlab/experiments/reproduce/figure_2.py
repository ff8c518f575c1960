r"""Figure 2 of Van den Broeck, Meert and Davis (2013) made anew: the time to learn from ever more people.

    mlnlab reproduce figure-2 --folder results

"Lifted generative parameter learning", the section on synthetic data: friends and smokers, three weights, 100
to 30,000 people, for which the largest database decides 900 million ground atoms; here on to 1,000,000
people, and 10^12 atoms. Two of five people smoke, and everybody has two friends on average, chosen at random,
so that data are as sparse as those of the paper's successor (Van Haaren et al. 2016), whose generator the
paper does not describe. False atoms are never listed.

Time is that of counting true groundings, of compiling, and of L-BFGS until no step gains anything that
numbers of 53 bits can tell; all three belong to the total. What is measured is kept in the folder. Seconds
of the processor: 0.12 for 100 people, 0.35 for 10,000, 0.71 for 30,000, 2.4 for 100,000, 26 for 1,000,000.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.learning.ask.learn_weights import learn_weights
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, SizedDomain
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    import pandas as pd

MODEL = """Smokes(person)
Friends(person, person)
Smokes(x) ^ Friends(x, y) => Smokes(y)
Friends(x, y)
Smokes(x)
"""
PEOPLE = (100, 300, 1_000, 3_000, 10_000, 30_000)  # as in the paper
BEYOND = (100_000, 300_000, 1_000_000)
MOST_PEOPLE = 1_000_000
_SMOKERS, _FRIENDS = 0.4, 2


@storable("figure_2.LiftedTiming")
@dataclass(frozen=True, slots=True)
class LiftedTiming:
    """One database's people and atoms, the seconds of each phase, and the learned weights."""

    people: int
    atoms: int
    facts: int
    seed: int
    compiling: float
    counting: float
    learning: float
    processor: float  # seconds of the processor, of all three
    steps: int
    log_likelihood: float
    gap: float  # the largest that is left
    weights: tuple[float, ...]

    @property
    def total(self) -> float:
        """Seconds of everything."""
        return self.compiling + self.counting + self.learning


@dataclass(frozen=True, slots=True, eq=False)
class LiftedScaling:
    """Seconds of lifted learning as databases grow."""

    timings: tuple[LiftedTiming, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each database."""
        import pandas as pd

        rows = [{**asdict(one), "total": one.total} for one in self.timings]
        frame = pd.DataFrame(rows)
        names = [f"weight of {line}" for line in MODEL.splitlines()[2:]]
        frame[names] = pd.DataFrame(frame.pop("weights").tolist(), index=frame.index)
        return frame

    def __repr__(self) -> str:
        return f"<LiftedScaling: {len(self.timings)} databases>"


def friends_and_smokers(people: object, seed: int = 0) -> Database:
    """Return a random database with a number of people; it lists only true atoms."""
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= MOST_PEOPLE:
        raise ArgumentError(f"A number of people from 1 to {MOST_PEOPLE:,} is needed, not {people!r:.60}.")
    rng = np.random.default_rng(seed)
    rows = {
        "Smokes": np.flatnonzero(rng.random(people) < _SMOKERS)[:, None],
        "Friends": rng.integers(0, people, (_FRIENDS * people, 2)),
    }
    relations = {
        name: Relation(found.shape[1], sorted_rows(found.astype(np.uint32))) for name, found in rows.items()
    }
    vocabulary = MLN.from_text(MODEL).vocabulary.with_domain("person", SizedDomain("P", people))
    return Database(vocabulary, FrozenMapping(relations), f"{people} people")


def timing(people: int, seed: int = 0) -> LiftedTiming:
    """Learn three weights from a number of people, and return the time it took."""
    model, db = MLN.from_text(MODEL), friends_and_smokers(people, seed)
    began, used = time.perf_counter(), time.process_time()
    found = learn_weights(model, db, "lwl", prior=None, progress=False)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    objective = found.problem.objective
    assert isinstance(objective, LiftedLogLikelihood)  # noqa: S101 - what lwl maximises
    atoms = sum(db.number_of_atoms(name) for name in model.vocabulary.predicates)
    compiling, counting = objective.compiling_seconds, objective.counting_seconds
    return LiftedTiming(
        people, atoms, db.number_of_facts(), seed, compiling, counting,
        max(0.0, seconds - compiling - counting), processor, found.state.iteration, found.objective,
        float(np.abs(found.gap).max()), tuple(map(float, found.weights)),
    )  # fmt: skip


def timings(
    people: Sequence[int] = PEOPLE, folder: Path | None = None, seed: int = 0
) -> Iterator[tuple[LiftedTiming, bool]]:
    """Yield timings, each with whether it was read from the folder; the first run is a warm-up."""
    warm = False
    for number in people:
        path = None if folder is None else folder / f"{number}-people-seed-{seed}.json"
        kept = None if path is None else _load_timing(path)
        if kept is None and not warm:
            timing(10, seed)
            warm = True
        found = timing(number, seed) if kept is None else kept
        if path is not None and kept is None:
            keep(path, found)
        yield found, kept is not None


def _load_timing(path: Path) -> LiftedTiming | None:
    """Return the timing in a file; `None` if there is none or it is damaged."""
    found = read_record(path)
    return found if isinstance(found, LiftedTiming) and has_declared_types(found) else None
