"""Every real fact file is read without an error, and read again from what is written of it."""

from __future__ import annotations

import re

import pytest

from mlnlab.logic.vocabulary import Predicate, Vocabulary
from mlnlab.model.mln.mln import MLN
from mlnlab.syntax.facts.fact_files import analyse_facts, format_facts
from mlnlab.syntax.facts.plain_facts import scan_by_kernel, scan_by_pattern
from tests.support.shared_data import files
from tests.syntax.facts.fact_samples import errors, same

ATOM = re.compile(r"^\s*[!?]?(\w+)\((.*)\)", re.MULTILINE)

# Where the file of a model has another name than the facts or their only neighbour.
MODELS = {
    "univ-train": "univ-empty.mln", "univ-test": "univ-empty.mln",
    "smoking-train": "smoking.mln", "smoking-test": "smoking.mln",
}  # fmt: skip


def base_for(path):
    """The vocabulary of the model beside the facts, extended by predicates that only the facts have."""
    neighbours = [*path.parent.glob("*.mln"), *path.parent.parent.glob("*_decl.mln")]
    same_name = path.with_name(MODELS.get(path.stem, path.stem + ".mln"))
    model = same_name if same_name.exists() else (neighbours[0] if len(neighbours) == 1 else None)
    vocabulary = MLN.load(model).vocabulary if model else Vocabulary()
    for name, arguments in ATOM.findall(path.read_text(encoding="utf-8")):
        if name not in vocabulary.predicates and not any(p.function for p in vocabulary.predicates.values()):
            types = tuple(f"{name}{position}" for position in range(arguments.count(",") + 1))
            vocabulary = vocabulary.with_predicate(Predicate(name, types))
    return vocabulary


@pytest.mark.parametrize(
    "path",
    [*files("data", "**/*.db"), *files("data", "**/*.func"), *files("reference", "syntax/*.db")],
)
def test_real_files(path):
    base = base_for(path)
    source = path.read_bytes()
    analysis = analyse_facts(source, base, path.name)
    assert not errors(analysis), "\n".join(map(str, errors(analysis)[:3]))
    assert same(analyse_facts(source, base, scanner=scan_by_kernel), analysis)
    again = analyse_facts(
        format_facts(analysis.relations, analysis.vocabulary), base, scanner=scan_by_pattern
    )
    assert not errors(again)
    assert same(again, analysis)


def test_the_number_of_facts(data_folder):
    """Counted by another program (``grep -c '('``), for some files."""
    for name, number in [("kinships/kinships.db", 10686), ("cora/cora_fold1.db", 7463)]:
        path = data_folder / name
        analysis = analyse_facts(path.read_bytes(), base_for(path))
        assert sum(relation.listed for relation in analysis.relations.values()) == number
