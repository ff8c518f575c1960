"""A university of five areas, simulated: the schema and about the sizes of UW-CSE, none of its facts.

The predicates and types are those of UW-CSE (Richardson and Domingos, 2006), so that models written for
it run on these data, and the numbers of professors, students, courses and papers of each area are those
of its five folds. Who does what comes from this simulator, with these probabilities:

- everyone is a professor or a student, never both; only professors teach, only students assist: always;
- a professor has a position: 0.84; a student's phase and year are known: 0.65; the year fits the phase:
  always;
- a student beyond coursework has an advisor: 0.85, and then a second one: 0.15; a student of unknown
  phase: 0.2;
- a student in coursework has a temporary advisor: 0.85, and never an advisor;
- a course is offered one to four times: 0.35, 0.3, 0.2, 0.15; mostly (0.7) by the professor of the time
  before;
- an offering has an assistant: 0.55, and then a second one: 0.25, who is advised by the teacher: 0.35,
  else anyone;
- a paper has one author: 0.15, else it is by an advised pair: 0.7, or by any two; each further author:
  0.3, who is advised by one of the authors: 0.6, else anyone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from mlnlab.logic.vocabulary import FrozenMapping

from ..names import happens, invented_names, pick, pick_weighted
from ..rules import Rule
from ..texts import SampleTexts, counts_of, facts_text, model_text, sizes_of

SCHEMA = {
    "taughtBy": ("course", "person", "quarter"),
    "courseLevel": ("course", "level"),
    "hasPosition": ("person", "position"),
    "projectMember": ("project", "person"),
    "advisedBy": ("person", "person"),
    "tempAdvisedBy": ("person", "person"),
    "yearsInProgram": ("person", "year"),
    "ta": ("course", "person", "quarter"),
    "student": ("person",),
    "professor": ("person",),
    "inPhase": ("person", "phase"),
    "publication": ("title", "person"),
}
RULES = (
    Rule(math.inf, (), (("student", ("p",)), ("professor", ("p",)))),
    Rule(math.inf, (("student", ("p",)), ("professor", ("p",))), ()),
    Rule(math.inf, (("taughtBy", ("c", "p", "q")),), (("professor", ("p",)),)),
    Rule(math.inf, (("ta", ("c", "s", "q")),), (("student", ("s",)),)),
    Rule(None, (("advisedBy", ("s", "p")), ("publication", ("t", "s"))), (("publication", ("t", "p")),)),
    Rule(None, (("taughtBy", ("c", "p", "q")), ("ta", ("c", "s", "q"))), (("advisedBy", ("s", "p")),)),
    Rule(None, (("publication", ("t", "p")), ("publication", ("t", "s")), ("professor", ("p",)),
                ("student", ("s",))), (("advisedBy", ("s", "p")),)),
    Rule(None, (("advisedBy", ("s", "p")), ("advisedBy", ("s", "r"))), (("=", ("p", "r")),)),
    Rule(None, (("tempAdvisedBy", ("s", "p")), ("advisedBy", ("s", "r"))), ()),
    Rule(None, (("advisedBy", ("s", "p")),), ()),
)  # fmt: skip
_COMMENT = """A simulated university of five areas, with the schema and about the sizes of UW-CSE
(Richardson and Domingos, 2006) and none of its facts. Each area is a database of its own.
Hard rules hold in the data, the others hold more or less: their weights are to be learned."""


@dataclass(frozen=True, slots=True)
class Area:
    """The sizes of one area, after a fold of UW-CSE."""

    name: str
    professors: int
    students: int
    courses: int
    papers: int
    projects: int


AREAS = (
    Area("computation", 13, 36, 28, 52, 4),
    Area("databases", 18, 54, 31, 109, 0),
    Area("languages", 8, 20, 14, 5, 0),
    Area("networks", 9, 52, 29, 30, 0),
    Area("vision", 14, 54, 30, 128, 1),
)
_LEVELS = {"Basic": 0.07, "Advanced": 0.33, "Graduate": 0.6}
_POSITIONS = {"Full": 0.76, "Adjunct": 0.1, "Affiliate": 0.06, "Retired": 0.08}
_PHASES = {"Coursework": 0.29, "Qualified": 0.34, "Candidate": 0.37}
_YEARS = {"Coursework": (1, 3), "Qualified": (2, 5), "Candidate": (4, 9)}
_OFFERINGS = {1: 0.35, 2: 0.3, 3: 0.2, 4: 0.15}
_QUARTERS = tuple(f"{season}{year}" for year in range(1, 6) for season in ("Autumn", "Winter", "Spring"))[:13]
Facts = dict[str, list[tuple[str, ...]]]


def university(seed: int = 8) -> SampleTexts:
    """Return the five areas and a model with rules that hold in them more or less."""
    rng = Random(seed)
    people = iter(invented_names(sum(area.professors + area.students for area in AREAS), rng))
    databases, counts, sizes = {}, {}, {}
    for area in AREAS:
        professors = [next(people) for _ in range(area.professors)]
        students = [next(people) for _ in range(area.students)]
        facts = _area(area, professors, students, rng)
        comment = f"university, area {area.name}, seed {seed}: all that is true"
        databases[area.name] = facts_text(comment, facts)
        counts[area.name] = counts_of(RULES, SCHEMA, facts)
        sizes[area.name] = sizes_of(facts, SCHEMA)
    answers = {"sizes": sizes, "counts": counts}
    return SampleTexts("university", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)


def _area(area: Area, professors: list[str], students: list[str], rng: Random) -> Facts:
    """Return the facts of one area, those of people first."""
    facts: Facts = {name: [] for name in SCHEMA}
    facts["professor"] = [(name,) for name in professors]
    facts["student"] = [(name,) for name in students]
    facts["hasPosition"] = [
        (name, pick_weighted(_POSITIONS, rng)) for name in professors if happens(0.84, rng)
    ]
    for student in students:
        _study(student, professors, facts, rng)
    for number in range(1, area.courses + 1):
        _offer(f"{area.name.capitalize()}{100 + number}", professors, students, facts, rng)
    for number in range(1, area.papers + 1):
        _write(f"{area.name.capitalize()}Paper{number}", professors, students, facts, rng)
    for number in range(1, area.projects + 1):
        facts["projectMember"].append((f"Project{number}", pick(professors, rng)))
    return facts


def _study(student: str, professors: list[str], facts: Facts, rng: Random) -> None:
    """Give a student a phase, a year, and advisors."""
    phase = pick_weighted(_PHASES, rng) if happens(0.65, rng) else ""
    if phase:
        first, last = _YEARS[phase]
        facts["inPhase"].append((student, phase))
        facts["yearsInProgram"].append((student, f"Year{first + int(rng.random() * (last - first + 1))}"))
    if phase == "Coursework":
        if happens(0.85, rng):
            facts["tempAdvisedBy"].append((student, pick(professors, rng)))
    elif happens(0.85 if phase else 0.2, rng):
        advisors = [pick(professors, rng)]
        if happens(0.15, rng):
            advisors.append(pick([p for p in professors if p not in advisors], rng))
        facts["advisedBy"] += [(student, advisor) for advisor in advisors]


def _offer(course: str, professors: list[str], students: list[str], facts: Facts, rng: Random) -> None:
    """Let a course be offered some times, each with a teacher and perhaps with assistants."""
    facts["courseLevel"].append((course, pick_weighted(_LEVELS, rng)))
    free = list(_QUARTERS)
    teacher = pick(professors, rng)
    for _ in range(pick_weighted(_OFFERINGS, rng)):
        quarter = pick(free, rng)
        free.remove(quarter)
        teacher = teacher if happens(0.7, rng) else pick(professors, rng)
        facts["taughtBy"].append((course, teacher, quarter))
        assistants: list[str] = []
        while len(assistants) < 2 and happens(0.25 if assistants else 0.55, rng):
            advised = [s for s, p in facts["advisedBy"] if p == teacher]
            circle = advised if advised and happens(0.35, rng) else students
            assistants += [name for name in [pick(circle, rng)] if name not in assistants]
        facts["ta"] += [(course, assistant, quarter) for assistant in assistants]


def _write(title: str, professors: list[str], students: list[str], facts: Facts, rng: Random) -> None:
    """Let some people write a paper."""
    everyone = professors + students
    if happens(0.15, rng):
        authors = [pick(everyone, rng)]
    elif facts["advisedBy"] and happens(0.7, rng):
        authors = list(pick(facts["advisedBy"], rng))
    else:
        authors = [pick(everyone, rng), pick(everyone, rng)]
    while happens(0.3, rng):
        advised = [student for student, professor in facts["advisedBy"] if professor in authors]
        authors.append(pick(advised if advised and happens(0.6, rng) else everyone, rng))
    facts["publication"] += [(title, author) for author in dict.fromkeys(authors)]
