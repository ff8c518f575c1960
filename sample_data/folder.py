"""Make the texts of the folder ``sample_data``, its README with exact answers among them, and write it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlnlab.experiments.samples import sample, sample_network
from mlnlab.steps.safe_files import make_folder, write_text

from .catalogue import CATALOGUE
from .networks.networks import network_files
from .texts import SampleTexts

_HEAD = """# Sample data

Small data sets to learn with, test with and show things on. `ml.sample()` lists them,
`ml.sample("karate_club")` loads one: its model, its databases, and the exact answers below.

**Licence.** The data are dedicated to the public domain (CC0 1.0): take them for anything. They are our
own: written by hand, simulated, or facts that networkx (BSD licence) ships as example graphs. No other
data set was copied; what `university` and `movies` share with UW-CSE and IMDB is schema and
(about) sizes, what `citations` and `web_pages` share with Cora and WebKB is schema.

**How they came about.** `python -m sample_data`, in a clone, writes this folder, byte for byte. Each
generator lies beside its data and says what it simulates, with which probabilities; it takes any seed
and, where that makes sense, any size: `from sample_data import friends_smokers` (with mlnlab installed
from a wheel: `from mlnlab.sample_data import friends_smokers`).

**Exact answers** stand in each `answers.json` and below, to twelve digits. They come from the
definitions, in plain Python that shares nothing with the engine (`plain_answers.py`): P(x) = exp(Σ w
n(x)) / Z, where n counts the true groundings of a formula's free variables. `counts` holds n for each
formula of the model, in its order, in the closed world of a database. A question gives a database, the
query predicates (their atoms that the database does not list as true or false are unknown), log Z over
all completions of that evidence, marginals, and the most probable completion; `gap` is the log weight
that the second best one lacks.
"""
_NETWORKS = """
## networks

Networks over variables of several values, in the formats BIF and UAI. `ml.sample_network()` lists
them, `ml.sample_network("greenhouse")` loads one. They are ours: `greenhouse` was written by hand,
the numbers of `lattice` were drawn with seed 11.

"""


def folder_texts() -> dict[str, str]:
    """Return the text of every file of the folder by its path in it."""
    samples = {name: entry.generate() for name, entry in CATALOGUE.items()}
    files = {"README.md": readme_text(samples), **network_files()}
    for name, texts in samples.items():
        files |= {f"{name}/{path}": text for path, text in _files(texts).items()}
    return files


def _files(texts: SampleTexts) -> dict[str, str]:
    databases = {f"{name}.db": text for name, text in texts.databases.items()}
    answers = json.dumps(texts.answers, indent=1, ensure_ascii=False) + "\n"
    return {f"{texts.name}.mln": texts.model, **databases, "answers.json": answers}


def write_folder(folder: Path) -> list[Path]:
    """Write the folder; return the paths of its files."""
    written = []
    for path, text in folder_texts().items():
        file = folder / path
        make_folder(file.parent)
        write_text(file, text)
        written.append(file)
    return written


def readme_text(samples: Mapping[str, SampleTexts]) -> str:
    """Return the README."""
    parts = [_HEAD]
    for name, texts in samples.items():
        entry = CATALOGUE[name]
        files = ", ".join(f"`{database}.db`" for database in texts.databases)
        parts.append(
            f"\n## {name}\n\n{sample()[name]}\n\nFrom: {entry.origin}. Files: `{name}.mln`, {files}.\n"
        )
        parts += [f"\n{entry.remark}\n"] if entry.remark else []
        parts += _sections(texts)
    lines = "".join(f"- `{name}`: {sentence}\n" for name, sentence in sample_network().items())
    parts.append(f"{_NETWORKS}{lines}")
    return "".join(parts)


def _sections(texts: SampleTexts) -> Iterable[str]:
    answers: Mapping[str, Any] = texts.answers
    if "sizes" in answers:
        yield _sizes(answers["sizes"])
    yield _counts(texts, answers["counts"])
    if "log_z_without_evidence" in answers:
        sizes = answers["log_z_without_evidence"]
        yield _table(["people, no evidence", "log Z"], sizes.items())
    for question in answers.get("questions", ()):
        yield _question(question)


def _table(heading: list[str], rows: Iterable[Iterable[object]]) -> str:
    lines = ["", _row(heading), "|" + "---|" * len(heading), *map(_row, rows), ""]
    return "\n".join(lines)


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _sizes(sizes: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [name, sum(found["constants"].values()), found["true_atoms"], found["ground_atoms"]]
        for name, found in sizes.items()
    ]
    totals = ["all", *(sum(row[column] for row in rows) for column in (1, 2, 3))]
    return _table(["database", "constants", "true atoms", "ground atoms"], [*rows, totals])


def _counts(texts: SampleTexts, counts: Mapping[str, list[int]]) -> str:
    formulas = [line for line in texts.model.split("\n\n")[-1].split("\n") if line]
    columns = list(counts.values())
    rows = [[f"`{formula}`", *numbers] for formula, *numbers in zip(formulas, *columns, strict=True)]
    return _table(["formula", *(f"n in {name}" for name in counts)], rows)


def _question(question: Mapping[str, Any]) -> str:
    best = question["map"]
    asked = " and ".join(question["query"])
    said = (
        f"\nQuestion: {asked} in `{question['database']}.db` ({question['unknown_atoms']} unknown atoms)."
        f" log Z = {question['log_z']}. Most probable: {', '.join(best['true_atoms'])} and no other,"
        f" log weight {best['log_weight']}.\n"
    )
    return said + _table(["atom", "probability"], question["marginals"].items())
