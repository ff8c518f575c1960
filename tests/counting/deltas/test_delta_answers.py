"""``ml.deltas``: the public shape, executors, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.duckdb.duckdb_store import store_of
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary

SMOKERS = """
Smokes(person)
Friends(person, person)
Age(person, age)
Rain()
age = {1, ..., 4}
1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)
Smokes(+x) ^ Friends(x, y)
1 Friends(x, y) ^ Friends(y, z) => Friends(x, z)
1 EXIST y Friends(x, y)
1 Age(x, t) ^ Age(y, t+1) => Friends(x, y)
0.2 Rain() v Smokes(x) v Smokes(y)
1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)
"""
FACTS = """
Friends(Anna, Bob)\nFriends(Bob, Anna)\nFriends(Anna, Carl)\nSmokes(Anna)\nSmokes(Dora)
Age(Anna, 3)\nAge(Bob, 4)\nAge(Carl, 2)\nRain()
"""


@pytest.fixture(scope="module")
def smokers():
    mln = ml.MLN.from_text(SMOKERS)
    return mln, ml.Database.from_text(FACTS, mln)


def every_atom(vocabulary, predicate):
    domains = map(vocabulary.domain, vocabulary[predicate].types)
    return [GroundAtom(predicate, names) for names in product(*domains)]


def test_one_whole_number_for_each_formula_of_the_expanded_model(smokers):
    mln, db = smokers
    changes = ml.deltas(mln, db)
    assert set(changes) == set(db.vocabulary.predicates)
    world, formulas = db.world(), [weighted.formula for weighted in mln.expand(db).formulas]
    assert len(changes.formulas) == len(formulas) > 9
    for predicate in changes:
        for atom in every_atom(db.vocabulary, predicate):
            with_it = world if world.holds(*atom) else world.flipped(atom)
            expected = [with_it.count(f) - with_it.flipped(atom).count(f) for f in formulas]
            assert changes.at(atom) == changes.at(str(atom)) == tuple(expected)
            assert all(type(number) is int for number in changes.at(atom))


def rows_of(changes):
    """Each predicate's merged rows as a mapping from numbers and truth to how many atoms have them."""
    rows = {}
    for name, found in changes.merged().items():
        columns = found.truths.tolist(), found.values.tolist(), found.multiplicities
        rows[name] = {(truth, *row): number for truth, row, number in zip(*columns, strict=True)}
    return rows


def test_executors_change_nothing(smokers, executor):
    mln, db = smokers
    shared_out = ml.deltas(mln, db, executor=executor)
    assert rows_of(shared_out) == rows_of(ml.deltas(mln, db))
    assert shared_out.formulas == ml.deltas(mln, db).formulas
    assert list(shared_out) == list(ml.deltas(mln, db))


def random_facts(size, tuples, seed=0):
    signatures = {**dict.fromkeys("AB", ("t", "t")), "U": ("t",), "T": ("t", "t", "t")}
    predicates = {name: Predicate(name, types) for name, types in signatures.items()}
    words = Vocabulary(FrozenMapping({"t": SizedDomain("K", size)}), FrozenMapping(predicates))
    rng = np.random.default_rng(seed)
    tables = {
        name: rng.integers(0, size, (tuples, p.arity)).astype(np.uint32) for name, p in predicates.items()
    }
    return facts_from_tables(words, tables)


def test_changes_pass_64_bits():
    facts = random_facts(3_000_000, 1)
    formulas = [ml.MLN(facts.vocabulary).parse("U(x) v U(y) v U(z) v U(w) ^ A(z,w)")]
    found = DeltaCounter(formulas, facts.vocabulary)(facts, "U")
    absent = np.array([[next(k for k in range(9) if k not in facts.rows("U"))]], np.uint32)
    assert found.at(absent)[0, 0] > 1 << 64
    merged = found.merged()
    assert merged.atoms == 3_000_000
    assert len(merged.multiplicities) < 6


def test_predicates_are_chosen_and_unmentioned_ones_change_nothing(smokers):
    mln, db = smokers
    friendly = [mln.parse("Friends(x, y) => Friends(y, x)")]
    assert list(ml.deltas(friendly, db)) == ["Friends"]
    changes = ml.deltas(friendly[0], db, predicates=["Smokes", "Rain"])
    assert list(changes) == ["Smokes", "Rain"]
    assert rows_of(changes)["Smokes"] == {(False, 0): 2, (True, 0): 2}
    assert rows_of(changes)["Rain"] == {(True, 0): 1}
    assert ml.deltas(friendly, db).at("Smokes(Anna)") == (0,)


