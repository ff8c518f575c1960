"""Template nodes and their tables against enumeration of all groundings, atoms and bindings."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.lift import path_embeddings
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath
from mlnlab.structure.templates.template_nodes import (
    TemplateTables,
    explain_drop,
    name_after,
)
from tests.structure.small_databases import CONSTANTS, PREDICATES, random_databases


def true_atoms(db):
    return [
        (name, tuple(zip(PREDICATES[name], arguments, strict=True)))
        for name in PREDICATES
        for arguments in (
            tuple(str(value) for value in row) for row in db[name].itertuples(index=False, name=None)
        )
    ]


def enumerated_nodes(dbs, head, longest):
    """Variabilise all sets of atoms that hang together and hang on a true grounding of the head."""
    found = set()
    for db in dbs:
        atoms = true_atoms(db)
        for own in (atom for atom in atoms if atom[0] == head and len(set(atom[1])) == len(atom[1])):
            rest = [atom for atom in atoms if atom != own]
            for size in range(1, longest + 1):
                for chosen in combinations(rest, size):
                    numbers = {constant: n for n, constant in enumerate(own[1])}
                    if hangs_together(chosen) and set(own[1]) & {c for a in chosen for c in a[1]}:
                        named = [
                            PathAtom(name, tuple(numbers.setdefault(c, len(numbers)) for c in arguments))
                            for name, arguments in chosen
                        ]
                        found.add(name_after(PathAtom(head, tuple(range(len(own[1])))), named))
    return found


def hangs_together(atoms):
    reached, rest = set(atoms[0][1]), list(atoms[1:])
    while near := [atom for atom in rest if reached & set(atom[1])]:
        reached |= {constant for atom in near for constant in atom[1]}
        rest = [atom for atom in rest if atom not in near]
    return not rest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("head", list(PREDICATES))
def test_nodes_are_those_of_all_connected_atoms(seed, head):
    dbs = random_databases(seed)
    predicate = dbs[0].vocabulary[head]
    for longest in (1, 2) if seed else (1, 2, 3):
        found = TemplateTables(dbs).nodes(predicate, longest)
        assert len(found) == len(set(found))
        assert set(found) == enumerated_nodes(dbs, head, longest)


def holds_beside(db, atoms, constants):
    """Try every binding of the variables that are not the head's, each to a constant of its own."""
    true = set(true_atoms(db))
    types = {}
    for name, variables in atoms:
        types.update(zip(variables, PREDICATES[name], strict=True))
    free = sorted(v for v in types if v >= len(constants))
    for names in product(*(CONSTANTS[types[variable]] for variable in free)):
        bound = dict(enumerate(constants))
        bound.update({v: (types[v], name) for v, name in zip(free, names, strict=True)})
        if len(set(bound.values())) == len(bound):
            ground = {(name, tuple(bound[v] for v in variables)) for name, variables in atoms}
            if ground <= true:
                return True
    return False


def all_groundings(dbs, head):
    """Return constants and truth of all groundings with different constants, by database, true ones first."""
    rows = []
    for number, db in enumerate(dbs):
        true = set(true_atoms(db))
        for names in product(*(CONSTANTS[type_] for type_ in PREDICATES[head])):
            row = tuple(zip(PREDICATES[head], names, strict=True))
            if len(set(row)) == len(row):
                rows.append(((head, row) not in true, number, row))
    return sorted(rows, key=lambda one: one[:2])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("head", list(PREDICATES))
def test_columns_are_those_of_all_bindings(seed, head):
    dbs = random_databases(seed)
    tables = TemplateTables(dbs)
    predicate = dbs[0].vocabulary[head]
    groundings = tables.draw_groundings(predicate, 1_000, np.random.default_rng(0))
    expected = all_groundings(dbs, head)
    assert groundings.truths.tolist() == [not false for false, _, _ in expected]
    for atoms in tables.nodes(predicate, 2):
        wanted = [holds_beside(dbs[number], atoms, row) for _, number, row in expected]
        assert tables.find_column(atoms, groundings).tolist() == wanted, atoms


