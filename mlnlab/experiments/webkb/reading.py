"""WebKB as others ship it, in the vocabulary of the thesis: ``Has(page, word)``, ``LinksTo``, ``Class``.

Forclift's files write each class and each word as a predicate of its own (``PageClassCourse``, ``HasExam``);
they are the training halves of four pairs of universities. Mihalkova and Mooney's have people and projects
but neither words nor links: of them, membership is taken as classes, and sharing a project or a course as
links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mlnlab.errors import ArgumentError
from mlnlab.experiments.webkb.model import webkb_model
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

Rows = dict[str, list[tuple[str, ...]]]
_FORCLIFT = ("PageClass", "Has")


def page_class_databases(folder: str | Path, mln: MLN | None = None) -> dict[str, Database]:
    """Return Forclift's files ``webkb-fold*.db`` of a folder, by name."""
    files = _files(folder, "webkb-fold*.db")
    return {file.stem: _database(_page_classes(file), mln, file.name) for file in files}


def mihalkova_mooney_databases(folder: str | Path, mln: MLN | None = None) -> dict[str, Database]:
    """Return the folds ``webkb_fold*.db`` of Mihalkova and Mooney's data, by name."""
    files = _files(folder, "webkb_fold*.db")
    return {file.stem: _database(_memberships(file), mln, file.name) for file in files}


def _files(folder: str | Path, pattern: str) -> list[Path]:
    files = sorted(Path(folder).glob(pattern))
    if not files:
        raise ArgumentError(f"There are no files {pattern} in {folder}.")
    return files


def _database(rows: Mapping[str, Iterable[tuple[str, ...]]], mln: MLN | None, name: str) -> Database:
    lines = [f"{predicate}({', '.join(row)})" for predicate, found in rows.items() for row in found]
    return Database.from_text("\n".join(lines), webkb_model() if mln is None else mln, name=name)


def _facts(file: Path) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Yield the facts of a file in which each line is an atom without comments or marks."""
    for line in file.read_text(encoding="utf-8").splitlines():
        predicate, found, rest = line.strip().partition("(")
        if found and rest.endswith(")"):
            yield predicate, tuple(part.strip() for part in rest[:-1].split(","))


def _page_classes(file: Path) -> Rows:
    rows: Rows = {"Has": [], "LinksTo": [], "Class": []}
    for predicate, arguments in _facts(file):
        if predicate.startswith("PageClass"):
            rows["Class"].append((arguments[0], predicate.removeprefix("PageClass")))
        elif predicate.startswith("Has"):
            rows["Has"].append((arguments[0], predicate.removeprefix("Has")))
        elif predicate == "Linked":
            rows["LinksTo"].append(arguments)
    return rows


def _memberships(file: Path) -> Rows:
    """Return people, projects and courses as pages; a project or course links to its people."""
    rows: Rows = {"Has": [], "LinksTo": [], "Class": []}
    kinds = {
        "student": "Student",
        "faculty": "Faculty",
        "project": "Project",
        "courseProf": "Course",
        "courseTA": "Course",
    }
    classes: dict[tuple[str, ...], None] = {}
    for predicate, arguments in _facts(file):
        if predicate not in kinds:
            continue
        classes[arguments[0], kinds[predicate]] = None
        if len(arguments) == 1:
            classes[arguments[0], "Person"] = None
        else:
            classes[arguments[1], "Person"] = None
            rows["LinksTo"].append(arguments)
    rows["Class"] = list(classes)
    return rows