def test_the_table_lists_merged_rows_of_all_predicates(smokers):
    mln, db = smokers
    frame = ml.deltas(mln, db).to_frame()
    assert list(frame.columns[:2]) == ["predicate", "now"]
    assert frame.columns[-1] == "atoms"
    assert frame.columns.is_unique
    assert "Smokes(x) ^ Friends(x, y) => Smokes(y) (2)" in frame.columns
    assert frame.groupby("predicate")["atoms"].sum().to_dict() == {
        "Smokes": 4, "Friends": 16, "Age": 16, "Rain": 1
    }  # fmt: skip
    assert (
        repr(ml.deltas(mln, db)) == "<Deltas: Δn of 10 formulas by the atoms of Smokes, Friends, Age, Rain>"
    )


def test_facts_in_files_are_counted_and_no_more(tmp_path):
    mln = ml.MLN.from_text("Smokes(p)\n1 Smokes(x)")
    (tmp_path / "smokes.csv").write_text("p\nAnna\n")
    with ml.FactFiles({"Smokes": tmp_path / "smokes.csv"}, mln) as facts:
        assert list(ml.count(mln, facts)) == [1]
        with pytest.raises(ml.ArgumentError, match=r"in memory.* ml\.Database\.from_files"):
            ml.deltas(mln, facts)


def test_what_cannot_be_answered_gets_a_sentence(smokers):
    mln, db = smokers
    formula = mln.parse("Smokes(x)")
    with pytest.raises(ml.ArgumentError, match="model is needed"):
        ml.deltas("Smokes(x)", db)
    with pytest.raises(ml.ArgumentError, match="model is needed"):
        ml.deltas([], db)
    with pytest.raises(ml.ArgumentError, match="not in str"):
        ml.deltas(formula, "Smokes(Anna)")
    with pytest.raises(ml.ArgumentError, match="did you mean Smokes"):
        ml.deltas(formula, db, predicates=["Smoke"])
    with pytest.raises(ml.ArgumentError, match=r'predicates=\["Smokes"\]'):
        ml.deltas(formula, db, predicates="Smokes")
    with pytest.raises(ml.ArgumentError, match="did you mean duckdb"):
        ml.count(mln, db, method="duckdbb")
    with pytest.raises(ml.ArgumentError, match="did you mean Smokes"):
        ml.deltas(formula, db)["Smoke"]
    with pytest.raises(ml.ArgumentError, match="not a constant"):
        ml.deltas(formula, db).at(GroundAtom("Smokes", ("Nobody",)))
    assert "Smoke" not in ml.deltas(formula, db)
    for atom in (3, None, ["Smokes", "Anna"]):
        with pytest.raises(ml.ArgumentError, match=r'written as in "Smokes\(Anna\)"'):
            ml.deltas(formula, db).at(atom)
    for names in (5, [5], [[]]):
        with pytest.raises(ml.ArgumentError, match="predicates= takes a list of predicates"):
            ml.deltas(formula, db, predicates=names)
    with pytest.raises(ml.ArgumentError, match="No formula's change"):
        ml.deltas(formula, db)[[]]
    for method in (["x"], None, 3):
        with pytest.raises(ml.ArgumentError, match="Methods of counting are"):
            ml.count(mln, db, method=method)
    with pytest.raises(ml.ArgumentError, match="a Database, a World or FactFiles, not in None"):
        ml.count(mln, None)
    with pytest.raises(ml.ArgumentError, match="a Database or a World, not in None"):
        ml.deltas(mln, None)


def test_duckdb_keeps_to_a_limit_of_memory_for_facts_in_memory(smokers):
    mln, db = smokers
    assert ml.count(mln, db, method="duckdb", memory="300MB") == ml.count(mln, db)
    for memory in ("much", "-1GB", "0GB", "0.0MB", "1", "1GB; DROP TABLE t0", 5):
        with pytest.raises(ml.ArgumentError, match=r"^memory= is a .*, not ") as refusal:
            ml.count(mln, db, method="duckdb", memory=memory)
        assert "Parser" not in str(refusal.value)
    for memory in ("0.3GB", "300 MB", "0.3gib", "50%"):
        assert ml.count(mln, db, method="duckdb", memory=memory) == ml.count(mln, db)
    for threads in (0, "x", 1.5):
        with pytest.raises(ml.ArgumentError, match="number of threads must be a whole number of at least 1"):
            ml.FactFiles({}, mln, threads=threads)
    with pytest.raises(ml.ArgumentError, match='needs method="duckdb"'):
        ml.count(mln, db, memory="1GB")
    with store_of(random_facts(10, 5), memory="200MiB") as store:
        ((limit,),) = store.answers("SELECT current_setting('memory_limit')")
    assert limit == "200.0 MiB"
