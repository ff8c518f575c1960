"""Synthetic WebKB: as many pages, links and weights as the thesis reports, with structure to be learned.

Nothing of the real data is in it. Each page belongs to one of four universities and has a kind, from which
its categories follow (a professor is also faculty and a person). A word stands on a page with log-odds b_w
plus planted weights of the page's categories; b_w falls by Zipf's law. Links stay within a university; who
links to whom depends on the kinds of both pages and on how popular the target is. Only ``random()`` of a
numpy generator is drawn from, so a seed makes the same data everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlnlab.errors import ArgumentError
from mlnlab.experiments.webkb.model import CATEGORIES, webkb_model
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

Numbers = NDArray[np.float64]

PAGES, LINKS, WORDS, WEIGHTS = 4165, 10_935, 774, 10_891
# Shares of the four universities, after the sizes of their departments' webs.
UNIVERSITIES = {"Cornell": 0.208, "Texas": 0.199, "Washington": 0.289, "Wisconsin": 0.304}
# Kinds of pages: their share, and their categories. Nearly half of all pages belong to none.
KINDS: dict[str, tuple[float, tuple[str, ...]]] = {
    "student": (0.22, ("Person", "Student")),
    "professor": (0.055, ("Person", "Faculty", "Professor")),
    "lecturer": (0.02, ("Person", "Faculty")),
    "staff": (0.03, ("Person",)),
    "department": (0.01, ("Department",)),
    "project": (0.045, ("Project",)),
    "course": (0.12, ("Course",)),
    "other": (0.50, ()),
}
# How much more often than at random the first links to the second; all other pairs: 1.
AFFINITY = {
    ("student", "professor"): 6.0, ("student", "department"): 20.0, ("student", "project"): 5.0,
    ("professor", "course"): 8.0, ("professor", "project"): 8.0, ("professor", "student"): 3.0,
    ("professor", "department"): 15.0, ("course", "professor"): 10.0, ("course", "student"): 2.0,
    ("course", "course"): 4.0, ("project", "professor"): 10.0, ("project", "student"): 6.0,
    ("department", "professor"): 12.0, ("department", "course"): 8.0, ("department", "project"): 8.0,
    ("other", "other"): 3.0, ("lecturer", "course"): 10.0, ("staff", "department"): 20.0,
}  # fmt: skip
_SPREAD = 1.2  # of planted weights
_TELLING = 0.25  # share of the pairs of word and category with such a weight


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticWeb:
    """The model, a database for each university, and the planted log-odds of words by category."""

    mln: MLN
    databases: tuple[Database, ...]
    planted: Numbers  # a row for each word, a column for each category

    @property
    def weights(self) -> int:
        """How many weights the model has when it is written out."""
        words, classes = self.planted.shape
        priors = sum(1 for one in self.mln.formulas if not one.per_constant)
        return int(2 * words * classes + classes**2 + priors)

    def __repr__(self) -> str:
        pages = sum(len(db.domain("page")) for db in self.databases)
        links = sum(len(db.relation("LinksTo").true) for db in self.databases)
        return f"<SyntheticWeb: {pages:,} pages, {links:,} links, {self.weights:,} weights>"


def synthetic_web(
    seed: int = 44,
    *,
    pages: int = PAGES,
    links: int = LINKS,
    words: int = WORDS,
    rarest: float = 0.002,
    hubs: float = 1.1,
) -> SyntheticWeb:
    """Return a web; ``rarest`` is the share of pages on which the rarest word is expected to stand.

    ``hubs`` says how unevenly links are spread over pages: the deviation of the logarithm, 0 for evenly.
    """
    if pages < 40 or words < 1 or links < 0 or not 0 < rarest < 0.5 or not 0 <= hubs <= 5:
        raise ArgumentError(
            "A web has at least 40 pages and a word, and its rarest word stands on a share below 1/2; hubs= "
            "is from 0 to 5."
        )
    rng = np.random.default_rng(seed)
    kinds = _draw_indices(np.array([share for share, _ in KINDS.values()]), pages, rng)
    belongs = np.array([[name in of for name in CATEGORIES] for _, of in KINDS.values()])[kinds]
    homes = np.sort(_draw_indices(np.array(list(UNIVERSITIES.values())), pages, rng))
    planted = np.where(
        rng.random((words, len(CATEGORIES))) < _TELLING, _SPREAD * _normal((words, 7), rng), 0.0
    )
    has = rng.random((pages, words)) < _chances(belongs, planted, rarest)
    pairs = _links(kinds, homes, links, hubs, rng)
    model = webkb_model(priors=CATEGORIES[1:])
    names = [f"Word{number + 1}" for number in range(words)]
    databases = tuple(
        _database(model, name, names, np.flatnonzero(homes == home), belongs, has, pairs)
        for home, name in enumerate(UNIVERSITIES)
    )
    return SyntheticWeb(model, databases, planted)


def _draw_indices(shares: Numbers, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``number`` indices of shares in random order, each as often as its share says."""
    whole = np.round(np.cumsum(shares / shares.sum()) * number).astype(np.int64)
    return np.repeat(np.arange(len(shares)), np.diff(whole, prepend=0))[rng.random(number).argsort()]