def test_a_node_of_the_head_itself_holds_because_of_other_atoms():
    """Each person knows one other, so that nobody who knows v1 knows somebody else."""
    model = ml.MLN.from_text("Knows(person, person)")
    db = ml.Database.from_text("Knows(Ann, Bob)\nKnows(Bob, Cid)\nKnows(Dan, Dan)", model)
    tables = TemplateTables([db])
    head = db.vocabulary["Knows"]
    groundings = tables.draw_groundings(head, 100, np.random.default_rng(0))
    assert len(groundings.truths) == 12  # of 16: Knows(x, x) is of another form
    assert groundings.truths.sum() == 2
    nodes = tables.nodes(head, 1)
    assert {str(VariabilizedPath(atoms)) for atoms in nodes} == {"Knows(x1, x2)", "Knows(x2, x0)"}
    known = tables.find_column((PathAtom("Knows", (0, 2)),), groundings)
    assert known.sum() == 4  # Ann, Bob beside two others each; not beside the one whom they know
    assert not known[:2].any()


def test_compiled_and_plain_kernels_say_the_same(monkeypatch):
    dbs = random_databases(2)
    tables = TemplateTables(dbs)
    head = dbs[0].vocabulary["Likes"]
    groundings = tables.draw_groundings(head, 100, np.random.default_rng(0))
    nodes = tables.nodes(head, 2)
    compiled = [tables.find_column(atoms, groundings).tolist() for atoms in nodes]
    twin = plain_twin(path_embeddings.lie_beside)
    monkeypatch.setattr(path_embeddings, "lie_beside", twin)
    monkeypatch.setattr(path_embeddings, "new_search", plain_twin(path_embeddings.new_search))
    assert [tables.find_column(atoms, groundings).tolist() for atoms in nodes] == compiled


def test_false_groundings_are_a_sample_by_the_seed():
    dbs = random_databases(1)
    tables, head = TemplateTables(dbs), dbs[0].vocabulary["Likes"]
    every = tables.draw_groundings(head, 1_000, np.random.default_rng(0))
    rows = {tuple(row) for row in every.constants[~every.truths].tolist()}
    seen = []
    for seed in (3, 3, 4):
        some = tables.draw_groundings(head, 5, np.random.default_rng(seed))
        assert some.truths.sum() == every.truths.sum()
        assert (~some.truths).sum() == 5
        false = some.constants[~some.truths].tolist()
        assert len({tuple(row) for row in false}) == 5
        assert {tuple(row) for row in false} <= rows
        seen.append(false)
    assert seen[0] == seen[1] != seen[2]


def test_each_false_grounding_is_drawn_as_often_as_another():
    db = random_databases(1, 1)[0]
    tables, head = TemplateTables([db]), db.vocabulary["Likes"]
    every = tables.draw_groundings(head, 1_000, np.random.default_rng(0))
    number = int((~every.truths).sum())
    times = dict.fromkeys(map(tuple, every.constants[~every.truths].tolist()), 0)
    for seed in range(400):
        some = tables.draw_groundings(head, 2, np.random.default_rng(seed))
        for row in some.constants[~some.truths].tolist():
            times[tuple(row)] += 1
    assert sum(times.values()) == 800
    spread = (800 / number) ** 0.5
    assert max(abs(count - 800 / number) for count in times.values()) < 5 * spread


def test_constants_of_a_range_that_nothing_is_true_of_are_rows_too():
    model = ml.MLN.from_text("number = {1, ..., 1000}\nEven(number)\nNext(number, number)")
    db = ml.Database.from_text("Even(2)\nNext(1, 2)\nNext(2, 3)\nEven(4)\nNext(3, 4)", model)
    tables, head = TemplateTables([db]), db.vocabulary["Even"]
    groundings = tables.draw_groundings(head, 10_000, np.random.default_rng(0))
    assert len(groundings.truths) == 1_000
    assert (groundings.constants < 0).sum() == 996
    after = tables.find_column((PathAtom("Next", (1, 0)),), groundings)
    assert after.sum() == 3


def test_the_order_of_atoms_and_names_of_variables_do_not_matter():
    head = PathAtom("P", (5, 3))
    atoms = [PathAtom("Q", (3, 9)), PathAtom("Q", (5, 9)), PathAtom("R", (9, 7))]
    found = {name_after(head, order) for order in permutations(atoms)}
    assert found == {(PathAtom("Q", (0, 2)), PathAtom("Q", (1, 2)), PathAtom("R", (2, 3)))}


def test_columns_that_say_nothing_are_dropped_with_a_reason():
    assert explain_drop(10, 10, 0.01) == "it holds for every grounding of the head"
    assert explain_drop(9, 1_000, 0.01) == "it holds for 9 of 1,000 groundings, less than 0.01 of them"
    assert explain_drop(0, 10, 0.0) == "it holds for no grounding of the head"
    assert explain_drop(10, 1_000, 0.01) == ""
