"""The data of Table 1 of Van den Broeck, Meert and Davis (2013): folds, models made by hand, its numbers.

IMDB and UW-CSE have five folds, each the test set once. WebKB's files are four pairs of universities with ten
words each; on either of a pair is learned, on the other tested, and words are ranked by their information
gain about a page's class where is learned. The ten words were chosen before the files were made, so that the
ten best are taken from these and not, as in the paper, from all words of the pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log2
from pathlib import Path
from random import Random

from mlnlab.errors import ArgumentError
from mlnlab.experiments.reproduce.table_2_data import DATASETS as FIVE_FOLDS
from mlnlab.experiments.webkb.reading import page_class_databases
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from mlnlab.model.mln.writing import declarations

WORDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A fold's training and test databases; ``bare`` is the model without formulas."""

    name: str
    train: tuple[Database, ...]
    test: Database
    bare: MLN


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set of the table: its splits, rules made by hand, and the paper's numbers by structure."""

    name: str
    splits: Callable[[Path], Iterator[Split]]
    rules: Callable[[MLN], Sequence[str]]
    published: Mapping[str, Sequence[tuple[int, int, int]]] = field(default_factory=dict)

    def by_hand(self, bare: MLN) -> MLN:
        """Return unit formulas for all predicates, and the rules."""
        return model_of(bare, self.rules(bare))


def model_of(bare: MLN, rules: Sequence[str]) -> MLN:
    """Return a model with a unit formula for each predicate, and some rules, all to be learned."""
    units = [
        f"{p.name}({', '.join(f'v{n + 1}' for n in range(p.arity))})"
        for p in bare.vocabulary.predicates.values()
    ]
    words = "\n".join(declarations(bare.vocabulary, ()))
    return MLN.from_text("\n".join([words, *units, *rules]))


def two_variable_clauses(bare: MLN, number: int = 50, seed: int = 0) -> MLN:
    """Return random clauses of two to four literals over two variables; fifty were too many for the paper."""
    draw, found = Random(seed), dict[str, None]()
    predicates = [p for p in bare.vocabulary.predicates.values() if p.arity <= 2]
    tries = 0
    while len(found) < number and tries < 100 * number:
        tries += 1
        clause = _clause(draw, [(p.name, p.types) for p in predicates])
        if clause:
            found[clause] = None
    return model_of(bare, list(found))