def _normal(shape: tuple[int, ...], rng: np.random.Generator) -> Numbers:
    """Return numbers of a normal distribution (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log1p(-rng.random(shape)))
    return np.asarray(radius * np.cos(2.0 * np.pi * rng.random(shape)))


def _chances(belongs: NDArray[np.bool_], planted: Numbers, rarest: float) -> Numbers:
    """Return the probability of each word on each page; without categories it is 0.6 r^-z for the r-th."""
    ranks = np.arange(1, len(planted) + 1)
    slope = np.log(0.6 / rarest) / np.log(max(2, len(planted)))
    share = 0.6 * ranks**-slope
    return np.asarray(1.0 / (1.0 + np.exp(-(np.log(share / (1.0 - share)) + belongs @ planted.T))))


def _links(
    kinds: NDArray[np.int64], homes: NDArray[np.int64], number: int, hubs: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return different pairs of pages of the same university."""
    names = list(KINDS)
    affinity = np.array([[AFFINITY.get((one, other), 1.0) for other in names] for one in names])
    # Some pages link much, some are linked to much: log-normal.
    active, popular = np.exp(hubs * _normal((len(kinds),), rng)), np.exp(hubs * _normal((len(kinds),), rng))
    found: NDArray[np.int64] = np.zeros(0, np.int64)
    share = np.bincount(homes, minlength=len(UNIVERSITIES)) / len(homes)
    wanted = np.diff(np.round(np.cumsum(share) * number).astype(np.int64), prepend=0)
    for home, many in enumerate(wanted.tolist()):
        own = np.flatnonzero(homes == home)
        if many > len(own) * (len(own) - 1) // 2:
            raise ArgumentError(f"{number:,} links are too many for {len(kinds):,} pages.")
        chance = active[own, None] * popular[own] * affinity[kinds[own][:, None], kinds[own]]
        np.fill_diagonal(chance, 0.0)
        # The largest of u^(1/c) are a draw without replacement with chances c (Efraimidis and Spirakis).
        with np.errstate(divide="ignore"):
            keys = np.log(rng.random(chance.shape)) / chance
        best = np.argsort(-keys, axis=None, kind="stable")[:many]
        sources, targets = np.unravel_index(best, chance.shape)
        found = np.concatenate([found, own[sources] * len(kinds) + own[targets]])
    return np.stack(np.divmod(found, len(kinds)), axis=1)


def _database(
    model: MLN, name: str, words: list[str], own: NDArray[np.int64],
    belongs: NDArray[np.bool_], has: NDArray[np.bool_], pairs: NDArray[np.int64],
) -> Database:  # fmt: skip
    """Return the database of one university; its own pages, all words and all categories."""
    vocabulary = model.vocabulary
    vocabulary = vocabulary.with_domain("page", NamedDomain(tuple(f"{name}{page}" for page in own.tolist())))
    vocabulary = vocabulary.with_domain("word", NamedDomain(tuple(words)))
    known = tuple(vocabulary.domain("class"))
    vocabulary = vocabulary.with_domain(
        "class", NamedDomain((*known, *(c for c in CATEGORIES if c not in known)))
    )
    order = [CATEGORIES.index(category) for category in vocabulary.domain("class")]
    local = np.full(len(has), -1)
    local[own] = np.arange(len(own))
    inside = pairs[local[pairs[:, 0]] >= 0]
    relations = {
        "Has": Relation(2, sorted_rows(np.argwhere(has[own]).astype(np.uint32))),
        "LinksTo": Relation(2, sorted_rows(local[inside].astype(np.uint32))),
        "Class": Relation(2, sorted_rows(np.argwhere(belongs[own][:, order]).astype(np.uint32))),
    }
    return Database(vocabulary, FrozenMapping(relations), f"{name}.db")
