"""Small random databases with hostile names, for the round trips through tables and graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, RangeDomain, Vocabulary
from mlnlab.model.database.database import Database

HOSTILE = (
    "<script>alert(1)</script>",
    'he said "no"',
    "O'Neil; DROP TABLE Friends; --",
    "a,b\tc",
    "two\nlines",
    "old\rmac\r\nline",
    "$\\frac{1}{2}$",
    "Žofie 王 🙂",
    "\u202eright to left",
    " spaces ",
    "=1+1",
    "3",
    "3.0",
    "03",
    "nan",
    "NULL",
    "None",
    "true",
    "\\N",
    "\ufeff",
    "#",
    "''",
    '"',
)
names = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
predicate_names = st.sampled_from(
    [
        "Friends",
        "friends",
        "Smokes",
        "constants",
        "sqlite_master",
        "select",
        "Robert'); DROP TABLE Students;--",
        'quo"ted',
        "../escape",
        "a%41",
        "CON:",
        "Ärger",
    ]
)


def vocabulary_of(*predicates: Predicate, **domains: object) -> Vocabulary:
    """Return a vocabulary of these predicates, with some types' constants given."""
    result = Vocabulary(FrozenMapping(domains))
    for predicate in predicates:
        result = result.with_predicate(predicate)
    return result


@st.composite
def vocabularies(draw):
    """Draw predicates of 0 to 3 arguments over two named types and a range."""
    chosen = draw(st.lists(predicate_names, min_size=1, max_size=4, unique=True))
    types = st.lists(st.sampled_from(["person", "course", "time"]), max_size=3).map(tuple)
    predicates = [Predicate(name, draw(types)) for name in chosen]
    low = draw(st.integers(-3, 3))
    known = tuple(draw(st.lists(names, max_size=2, unique=True)))
    return vocabulary_of(
        *predicates, person=NamedDomain(known), course=NamedDomain(), time=RangeDomain(low, low + 3)
    )


drawn_vocabularies = vocabularies()


@st.composite
def databases(draw, drawn_from=drawn_vocabularies):
    """Draw a vocabulary and a database over it that has more constants than the vocabulary."""
    vocabulary = draw(drawn_from)
    grown = vocabulary
    for type_ in ("person", "course"):
        new = draw(st.lists(names, min_size=1, max_size=4, unique=True))
        grown = grown.with_domain(type_, grown.domain(type_).add_names(new))
    relations = {p.name: draw(relations_of(p, grown)) for p in grown.predicates.values()}
    return vocabulary, Database(grown, FrozenMapping(relations))


@st.composite
def relations_of(draw, predicate, vocabulary):
    """Draw what is said of a predicate's atoms; in half of the cases only that some are true."""
    row = st.tuples(*(st.integers(0, len(vocabulary.domain(t)) - 1) for t in predicate.types))
    rows = draw(st.lists(row, max_size=1 if predicate.arity == 0 else 6, unique=True))
    soft = st.floats(0, 1, exclude_min=True, exclude_max=True)
    mark = draw(st.sampled_from([st.just("true"), st.sampled_from(["true", "false", "unknown"]) | soft]))
    marks = [draw(mark) for _ in rows]

    def table(wanted):
        chosen = [r for r, m in zip(rows, marks, strict=True) if m == wanted]
        return sorted_rows(np.array(chosen, np.uint32).reshape(len(chosen), predicate.arity))

    softs = sorted((r, m) for r, m in zip(rows, marks, strict=True) if isinstance(m, float))
    return Relation(
        predicate.arity,
        table("true"),
        table("false"),
        table("unknown"),
        np.array([r for r, _ in softs], np.uint32).reshape(len(softs), predicate.arity),
        np.array([m for _, m in softs], np.float64),
    )
