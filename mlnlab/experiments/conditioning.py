"""How ill-conditioned learning is: the spread of the variances of counts where all weights are zero.

The Hessian of the negative conditional log-likelihood is the covariance of the formulas' counts (thesis,
section 4.2.4); the condition number of its diagonal is the largest ratio of two variances (section 4.3.1:
over 600,000 for Cora, about 7,000 for WebKB). At zero weights all completions of the evidence are equally
likely, so each open atom is true with probability 1/2, independently of all others, and variances are exact:

- where a formula holds one open atom, its count is a sum of Δn(a) x_a, with variance Σ Δn(a)² / 4;
- else each ground clause is a product of signs (1 ± s_a) / 2 written out over subsets of its atoms; equal
  subsets are added up, and the variance is the sum of the squared coefficients (Parseval);
- where that is too much, counts in drawn worlds estimate it, with a standard error.

How the thesis's numbers compare, and what moves ours, is in :mod:`mlnlab.experiments.condition_numbers`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.experiments.count_variances import How, count_variances, open_constraints
from mlnlab.experiments.joined_models import expanded_together, fitted, grounded_weights
from mlnlab.logic.printing import to_text
from mlnlab.logic.weights import Hard
from mlnlab.model.database import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.model.mln import MLN

    Numbers = NDArray[np.float64]

MOST_CLAUSES = 2_000_000
SAMPLES = 200
THESIS = {"Cora": 600_000.0, "WebKB": 7_000.0}  # section 4.3.1: "over" the one, "approximately" the other
_WAYS: tuple[How, ...] = ("one open atom", "ground clauses", "drawn worlds")


@dataclass(frozen=True, slots=True, eq=False)
class Conditioning:
    """The variance of each formula's count at zero weights, and how it was found."""

    formulas: tuple[str, ...]
    variances: Numbers
    errors: Numbers  # standard errors; 0 where the variance is exact
    how: tuple[How, ...]

    @property
    def number(self) -> float:
        """The condition number: the largest ratio of two variances, of formulas that vary at all."""
        varying = self.variances[self.variances > 0]
        return float(varying.max() / varying.min()) if len(varying) else 1.0

    @property
    def constant(self) -> int:
        """How many formulas do not vary: evidence decides all their groundings."""
        return int((self.variances <= 0).sum())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula, the largest variance first."""
        import pandas as pd

        frame = pd.DataFrame(
            {"formula": self.formulas, "variance": self.variances, "error": self.errors, "how": self.how}
        )
        return frame.sort_values("variance", ascending=False, kind="stable", ignore_index=True)

    def without(self, part: str) -> Conditioning:
        """Return the same without the formulas whose text has a part."""
        kept = [place for place, text in enumerate(self.formulas) if part not in text]
        how = tuple(self.how[place] for place in kept)
        texts = tuple(self.formulas[place] for place in kept)
        return Conditioning(texts, self.variances[kept], self.errors[kept], how)

    def __repr__(self) -> str:
        decided = f", {self.constant:,} of them decided by evidence" if self.constant else ""
        return (
            f"<Conditioning of {len(self.formulas):,} formulas{decided}: condition number {self.number:,.4g}>"
        )


def conditioning(
    mln: MLN,
    evidence: Database | Sequence[Database],
    query: Sequence[str],
    *,
    most_clauses: int = MOST_CLAUSES,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Conditioning:
    r"""Return the variances of the counts at zero weights, given evidence, and their condition number.

    ``evidence`` is one database or several, without the atoms to be predicted: of the query predicates,
    what they list is known, all else is open, as in :func:`mlnlab.infer`. Variances of several add up.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Has(page, word)\nTopic(page)\nHas(p, +w) => Topic(p)")
    >>> db = ml.Database.from_text("Has(A, The)\nHas(B, The)\nHas(C, The)\nHas(C, Exam)", mln)
    >>> found = ml.conditioning(mln, db, ["Topic"])
    >>> found
    <Conditioning of 2 formulas: condition number 3>
    >>> found.to_frame()["variance"].tolist()
    [0.75, 0.25]
    """
    dbs = [evidence] if isinstance(evidence, Database) else list(evidence)
    if not dbs or not query or isinstance(query, str):
        raise ArgumentError(
            'Give at least one database, and the predicates to predict as in query=["Class"].'
        )
    if samples < 2:
        raise ArgumentError(f"A variance needs at least two drawn worlds, not {samples!r}.")
    model = grounded_weights(expanded_together(mln, dbs))
    if any(model.vocabulary[name].exclusive for name in query):
        raise ArgumentError(
            "Atoms of a block are not independent, so the variances of their counts are not known."
        )
    hard = [one for one in model.formulas if isinstance(one.weight, Hard)]
    soft = [one for one in model.formulas if not isinstance(one.weight, Hard)]
    total, squares = np.zeros(len(soft)), np.zeros(len(soft))
    how: list[How] = ["one open atom"] * len(soft)
    for db in dbs:
        own = fitted(model, db)
        if text := open_constraints(replace(model, formulas=tuple(hard), places=()), own, query):
            raise ArgumentError(
                f"Evidence leaves the hard formula {text:.200} open, so that atoms are not independent at "
                "zero weights. List what it decides among the evidence, or leave it out."
            )
        part = replace(model, formulas=tuple(soft), places=())
        rng = np.random.default_rng(seed)
        for places, way, variances, errors in count_variances(part, own, query, most_clauses, samples, rng):
            total[places] += variances
            squares[places] += errors**2
            for place in places:
                how[place] = max(how[place], way, key=_WAYS.index)
    return Conditioning(tuple(to_text(one.formula) for one in soft), total, np.sqrt(squares), tuple(how))


def condition_table(
    found: Mapping[str, Conditioning], data: str = "", *, without: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return a row for each problem, and one more for each cause that is switched off in it.

    ``without={"no links": "LinksTo"}`` leaves out the formulas whose text has that part. ``data`` ("Cora" or
    "WebKB") puts the thesis's number beside them.
    """
    import pandas as pd

    if data and data not in THESIS:
        raise ArgumentError(f"The thesis tells of {' and '.join(THESIS)}, not of {data:.60}.")
    rows = []
    for name, whole in found.items():
        switched = {f"{name}, {cause}": whole.without(part) for cause, part in (without or {}).items()}
        for called, one in {name: whole, **switched}.items():
            varying = one.variances[one.variances > 0]
            bounds = (float(varying.min()), float(varying.max())) if len(varying) else (0.0, 0.0)
            rows.append((called, len(one.formulas), one.constant, *bounds, one.number, THESIS.get(data)))
    variances = ["smallest variance", "largest variance", "condition number"]
    names = ["problem", "weights", "decided", *variances, "thesis"]
    return pd.DataFrame(rows, columns=names)
