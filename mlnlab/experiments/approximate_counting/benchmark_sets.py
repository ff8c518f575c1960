"""The four data sets of Sarkhel et al. (2016), Table 2: their sizes beside the paper's, and five folds.

Smoker, WebKB and Protein are generated: of the first the paper says so, of the second the files at hand have
360 pages of 4,165, and the third is not public any more. Predicates and numbers of constants make the paper's
sizes: 250 people are 63,000 atoms, 4,165 pages with 774 words 20.6 million, and 211 parameters are 14 * 14
rules about the functions of interacting proteins, 14 functions and the interactions themselves. ER is Cora,
its five folds merged to one database, without canopies.

A part of a database has some of the constants of some types, and all facts about these alone: folds are such
parts, and so are samples of a fraction k (figures 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counts import groundings_of
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora.identities import FIELDS, SAME
from mlnlab.experiments.cora.model import cora_databases
from mlnlab.experiments.webkb.model import CATEGORIES
from mlnlab.experiments.webkb.synthetic import PAGES, SyntheticWeb, synthetic_web
from mlnlab.logic.formulas.weights import Hard
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    Constants = Mapping[str, NDArray[np.int64]]  # of some types, by their numbers

FOLDS = 5
PEOPLE, PROTEINS, FUNCTIONS = 250, 1_439, 14
_SHARE, _FRIENDS = 0.5, 31  # of people who smoke, and who have cancer; friends of each
_RAREST = 0.034  # share of pages with the rarest word, which makes the paper's number of true atoms
_FUNCTIONS_EACH, _PARTNERS, _ALIKE = 2, 16, 0.7

SMOKER = """Smokes(person)
Cancer(person)
Friends(person, person)
Smokes(x) => Cancer(x)
Friends(x, y) ^ Smokes(x) => Smokes(y)
Friends(x, y) ^ Smokes(y) => Smokes(x)
Smokes(x)
Cancer(x)
"""
WEBKB = """Has(page, word)
LinksTo(page, page)
Class(page, class)
Has(p, w) => Class(p, +c)
Class(p1, +c1) ^ LinksTo(p1, p2) => Class(p2, +c2)
Class(p, +c)
"""
PROTEIN = """Function(protein, function)
Interaction(protein, protein)
Function(p1, +f1) ^ Interaction(p1, p2) => Function(p2, +f2)
Function(p, +f)
Interaction(p1, p2)
"""


@dataclass(frozen=True, slots=True)
class PrintedSize:
    """A row of the paper's Table 2."""

    clauses: float
    atoms: float
    parameters: int
    evidence: float


