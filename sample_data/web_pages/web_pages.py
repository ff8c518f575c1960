"""Web pages of four invented universities, simulated, in the vocabulary of WebKB.

- a page is of one kind: 45 % students, 20 % professors, 35 % courses; the first two are persons, too;
- each word stands on a page with a probability that depends on its kind (``_WORDS``);
- a page links to two others: a student's to professors' and a course's to professors' with probability 0.7, a
  professor's to courses' with probability 0.7, else to any.

Nothing of WebKB is in it.
"""

from __future__ import annotations

from random import Random

from mlnlab.logic.vocabulary import FrozenMapping

from ..names import happens, pick, pick_weighted
from ..rules import Rule
from ..texts import SampleTexts, counts_of, facts_text, model_text, sizes_of

Facts = dict[str, list[tuple[str, ...]]]

SCHEMA = {"Has": ("page", "word"), "LinksTo": ("page", "page"), "Class": ("page", "class")}
RULES = (
    Rule(None, (("Has", ("p", "w")),), (("Class", ("p", "c")),), ("w", "c")),
    Rule(None, (), (("Has", ("p", "w")), ("Class", ("p", "c"))), ("w", "c")),
    Rule(
        None, (("Class", ("p1", "c1")), ("LinksTo", ("p1", "p2"))), (("Class", ("p2", "c2")),), ("c1", "c2")
    ),
)
UNIVERSITIES = ("aldermoor", "brantwick", "corvane", "delholm")
_PAGES = 16
_KINDS = {"Student": 0.45, "Professor": 0.2, "Course": 0.35}
_CLASSES = {"Student": ("Person", "Student"), "Professor": ("Person", "Professor"), "Course": ("Course",)}
# The probability of a word on the pages of students, professors and courses.
_WORDS = {
    "Home": (0.6, 0.5, 0.2), "Research": (0.2, 0.8, 0.1), "Exam": (0.1, 0.1, 0.7),
    "Homework": (0.2, 0.1, 0.6), "Advisor": (0.5, 0.1, 0.05), "Publications": (0.2, 0.7, 0.05),
    "Music": (0.4, 0.1, 0.05), "Office": (0.3, 0.6, 0.5), "Room": (0.3, 0.3, 0.4),
}  # fmt: skip
_LINKED = {"Student": "Professor", "Course": "Professor", "Professor": "Course"}
_COMMENT = """Simulated web pages in the vocabulary of WebKB, and nothing of it. Four universities.
Words tell the classes of pages, and classes those of the pages that they link to.
Weights are to be learned."""


def web_pages(seed: int = 9) -> SampleTexts:
    """Return the four universities and the model."""
    rng = Random(seed)
    databases, counts, sizes = {}, {}, {}
    for name in UNIVERSITIES:
        facts = _university(name, rng)
        databases[name] = facts_text(f"web_pages, {name}, seed {seed}: all that is true", facts)
        counts[name] = counts_of(RULES, SCHEMA, facts)
        sizes[name] = sizes_of(facts, SCHEMA)
    answers = {"sizes": sizes, "counts": counts}
    return SampleTexts("web_pages", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)


def _university(name: str, rng: Random) -> Facts:
    kinds = {f"{name.capitalize()}{number}": pick_weighted(_KINDS, rng) for number in range(1, _PAGES + 1)}
    facts: Facts = {predicate: [] for predicate in SCHEMA}
    for page, kind in kinds.items():
        place = list(_KINDS).index(kind)
        facts["Has"] += [(page, word) for word, chances in _WORDS.items() if happens(chances[place], rng)]
        facts["Class"] += [(page, class_) for class_ in _CLASSES[kind]]
        likely = [other for other, of in kinds.items() if of == _LINKED[kind] and other != page]
        anybody = [other for other in kinds if other != page]
        targets = [pick(likely if likely and happens(0.7, rng) else anybody, rng) for _ in range(2)]
        facts["LinksTo"] += [(page, target) for target in dict.fromkeys(targets)]
    return facts
