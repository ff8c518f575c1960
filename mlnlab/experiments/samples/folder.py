"""The folder ``sample_data`` as texts by path, and the writing of it."""

from __future__ import annotations

import json
from pathlib import Path

from mlnlab.experiments.samples.catalogue import CATALOGUE
from mlnlab.experiments.samples.networks import network_files
from mlnlab.experiments.samples.readme import readme_text
from mlnlab.experiments.samples.texts import SampleTexts


def folder_texts() -> dict[str, str]:
    """Return the text of every file of the folder by its path in it."""
    samples = {name: entry.generate() for name, entry in CATALOGUE.items()}
    files = {"README.md": readme_text(samples), **network_files()}
    for name, sample in samples.items():
        files |= {f"{name}/{path}": text for path, text in _files(sample).items()}
    return files


def _files(sample: SampleTexts) -> dict[str, str]:
    databases = {f"{name}.db": text for name, text in sample.databases.items()}
    answers = json.dumps(sample.answers, indent=1, ensure_ascii=False) + "\n"
    return {f"{sample.name}.mln": sample.model, **databases, "answers.json": answers}


def write_folder(folder: Path) -> list[Path]:
    """Write the folder; return the paths of its files."""
    written = []
    for path, text in folder_texts().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        written.append(file)
    return written