PRINTED_SIZES: Mapping[str, PrintedSize] = {
    "smoker": PrintedSize(125e3, 63e3, 5, 7.5e3),
    "webkb": PrintedSize(892e6, 20e6, 64, 227.5e3),
    "protein": PrintedSize(408e6, 3.3e6, 211, 25.8e3),
    "er": PrintedSize(1.7e12, 5.5e6, 15, 56e3),
}


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A data set: its model, one database of all, the constants of each fold, and the query."""

    name: str
    mln: MLN
    whole: Database
    folds: tuple[Constants, ...]
    sampled: str  # the type whose constants are sampled
    query: tuple[str, ...]
    generated: bool

    def split(self, fold: int, fraction: float = 1.0, seed: int = 0) -> tuple[Database, Database]:
        """Return the training data, a fraction of all folds but one, and the fold that is held out."""
        if not 0 <= fold < len(self.folds):
            raise ArgumentError(f"There are folds 1 to {len(self.folds)}, not {fold + 1}.")
        if not 0 < fraction <= 1:
            raise ArgumentError(f"A sampling fraction is above 0 and at most 1, not {fraction:g}.")
        others = [one for number, one in enumerate(self.folds) if number != fold]
        kept = {type_: np.unique(np.concatenate([one[type_] for one in others])) for type_ in others[0]}
        drawn = np.random.default_rng(seed).permutation(kept[self.sampled])
        kept[self.sampled] = np.sort(drawn[: max(1, round(fraction * len(drawn)))])
        return keep_constants(self.whole, kept), keep_constants(self.whole, self.folds[fold])

    @cached_property
    def size(self) -> Mapping[str, object]:
        """The row of Table 2: ground clauses, atoms, parameters and true evidence."""
        expanded = self.mln.expand(self.whole)
        facts = facts_of(self.whole, expanded.vocabulary)
        soft = [one for one in expanded.formulas if not isinstance(one.weight, Hard)]
        return {
            "dataset": self.name,
            "clauses": sum(groundings_of(one.formula, facts) for one in soft),
            "atoms": sum(map(self.whole.number_of_atoms, self.mln.vocabulary.predicates)),
            "parameters": len(soft),
            "evidence": self.whole.number_of_facts(),
            "generated": self.generated,
        }


def keep_constants(db: Database, kept: Constants) -> Database:
    """Return a database with some constants of some types, and the facts that name no others."""
    vocabulary, places = db.vocabulary, {}
    for type_, numbers in kept.items():
        domain = db.vocabulary.domain(type_)
        places[type_] = np.full(len(domain), -1)
        places[type_][numbers] = np.arange(len(numbers))
        names = tuple(domain[number] for number in numbers.tolist())
        vocabulary = vocabulary.with_domain(type_, NamedDomain(names))
    relations = {}
    for name, relation in db.relations.items():
        rows = relation.true.astype(np.int64)
        for column, type_ in enumerate(vocabulary[name].types):
            if type_ in places:
                rows[:, column] = places[type_][rows[:, column]]
        rows = rows[(rows >= 0).all(axis=1)]
        relations[name] = Relation(relation.arity, sorted_rows(rows.astype(np.uint32)))
    return Database(vocabulary, FrozenMapping(relations), db.name)


def benchmark(name: str, files: Path | None = None, seed: int = 0) -> Benchmark:
    """Return a data set by its name; ER needs the folder that has the folder ``cora``."""
    if name not in _MAKERS:
        hint = did_you_mean(name, _MAKERS) or "."
        raise ArgumentError(f"There is no data {name:.60}{hint} There are: {', '.join(_MAKERS)}.")
    return _MAKERS[name](files, seed)


# --- generated -------------------------------------------------------------------------------------


def smoker(people: int = PEOPLE, seed: int = 0) -> Benchmark:
    """Return people whose habits, illnesses and friends are random, as the paper's are."""
    rng = np.random.default_rng(seed)
    rows = {
        "Smokes": np.argwhere(rng.random(people) < _SHARE),
        "Cancer": np.argwhere(rng.random(people) < _SHARE),
        "Friends": rng.integers(0, people, (_FRIENDS * people, 2)),
    }
    return _make_benchmark("smoker", SMOKER, {"person": _names("P", people)}, rows, ("Smokes", "Cancer"), rng)


def webkb(pages: int = PAGES, seed: int = 0) -> Benchmark:
    """Return a synthetic web, the pages of all universities in one database."""
    web = synthetic_web(44 + seed, pages=pages, links=round(2.625 * pages), rarest=_RAREST)
    words, names = web.databases[0].domain("word"), [n for db in web.databases for n in db.domain("page")]
    domains = {"page": tuple(names), "word": words, "class": CATEGORIES}
    rows = {name: _join_pages(web, name) for name in ("Has", "LinksTo", "Class")}
    return _make_benchmark("webkb", WEBKB, domains, rows, ("Class",), np.random.default_rng(seed))


def _join_pages(web: SyntheticWeb, name: str) -> Rows:
    found, first = [], 0
    for db in web.databases:
        rows = db.relation(name).true.astype(np.int64)
        if name == "Class":
            rows[:, 1] = np.array([CATEGORIES.index(one) for one in db.domain("class")])[rows[:, 1]]
        rows[:, : 2 if name == "LinksTo" else 1] += first
        found.append(rows)
        first += len(db.domain("page"))
    return np.concatenate(found)