def _clause(draw: Random, predicates: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return a clause whose literals hang together by at most two variables, or nothing."""
    variables: dict[str, str] = {}
    literals: dict[str, str] = {}
    for _ in range(draw.randint(2, 4)):
        name, types = draw.choice(predicates)
        chosen = []
        for type_ in types:
            known = [v for v, t in variables.items() if t == type_]
            if len(variables) < 2 and (not known or draw.random() < 0.5) and not (literals and not known):
                variables[f"x{len(variables) + 1}"] = type_
                known = [f"x{len(variables)}"]
            if not known:
                return ""
            chosen.append(draw.choice(known))
        atom = f"{name}({', '.join(chosen)})"
        literals.setdefault(atom, draw.choice(["", "!"]))
    return " v ".join(f"{sign}{atom}" for atom, sign in sorted(literals.items())) if len(literals) > 1 else ""


def _left_out(name: str) -> Callable[[Path], Iterator[Split]]:
    def splits(files: Path) -> Iterator[Split]:
        dataset = FIVE_FOLDS[name]
        databases = dataset.databases(files)
        bare = MLN.load(files / dataset.folder / dataset.declarations)
        for test, db in databases.items():
            yield Split(test, tuple(d for n, d in databases.items() if n != test), db, bare)

    return splits


# --- WebKB -------------------------------------------------------------------------------------------------


def information_gain(has: Mapping[str, str], pages: Sequence[str]) -> float:
    """Return H(class) - H(class | whether a page has a word); ``has`` are the classes of pages that do.

    >>> round(information_gain({"a": "Course"}, ["Course", "Student"]), 4)
    1.0
    """
    inside = Counter(has.values())
    everything = Counter(pages)
    outside = everything - inside
    parts = [(sum(part.values()), part) for part in (inside, outside)]
    return _entropy(everything) - sum(n / len(pages) * _entropy(part) for n, part in parts if n)


def _entropy(numbers: Counter[str]) -> float:
    total = sum(numbers.values())
    return -sum(n / total * log2(n / total) for n in numbers.values() if n)


def best_words(db: Database, number: int = WORDS) -> list[str]:
    """Return the words with the highest information gain about a page's class."""
    classes = {row[0]: row[1] for row in db.rows("Class")}
    pages = [classes.get(page, "") for page in db.domain("page")]
    with_word: dict[str, dict[str, str]] = {}
    for page, word in db.rows("Has"):
        with_word.setdefault(word, {})[page] = classes.get(page, "")
    gains = {word: information_gain(has, pages) for word, has in with_word.items()}
    return sorted(gains, key=lambda word: (-gains[word], word))[:number]


def _webkb(files: Path) -> Iterator[Split]:
    folder = files / "webkb-forclift"
    if not folder.is_dir():
        raise ArgumentError(f"The files of webkb are needed: {files} has no folder webkb-forclift.")
    databases = page_class_databases(folder)
    pairs: dict[str, list[str]] = {}
    for name in databases:
        pairs.setdefault(name.partition("-train")[0], []).append(name)
    for both in pairs.values():
        for train, test in (both, reversed(both)):
            words = best_words(databases[train])
            kinds = sorted({kind for name in both for _, kind in databases[name].rows("Class")})
            names = [*(f"Class{kind}" for kind in kinds), *(f"Has{word}" for word in words)]
            bare = MLN.from_text("\n".join([*(f"{name}(page)" for name in names), "Linked(page, page)"]))
            made = [_flat(databases[name], bare) for name in (train, test)]
            yield Split(f"{train}-{test.rpartition('-')[2]}", (made[0],), made[1], bare)


def _flat(db: Database, bare: MLN) -> Database:
    """Return pages with a predicate for each class and each word."""
    facts = [f"Class{kind}({page})" for page, kind in db.rows("Class")]
    facts += [f"Has{word}({page})" for page, word in db.rows("Has")]
    facts += [f"Linked({one}, {other})" for one, other in db.rows("LinksTo")]
    known = [fact for fact in facts if fact.partition("(")[0] in bare.vocabulary.predicates]
    pages = ", ".join(db.domain("page"))
    return Database.from_text("\n".join([f"page = {{{pages}}}", *known]), bare, name=db.name)


def _rules_of_pages(bare: MLN) -> list[str]:
    names = list(bare.vocabulary.predicates)
    classes = [name for name in names if name.startswith("Class")]
    words = [name for name in names if name.startswith("Has")]
    return [
        *(f"!{one}(p) v !{other}(p)" for one, other in combinations(classes, 2)),
        *(f"{word}(p) => ClassCourse(p)" for word in words),
        "ClassCourse(p) ^ Linked(p, q) => ClassCourse(q)",
    ]


_IMDB = (
    "workedUnder(x, y) => actor(x)", "workedUnder(x, y) => director(y)", "!actor(x) v !director(x)",
    "actor(x) v director(x)", "genre(x, t) => director(x)", "gender(x, s) => actor(x)",
    "movie(f, x) => actor(x) v director(x)",
)  # fmt: skip
_UW_CSE = (
    "advisedBy(x, y) => student(x)", "advisedBy(x, y) => professor(y)",
    "tempAdvisedBy(x, y) => student(x)", "tempAdvisedBy(x, y) => professor(y)",
    "!student(x) v !professor(x)", "student(x) v professor(x)", "hasPosition(x, p) => professor(x)",
    "inPhase(x, p) => student(x)", "yearsInProgram(x, y) => student(x)",
    "taughtBy(c, x, q) => professor(x)", "!advisedBy(x, y) v !tempAdvisedBy(x, y)",
)  # fmt: skip

# Log-likelihoods of PSCG, PLL and LWL, fold by fold, as printed.
DATASETS: Mapping[str, Dataset] = {
    one.name: one
    for one in (
        Dataset("imdb", _left_out("imdb"), lambda _: _IMDB, {
            "BUSL": ((-379, -1190, -377), (-580, -1241, -558), (-907, -1581, -968), (-291, -660, -284),
                     (-608, -539, -267)),
            "MSL": ((-1641792, -9672, -831), (-1690616, -12471, -766), (-32286, -18242, -1307),
                    (-229063, -1354, -698), (-16250, -982, -700)),
        }),
        Dataset("uw-cse", _left_out("uw-cse"), lambda _: _UW_CSE, {
            "BUSL": ((-1671, -2564, -1523), (-684, -909, -541), (-1702, -2871, -1283),
                     (-3291, -2660, -2565), (-3399, -5280, -2362)),
            "MSL": ((-25745, -1519, -1497), (-1070, -535, -524), (-21936, -1213, -1209),
                    (-2756, -2472, -2471), (-51903, -2261, -2274)),
        }),
        Dataset("webkb", _webkb, _rules_of_pages, {
            "MSL": ((-9453, -5860, -5655), (-27628, -5129, -5047), (-26548, -4135, -3917),
                    (-18052, -4367, -4280)),
        }),
    )
}  # fmt: skip
