"""How ill-conditioned learning is: the spread of the variances of counts where all weights are zero.

The Hessian of the negative conditional log-likelihood is the covariance of the formulas' counts (thesis,
section 4.2.4); the condition number of its diagonal is the largest ratio of two variances (section 4.3.1:
over 600,000 for Cora, about 7,000 for WebKB). At zero weights all completions of the evidence are equally
likely, so each open atom is true with probability 1/2, independently of all others, and variances are exact:

- where a formula holds one open atom, its count is a sum of Δn(a) x_a, with variance Σ Δn(a)² / 4;
- else each ground clause is a product of signs (1 ± s_a) / 2 written out over subsets of its atoms; equal
  subsets are added up, and the variance is the sum of the squared coefficients (Parseval);
- where that is too much, counts in drawn worlds estimate it, with a standard error.

How the thesis's numbers compare, and what moves ours, is in
:mod:`mlnlab.experiments.studies.condition_numbers`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.counting.counts.counts import count
from mlnlab.counting.deltas.delta_rows import DeltaRowCounter
from mlnlab.counting.facts.renumbering import renumber_tables
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.formulas.formula_families import families
from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.joined_models import add_constants, expanded_together, grounded_weights
from mlnlab.grounding.networks.ground_model import ground
from mlnlab.grounding.networks.network_size import network_size
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.traversal import atoms, predicates
from mlnlab.logic.formulas.weights import Hard
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.database import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

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
        own = add_constants(model, db)
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
        raise ArgumentError(
            f"The thesis has condition numbers for {' and '.join(THESIS)}, not for {data:.60}."
        )
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


# --- variances of counts where open atoms are independent and even ------------------------------

# Three ways, in the order in which they are preferred: by Δn, by ground clauses, by drawn worlds; see
# :mod:`mlnlab.experiments.studies.count_spreads`.

How = Literal["one open atom", "ground clauses", "drawn worlds"]
Found = tuple[list[int], How, "Numbers", "Numbers"]
_MOST_ATOMS = 20_000_000
_LONGEST = 10  # open atoms of a clause whose subsets are written out


def count_variances(
    model: MLN, db: Database, query: Sequence[str], most_clauses: int, samples: int, rng: np.random.Generator
) -> Iterator[Found]:
    """Yield places of formulas, how their variances were found, the variances and their standard errors."""
    opened = {name: open_rows(db, name) for name in query}
    alone: list[int] = []
    joint: list[int] = []
    for place, weighted in enumerate(model.formulas):
        number = sum(atom.predicate in opened for atom in atoms(weighted.formula))
        (joint if number > 1 else alone).append(place)
    yield alone, "one open atom", _by_deltas(_some(model, alone), db, query), np.zeros(len(alone))
    batches, drawn = _batches(model, joint, db, query, most_clauses)
    for places in batches:
        clauses = ground(_some(model, places), db, list(query)).clauses
        for source, place in enumerate(places):
            found = _by_clauses(clauses, source)
            if found is None:
                drawn.append(place)
            else:
                yield [place], "ground clauses", np.array([found]), np.zeros(1)
    if drawn:
        yield drawn, "drawn worlds", *_by_drawing(_some(model, drawn), db, opened, samples, rng)


def _batches(
    model: MLN, places: list[int], db: Database, query: Sequence[str], most: int
) -> tuple[list[list[int]], list[int]]:
    """Return batches of formulas with at most ``most`` clauses each, and the formulas too large for it."""
    batches: list[list[int]] = []
    too_large, room = [], 0
    sizes = network_size(_some(model, places), db, list(query)).sources if places else ()
    for place, size in zip(places, sizes, strict=False):
        if size.most_open > most:
            too_large.append(place)
        elif size.most_open > room or not batches:
            batches.append([place])
            room = most - size.most_open
        else:
            batches[-1].append(place)
            room -= size.most_open
    return batches, too_large


def _some(model: MLN, places: Sequence[int]) -> MLN:
    return replace(model, formulas=tuple(model.formulas[place] for place in places), places=())


def open_rows(db: Database, name: str) -> NDArray[np.uint32]:
    """Return the atoms of a predicate that a database does not list, as rows of constant numbers."""
    sizes = [len(db.vocabulary.domain(type_)) for type_ in db.vocabulary[name].types]
    if prod(sizes) > _MOST_ATOMS:
        raise ArgumentError(
            f"{name} has {prod(sizes):,} ground atoms; at most {_MOST_ATOMS:,} can be looked at."
        )
    relation = db.relation(name)
    if len(relation.unknown) or len(relation.soft):
        raise ArgumentError(
            f"Of {name}, facts are listed as unknown or soft; list known ones only, the rest is open."
        )
    is_open = np.ones(prod(sizes), bool)
    for rows in (relation.true, relation.false):
        if len(rows):
            is_open[np.ravel_multi_index(tuple(rows.T.astype(np.int64)), sizes)] = False
    places = np.unravel_index(np.flatnonzero(is_open), sizes)
    return np.stack(places, axis=1).astype(np.uint32) if sizes else np.zeros((int(is_open[0]), 0), np.uint32)


def _by_deltas(model: MLN, db: Database, query: Sequence[str]) -> Numbers:
    """Return Σ Δn(a)² / 4 over the open atoms, for formulas in which no two of them meet."""
    formulas = [weighted.formula for weighted in model.formulas]
    vocabulary = model.vocabulary_with(db)
    used = {name for formula in formulas for name in predicates(formula)}
    counter = DeltaRowCounter(families(formulas), len(formulas), vocabulary)
    facts = facts_of(db, vocabulary)
    found = np.zeros(len(formulas))
    for name in query:
        if name in used:
            relation = db.relation(name)
            listed = {name: np.concatenate([relation.true, relation.false])}
            rows = counter(facts, name, renumber_tables(listed, db.vocabulary, vocabulary)[name])
            found += rows.values.squares.sum_rows(rows.multiplicities)  # noqa: PD011 - counts, no frame
    return found / 4.0


def _by_clauses(clauses: GroundClauses, source: int) -> float | None:
    """Return the sum of the squared coefficients of a count, or ``None`` where clauses do not say all.

    A clause of k atoms is false with indicator Π (1 ± s_a) / 2, where s_a is 1 for a true atom, else -1, so
    that each subset of its atoms has the coefficient ± 2^-k.
    """
    own = np.flatnonzero(clauses.clause_sources == source)
    lengths = np.diff(clauses.starts.astype(np.int64))[own]
    if (clauses.table_sources == source).any() or (len(lengths) and lengths.max() > _LONGEST):
        return None
    by_size: dict[int, list[tuple[NDArray[np.int64], Numbers]]] = {}
    for length in np.unique(lengths[lengths > 0]).tolist():
        which = own[lengths == length]
        literals = clauses.literals[clauses.starts[which].astype(np.int64)[:, None] + np.arange(length)]
        literals = np.sort(literals.astype(np.int64), axis=1)
        # The indicator is taken off where the grounding is the clause itself, else added.
        signs = np.where(literals % 2 == 0, -1.0, 1.0)
        whole = np.where(clauses.negated[which], 1.0, -1.0) * 0.5**length
        for size in range(1, length + 1):
            for chosen in combinations(range(length), size):
                part = list(chosen)
                by_size.setdefault(size, []).append(
                    (literals[:, part] // 2, whole * signs[:, part].prod(axis=1))
                )
    return float(sum(_squares(parts, clauses.number_of_atoms) for parts in by_size.values()))


def _squares(parts: list[tuple[NDArray[np.int64], Numbers]], number: int) -> float:
    """Return the sum of the squares of the coefficients after adding up those of equal subsets."""
    subsets = np.concatenate([rows for rows, _ in parts])
    coefficients = np.concatenate([values for _, values in parts])
    keys = subsets[:, 0]
    for column in subsets.T[1:]:
        keys = np.unique(keys * number + column, return_inverse=True)[1]
    totals = np.bincount(np.unique(keys, return_inverse=True)[1], coefficients)
    return float(totals @ totals)


def _by_drawing(
    model: MLN, db: Database, opened: dict[str, NDArray[np.uint32]], samples: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Return the variances of the counts in drawn worlds, and standard errors by fourth moments."""
    counts = np.zeros((samples, len(model.formulas)))
    for sample in range(samples):
        relations = dict(db.relations)
        for name, rows in opened.items():
            true = np.concatenate([db.relation(name).true, rows[rng.random(len(rows)) < 0.5]])
            relations[name] = Relation(rows.shape[1], sorted_rows(true))
        counts[sample] = list(count(model, replace(db, relations=FrozenMapping(relations))))
    centred = counts - counts.mean(axis=0)
    variances = (centred**2).sum(axis=0) / (samples - 1)
    fourth = (centred**4).mean(axis=0)
    return variances, np.sqrt(np.maximum(0.0, fourth - variances**2) / samples)


def open_constraints(model: MLN, db: Database, query: Sequence[str]) -> str:
    """Return a formula that evidence leaves open, or an empty text where there is none."""
    if not model.formulas:
        return ""
    clauses = ground(model, db, list(query)).clauses
    for weighted, tally in zip(model.formulas, clauses.tallies, strict=False):
        if tally.groundings - tally.true - tally.false:
            return to_text(weighted.formula)
    return ""


def transitivity_variance(things: int) -> float:
    """Return the variance of the count of ``Same(x, y) ^ Same(y, z) => Same(x, z)`` without canopies.

    All pairs of different things are open, each thing is itself. Over ordered triples of different things,
    single atoms have the coefficient (n - 2) / 8, premises together 1 / 8, a premise with the conclusion -1
    / 4 (each such pair is in two groundings), all three -1 / 8.
    """
    return things * (things - 1) * (things - 2) * (things + 4) / 64
