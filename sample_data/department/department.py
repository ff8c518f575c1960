"""A department as in Figure 1 of Kok and Domingos (ICML 2009): professors, students, courses.

Every professor teaches two courses and advises one student, who is the assistant in both. Professors and
students are both of type person, so that clustering the constants has something to find: lifting gives
the three concepts Professor, Student and Course. The names are ours. The one question: who advises the
last student, if it is not known, given who teaches and who assists?

At the paper's λ = 1, though, these facts are lifted to four small departments, one for each professor: a
cluster combination costs 1, so that leaving t true atoms alone costs t, while one combination for all n atoms
costs 1 and the entropy of t in n, which is less only where about two of three are true. ``figure_1`` is the
same department after many years: everybody has taught and assisted everywhere, and every professor has
advised two students. There Figure 1 is the most probable of all clusterings, and algorithm 2 finds it as
printed; with four to seven facts of Advises it would not be, whoever advised whom.
"""

from __future__ import annotations

from itertools import product

from mlnlab.logic.vocabulary import FrozenMapping

from ..plain_answers import by_enumeration, ground
from ..rules import Atom, Facts, Rule, domains_of
from ..texts import SampleTexts, counts_of, facts_text, model_text, question

SCHEMA = {"Teaches": ("person", "course"), "TAs": ("person", "course"), "Advises": ("person", "person")}
RULES = (
    Rule(1.5, (("Teaches", ("p", "c")), ("TAs", ("s", "c"))), (("Advises", ("p", "s")),)),
    Rule(1.0, (("Advises", ("p", "s")),), ()),
    Rule(2.0, (("Advises", ("p", "s")), ("Advises", ("q", "s"))), (("=", ("p", "q")),)),
)
PROFESSORS = ("Paula", "Pedro", "Petra", "Pierre")
STUDENTS = ("Samir", "Selma", "Stella", "Sven")
COURSES = tuple(f"CS{number}" for number in range(1, 9))
_COMMENT = """A department: professors advise the students who assist in their courses.
Drawn as Figure 1 of Kok and Domingos, Learning Markov logic network structure via
hypergraph lifting (ICML 2009); the names are ours."""

_MANY_YEARS = """department: what has been true in many years; algorithm 2 with λ = 1 lifts it to Figure 1"""


def department() -> SampleTexts:
    """Return the department, complete and with the last student's advisor unknown."""
    facts = _facts()
    unknown: list[Atom] = [("Advises", (professor, STUDENTS[-1])) for professor in PROFESSORS]
    known = facts | {"Advises": [row for row in facts["Advises"] if row[1] != STUDENTS[-1]]}
    people = [*PROFESSORS, *STUDENTS]
    # Nobody else advises anybody: said atom by atom, since a query opens all atoms that are not listed.
    others: list[Atom] = [
        ("Advises", pair) for pair in product(people, people) if pair not in known["Advises"]
    ]
    false = [atom for atom in others if atom not in unknown]
    databases = {
        "department": facts_text("department: all that is true", facts),
        "unknown_advisor": facts_text(f"department: who advises {STUDENTS[-1]}?", known, false, unknown),
        "figure_1": facts_text(_MANY_YEARS, _facts_of_many_years()),
    }
    answers = {
        "counts": {
            "department": counts_of(RULES, SCHEMA, facts),
            "figure_1": counts_of(RULES, SCHEMA, _facts_of_many_years()),
        },
        "questions": [_question(known, unknown)],
    }
    return SampleTexts("department", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)


def _facts() -> dict[str, list[tuple[str, ...]]]:
    courses = {professor: COURSES[2 * i : 2 * i + 2] for i, professor in enumerate(PROFESSORS)}
    pairs: list[tuple[str, ...]] = list(zip(PROFESSORS, STUDENTS, strict=True))
    return {
        "Teaches": [(professor, course) for professor, _ in pairs for course in courses[professor]],
        "TAs": [(student, course) for professor, student in pairs for course in courses[professor]],
        "Advises": pairs,
    }


def _facts_of_many_years() -> dict[str, list[tuple[str, ...]]]:
    """Return the facts of which Figure 1 is the most probable clustering; those above are among them."""
    advised = [(i, j) for i in range(len(PROFESSORS)) for j in sorted((i, (i + 1) % len(STUDENTS)))]
    return {
        "Teaches": list(product(PROFESSORS, COURSES)),
        "TAs": list(product(STUDENTS, COURSES)),
        "Advises": [(PROFESSORS[i], STUDENTS[j]) for i, j in advised],
    }


def _question(known: Facts, unknown: list[Atom]) -> dict[str, object]:
    true = [(predicate, row) for predicate, rows in known.items() for row in rows]
    exact = by_enumeration(ground(RULES, SCHEMA, domains_of(known, SCHEMA), true, unknown))
    return question("unknown_advisor", ["Advises"], exact)