def protein(proteins: int = PROTEINS, seed: int = 0) -> Benchmark:
    """Return proteins of some functions, most of which interact with others of a function of theirs."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, FUNCTIONS + 1)
    has = np.zeros((proteins, FUNCTIONS), bool)
    for _ in range(_FUNCTIONS_EACH):
        has[np.arange(proteins), rng.choice(FUNCTIONS, proteins, p=shares / shares.sum())] = True
    pairs = rng.integers(0, proteins, (4 * _PARTNERS * proteins, 2))
    alike = (has[pairs[:, 0]] & has[pairs[:, 1]]).any(axis=1)
    chosen = pairs[rng.random(len(pairs)) < np.where(alike, _ALIKE, 1 - _ALIKE)][: _PARTNERS * proteins]
    domains = {"protein": _names("P", proteins), "function": _names("F", FUNCTIONS)}
    rows = {"Function": np.argwhere(has), "Interaction": chosen}
    return _make_benchmark("protein", PROTEIN, domains, rows, ("Function",), rng)


def _names(letter: str, number: int) -> tuple[str, ...]:
    return tuple(f"{letter}{place}" for place in range(number))


def _make_benchmark(
    name: str, text: str, domains: Mapping[str, Sequence[str]], rows: Mapping[str, Rows],
    query: tuple[str, ...], rng: np.random.Generator,
) -> Benchmark:  # fmt: skip
    """Return a generated data set, the constants of its first type dealt out to five folds."""
    mln = MLN.from_text(text, name=f"{name}.mln")
    vocabulary = mln.vocabulary.with_domains({type_: NamedDomain(tuple(d)) for type_, d in domains.items()})
    relations = {
        predicate: Relation(found.shape[1], sorted_rows(found.astype(np.uint32)))
        for predicate, found in rows.items()
    }
    sampled = next(iter(domains))
    dealt = rng.permutation(len(domains[sampled]))
    folds = tuple({sampled: np.sort(dealt[fold::FOLDS])} for fold in range(FOLDS))
    whole = Database(vocabulary, FrozenMapping(relations), name)
    return Benchmark(name, mln, whole, folds, sampled, query, generated=True)


# --- from files ------------------------------------------------------------------------------------


def er_text() -> str:
    """Return the model of ER: rules over pairs of citations, titles, authors, venues, and transitivity."""
    lines = [f"{field}(bib, {field.lower()})" for field in FIELDS]
    lines += [f"HasWord{field}({field.lower()}, {field.lower()}word)" for field in FIELDS]
    lines += ["SameBib(bib, bib)", *(f"Same{field}({field.lower()}, {field.lower()})" for field in FIELDS)]
    for field in FIELDS:
        both = f"{field}(b1, f1) ^ {field}(b2, f2)"
        lines += [
            f"HasWord{field}(f1, w) ^ HasWord{field}(f2, w) => Same{field}(f1, f2)",
            f"{both} ^ Same{field}(f1, f2) => SameBib(b1, b2)",
            f"{both} ^ SameBib(b1, b2) => Same{field}(f1, f2)",
        ]
    for same in SAME:
        lines += [f"{same}(x, y)", f"{same}(x, y) ^ {same}(y, z) => {same}(x, z)"]
    return "\n".join(lines) + "\n"


def er(files: Path | None) -> Benchmark:
    """Return Cora, its folds merged."""
    if files is None:
        raise ArgumentError("--files names the folder that has the folder cora, which the data er needs.")
    mln = MLN.from_text(er_text(), name="er.mln")
    databases = list(cora_databases(files / "cora", mln).values())
    whole = databases[0].with_facts("\n".join(db.to_text() for db in databases[1:]), name="er")
    domains = {type_: whole.vocabulary.domain(type_) for type_ in mln.vocabulary.types}
    folds = tuple(
        {t: np.sort([domain.number(name) for name in db.domain(t)]) for t, domain in domains.items()}
        for db in databases
    )
    return Benchmark("er", mln, whole, folds, "bib", SAME, generated=False)


_MAKERS: Mapping[str, Callable[[Path | None, int], Benchmark]] = {
    "smoker": lambda _, seed: smoker(seed=seed),
    "webkb": lambda _, seed: webkb(seed=seed),
    "protein": lambda _, seed: protein(seed=seed),
    "er": lambda files, _: er(files),
}
