"""Load the data of Figure 4.1: Cora and WebKB from their files, or small samples of our own.

On Cora, pairs outside canopies are known to be false, before learning as at the end (thesis, section 4.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from mlnlab.errors import ArgumentError
from mlnlab.experiments.cora import SAME, canopies, cora_databases, cora_model
from mlnlab.experiments.reproduce.figure_4_1 import Task
from mlnlab.experiments.samples import sample
from mlnlab.experiments.webkb import synthetic_web, webkb_model
from mlnlab.experiments.webkb.reading import page_class_databases
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

CANOPY = 0.25
_KNOWN = {"false_facts": "evidence"}


def cora(folder: Path | None, threshold: float = CANOPY) -> Task:
    """Return Cora's task; its files are in a folder ``cora``."""
    model = cora_model()
    return _with_canopies("cora", model, cora_databases(_require_folder(folder, "cora"), model), threshold)


def citations(_: Path | None = None, threshold: float = CANOPY) -> Task:
    """Return the same task on citations of our own, which come with the project."""
    model = cora_model()
    found = sample("citations").databases
    return _with_canopies("citations", model, found, threshold)


def _with_canopies(name: str, model: MLN, found: Mapping[str, Database], threshold: float) -> Task:
    databases = {key: canopies(db, threshold).database for key, db in found.items()}
    return Task(name, model, databases, SAME, ("SameBib",), _KNOWN, with_itself=False)


def webkb(folder: Path | None) -> Task:
    """Return WebKB's task, from Forclift's files in a folder ``webkb-forclift``.

    Each university stands in two of its files, as a half of two pairs; one of them is taken.
    """
    model = webkb_model()
    found: dict[str, Database] = {}
    for name, db in page_class_databases(_require_folder(folder, "webkb-forclift"), model).items():
        found.setdefault(name.rpartition("-")[2], db)
    return Task("webkb", model, found, ("Class",))


def web(_: Path | None = None) -> Task:
    """Return WebKB's task on a synthetic web of its published size."""
    made = synthetic_web()
    return Task("web", made.mln, {db.name.removesuffix(".db"): db for db in made.databases}, ("Class",))


def small_web(_: Path | None = None) -> Task:
    """Return the same on a synthetic web of a few pages and words."""
    made = synthetic_web(pages=120, links=200, words=12, rarest=0.05)
    return Task("small-web", made.mln, {db.name.removesuffix(".db"): db for db in made.databases}, ("Class",))


TASKS: Mapping[str, Callable[[Path | None], Task]] = {
    "cora": cora, "webkb": webkb, "web": web, "citations": citations, "small-web": small_web
}  # fmt: skip
WITH_CANOPIES: Mapping[str, Callable[[Path | None, float], Task]] = {"cora": cora, "citations": citations}


def make_task(name: str, folder: Path | None = None, canopy: float | None = None) -> Task:
    """Return a task; of those with canopies, how alike a pair of one canopy is at least may be said."""
    if canopy is None:
        return TASKS[name](folder)
    if name not in WITH_CANOPIES:
        raise ArgumentError(f"There are no canopies in {name:.60}; there are in: {', '.join(WITH_CANOPIES)}.")
    return WITH_CANOPIES[name](folder, canopy)


def _require_folder(folder: Path | None, name: str) -> Path:
    if folder is None or not (folder / name).is_dir():
        raise ArgumentError(
            f"The files of {name} are needed: name the folder that has a folder {name} in it, with --files."
        )
    return folder / name
