"""Which literals may stand together in a clause: predicates kept apart, and mirror images."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.structures.structure_testing import StructureTesting, given_all_others
from mlnlab.structure.paths.literals_together import groups_apart, may_stand_together
from mlnlab.structure.paths.variabilized import PathAtom

WORDS = "Has(paper, word)\nSame(paper, paper)\nNear(paper, paper)\n"
OPTIONS = {
    "method": "lhl-findpaths",
    "longest": 3,
    "fewest": 0,
    "sampled": None,
    "fraction": 1.0,
    "dangling": True,
}
NAMED = {("name" if key == "method" else key): value for key, value in OPTIONS.items()}


@pytest.fixture(scope="module")
def dbs() -> list[ml.Database]:
    """Papers about one of two words; those about the same word are the same, and near each other."""
    mln = ml.MLN.from_text(WORDS)
    texts = []
    for number in range(2):
        papers = {f"P{number}{place}": "XY"[place % 2] for place in range(4)}
        lines = [f"Has({paper}, {word})" for paper, word in papers.items()]
        pairs = [(a, b) for a in papers for b in papers if papers[a] == papers[b]]
        lines += [f"{name}({a}, {b})" for name in ("Same", "Near") for a, b in pairs]
        texts.append("\n".join(lines))
    return [ml.Database.from_text(text, mln) for text in texts]


def of_clauses(learned: ml.LearnedStructure) -> list[tuple[PathAtom, ...]]:
    return [one.path.atoms for one in learned.candidates]


def test_no_clause_holds_two_literals_of_predicates_that_are_apart(dbs):
    free = of_clauses(ml.learn_structure(dbs, **OPTIONS))
    for apart, groups in (
        ("Same", [("Same",)]),
        (["Same", "Near"], [("Same",), ("Near",)]),
        ([("Same", "Near")], [("Same", "Near")]),
        ("Same + Near", [("Same", "Near")]),
        ("all", [("Same",), ("Near",), ("Has",)]),
    ):
        left = of_clauses(ml.learn_structure(dbs, apart=apart, **OPTIONS))
        allowed = [
            atoms for atoms in free
            if all(sum(atom.predicate in group for atom in atoms) < 2 for group in groups)
        ]  # fmt: skip
        assert left == allowed
        assert 0 < len(left) < len(free)


def test_no_clause_holds_an_atom_beside_its_mirror_image(dbs):
    free = of_clauses(ml.learn_structure(dbs, **OPTIONS))
    left = of_clauses(ml.learn_structure(dbs, mirrored=False, **OPTIONS))

    def has_mirror(atoms):
        same = {atom.variables for atom in atoms if atom.predicate == "Same"}
        near = {atom.variables for atom in atoms if atom.predicate == "Near"}
        return any((b, a) in group for group in (same, near) for a, b in group if a != b)

    assert left == [atoms for atoms in free if not has_mirror(atoms)]
    assert 0 < len(left) < len(free)
    chain = [PathAtom("Same", (0, 1)), PathAtom("Same", (1, 2))]
    assert may_stand_together(chain, (), mirrored=False)
    assert not may_stand_together(chain, (("Same",),))


def test_a_group_whose_atoms_are_apart_is_asked_as_it_was_learned(dbs):
    """Where all else is known, such atoms are independent: hidden together or one by one is the same."""
    learned = ml.learn_structure(dbs, apart=["Same"], least_gain=0.0, **OPTIONS).mln
    db = dbs[0]
    together = StructureTesting((("Same",),), exact=True).evaluation(learned, [db], 0).judged
    alone = given_all_others(learned, db, ["Same"])
    said = dict(zip(map(str, alone.atoms), alone.probabilities, strict=True))
    hidden = dict(zip(map(str, together.atoms), together.probabilities, strict=True))
    assert hidden.keys() == said.keys()
    assert [hidden[atom] for atom in said] == pytest.approx(list(said.values()), abs=1e-9)
    assert np.ptp(list(said.values())) > 0.5  # it has learned something


def test_the_dropped_paths_are_those_of_the_same_run(dbs):
    options = {**OPTIONS, "fewest": 20}
    learned = ml.learn_structure(dbs, apart=["Same"], **options)
    dropped = learned.dropped_paths()
    assert dropped.paths - dropped.dropped == len(learned.paths)
    assert all(may_stand_together(one.path.atoms, (("Same",),)) for one in dropped.closest)


def test_a_run_goes_on_only_with_the_same_literals_apart(dbs):
    learner = ml.structure_learner(dbs=dbs, apart=["Same"], **NAMED)
    state = list(learner)[-2]
    assert list(learner.resume(state))[-1].ended
    with pytest.raises(ml.ArgumentError, match=r"other settings \(apart='Same' instead of apart=''\)"):
        list(ml.structure_learner(dbs=dbs, **NAMED).resume(state))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"apart": ["Sme"]}, "Same"),
        ({"apart": 3}, "apart names predicates"),
        ({"apart": [("Same", 3)]}, "apart names predicates"),
        ({"apart": [[]]}, "apart names predicates"),
        ({"apart": "Same,,"}, "apart names predicates"),
        ({"apart": None}, "apart names predicates"),
        ({"mirrored": "no"}, "mirrored must be True or False"),
    ],
)
def test_what_cannot_be_kept_apart_gets_a_sentence(dbs, options, says):
    with pytest.raises(ml.errors.MlnlabError, match=says):
        ml.structure_learner("lhl", dbs, **options)
    assert groups_apart(()) == ()
