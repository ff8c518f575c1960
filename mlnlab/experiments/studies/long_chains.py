r"""Long chains: data on which the pseudo-likelihood misleads, and how far, by length.

Each person has properties P1, P2, ... of which each is as the one before it but for one time in a hundred,
and the first holds for four of five people. Each property follows from its neighbours, so that the
conditional probabilities of single atoms, which are all that the pseudo-likelihood sees, hardly say how
often the whole chain is true; errors add up along it (Van den Broeck, Meert and Davis 2013: "long chains of
interactions").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from numbers import Real
from random import Random
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.inference.ask.likelihoods import log_likelihood
from mlnlab.learning.ask.learn_weights import learn_weights
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.logic.checked_options import whole_number
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd

_FIRST, _STAYS = 0.8, 0.99
_LONGEST, _MOST_PEOPLE = 20, 100_000
_DEVIATION = 100.0  # of the prior, as Alchemy's


def long_chain(
    length: int = 8, people: int = 200, *, stays: float = _STAYS, seed: int = 0
) -> tuple[MLN, Database]:
    r"""Return a model without weights, and a complete database of its true atoms.

    >>> import mlnlab as ml
    >>> mln, db = ml.long_chain(6, people=50, seed=1)
    >>> prior = ml.Gaussian(0, 100)
    >>> pll, lwl = (ml.learn_weights(mln, db, method, prior=prior) for method in ("pll", "lwl"))
    >>> ml.log_likelihood(lwl.mln, db) - ml.log_likelihood(pll.mln, db) > 5
    True
    """
    whole_number(seed, "A seed")
    if not (2 <= whole_number(length, "length", 2) <= _LONGEST):
        raise ArgumentError(f"A chain has from 2 to {_LONGEST} properties, not {length!r}.")
    given: object = stays
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ArgumentError(f"stays= is a probability, from 0 to 1, not {given!r:.60}.")
    if not (1 <= whole_number(people, "people", 1) <= _MOST_PEOPLE) or not 0 <= stays <= 1:
        raise ArgumentError(f"There are up to {_MOST_PEOPLE:,} people, and stays= is a probability.")
    names = [f"P{n + 1}" for n in range(length)]
    lines = [f"{name}(person)" for name in names] + [f"{name}(x)" for name in names]
    lines += [f"{one}(x) <=> {other}(x)" for one, other in pairwise(names)]
    model = MLN.from_text("\n".join(lines))
    draw, facts = Random(seed), [f"person = {{1, ..., {people}}}"]
    for person in range(1, people + 1):
        holds = draw.random() < _FIRST
        for name in names:
            if holds:
                facts.append(f"{name}({person})")
            holds = holds == (draw.random() < stays)
    return model, Database.from_text("\n".join(facts), model, name=f"chains of {length}")


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """Log-likelihoods of weights by each method, of the data they were learned from and of others."""

    length: int
    pll_training: float
    lwl_training: float
    pll_test: float
    lwl_test: float


@dataclass(frozen=True, slots=True, eq=False)
class ChainGrowth:
    """How far pseudo-likelihood is behind, by the length of chains."""

    points: tuple[ChainPoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each length."""
        import pandas as pd

        return pd.DataFrame([asdict(point) for point in self.points])

    def __repr__(self) -> str:
        return f"<ChainGrowth: {len(self.points)} lengths>"


def chain_growth(
    lengths: Sequence[int] = (2, 4, 6, 8, 10, 12), people: int = 200, seed: int = 0
) -> ChainGrowth:
    """Learn from chains of each length by both methods; other people, as many, are the test."""
    points = []
    for length in lengths:
        mln, db = long_chain(length, people, seed=seed)
        _, test = long_chain(length, people, seed=seed + 1)
        models = [
            learn_weights(mln, db, method, prior=Gaussian(0, _DEVIATION), progress=False).mln
            for method in ("pll", "lwl")
        ]
        values = [log_likelihood(model, one, method="lifted") for one in (db, test) for model in models]
        points.append(ChainPoint(length, *values))
    return ChainGrowth(tuple(points))
