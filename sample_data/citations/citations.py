"""Citations of invented papers, simulated: four sets in the vocabulary of Cora.

Each set has papers by authors of its own, and each paper is cited a few times, by people who are not careful:

- an author is cited by full name, with an initial, or with the names turned round;
- of a title one word is left out with probability 0.25, and one more is misspelt with probability 0.15;
- a venue is cited in full or in short, either as likely; papers share authors and venues.

Fields that are written alike are one constant. Two fields are the same if they are of the same author, title
or venue, two citations if they are of the same paper. Not a fact of Cora is in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from random import Random

from mlnlab.logic.vocabulary import FrozenMapping

from ..names import happens, invented_names, pick, shuffled
from ..rules import Rule
from ..texts import SampleTexts, counts_of, facts_text, model_text, sizes_of

Facts = dict[str, list[tuple[str, ...]]]

FIELDS = ("Author", "Title", "Venue")
SCHEMA = {
    **{field: ("bib", field.lower()) for field in FIELDS},
    **{f"HasWord{field}": (field.lower(), f"{field.lower()}word") for field in FIELDS},
    "SameBib": ("bib", "bib"),
    **{f"Same{field}": (field.lower(), field.lower()) for field in FIELDS},
}


def _rules() -> tuple[Rule, ...]:
    """Return rules from words to fields, between fields and citations, and transitivity."""
    found = []
    for field in FIELDS:
        same, words = (f"Same{field}", ("f1", "f2")), f"HasWord{field}"
        first, second = (words, ("f1", "w")), (words, ("f2", "w"))
        cited = ((field, ("b1", "f1")), (field, ("b2", "f2")))
        found += [
            Rule(None, (first, second), (same,), ("w",)),
            Rule(None, (first,), (second, same)),
            Rule(None, (*cited, same), (("SameBib", ("b1", "b2")),)),
            Rule(None, (*cited, ("SameBib", ("b1", "b2"))), (same,)),
        ]
    for name in ("SameBib", *(f"Same{field}" for field in FIELDS)):
        found += [
            Rule(math.inf, (), ((name, ("x", "x")),)),
            Rule(None, ((name, ("x", "y")),), ()),
            Rule(None, ((name, ("x", "y")), (name, ("y", "z"))), ((name, ("x", "z")),)),
        ]
    return tuple(found)


RULES = _rules()
SETS = ("birch", "cedar", "hazel", "rowan")
_PAPERS, _MOST_CITED = 5, 4
_TITLE_WORDS = (
    "learning", "networks", "logic", "sparse", "markets", "parsing", "planning", "robust", "kernels",
    "queries", "causal", "memory", "vision", "graphs", "neural", "random", "search", "models", "optimal",
    "streams",
)  # fmt: skip
_VENUES = (
    (("Proceedings", "Symposium", "Inference"), ("Symp", "Inference")),
    (("Journal", "Applied", "Reasoning"), ("J", "Appl", "Reasoning")),
    (("Conference", "Data", "Systems"), ("Conf", "Data", "Sys")),
)
_COMMENT = """Simulated citations in the vocabulary of Cora, and none of its facts. Four sets.
Words tell whether fields are the same, fields whether citations are, and what is the
same as the same thing is the same. Weights are to be learned."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its title, its author, and its venue (an index into ``_VENUES``)."""

    title: tuple[str, ...]
    author: str
    venue: int


def citations(seed: int = 6) -> SampleTexts:
    """Return the four sets and a model with rules that hold in them more or less."""
    rng = Random(seed)
    names = invented_names(3 * len(SETS) * 2, rng)
    databases, counts, sizes = {}, {}, {}
    for place, name in enumerate(SETS):
        authors = [f"{names[6 * place + n]} {names[6 * place + n + 3]}" for n in range(3)]
        facts = _cited(_papers(authors, rng), name, rng)
        databases[name] = facts_text(f"citations, {name}, seed {seed}: all that is true", facts)
        counts[name] = counts_of(RULES, SCHEMA, facts)
        sizes[name] = sizes_of(facts, SCHEMA)
    answers = {"sizes": sizes, "counts": counts}
    return SampleTexts("citations", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)


def _papers(authors: list[str], rng: Random) -> list[Paper]:
    words = shuffled(_TITLE_WORDS, rng)
    return [
        Paper(tuple(shuffled(words, rng)[:4]), pick(authors, rng), int(rng.random() * len(_VENUES)))
        for _ in range(_PAPERS)
    ]


def _cited(papers: list[Paper], name: str, rng: Random) -> Facts:
    """Return the facts of one set: citations, their fields, words, and pairs that are the same."""
    facts: Facts = {predicate: [] for predicate in SCHEMA}
    meant: dict[str, dict[str, object]] = {kind: {} for kind in ("Bib", *FIELDS)}
    for paper in papers:
        for _ in range(1 + int(rng.random() * _MOST_CITED)):
            bib = f"{name.capitalize()}{len(meant['Bib']) + 1}"
            meant["Bib"][bib] = paper
            written = _author(paper.author, rng), _title(paper.title, rng), pick(_VENUES[paper.venue], rng)
            entities = paper.author, paper.title, paper.venue
            for field, words, entity in zip(FIELDS, written, entities, strict=True):
                text = field + "".join(word.capitalize() for word in words)
                if text not in meant[field]:
                    facts[f"HasWord{field}"] += [(text, word.capitalize()) for word in dict.fromkeys(words)]
                meant[field].setdefault(text, entity)
                facts[field].append((bib, text))
    for kind, things in meant.items():
        pairs = product(things, repeat=2)
        facts[f"Same{kind}"] = [(one, other) for one, other in pairs if things[one] == things[other]]
    return facts


def _author(name: str, rng: Random) -> tuple[str, ...]:
    first, last = name.split()
    return pick(((first, last), (first[0], last), (last, first[0])), rng)


def _title(words: tuple[str, ...], rng: Random) -> tuple[str, ...]:
    written = list(words)
    if happens(0.25, rng):
        written.remove(pick(written, rng))
    if happens(0.15, rng):
        place = int(rng.random() * len(written))
        written[place] = written[place][:-1]
    return tuple(written)
