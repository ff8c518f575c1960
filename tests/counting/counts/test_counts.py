"""``ml.count``: the public shape, executors, refusals, and the theories that came with real data."""

from __future__ import annotations

import time

import duckdb
import numpy as np
import pandas as pd
import pytest

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.logic.formulas.formulas import And, Not, Variable
from mlnlab.steps import budget
from tests.support.pace import slower

SMOKERS = """
Smokes(person)
Friends(person, person)
Age(person, age!)
age = {1, ..., 6}
1.5 Smokes(x) => Friends(x, x)
Smokes(+x) ^ Friends(+x, y)
Friends(x, y) ^ Friends(y, z) => Friends(x, z).
0.3 Age(x, t) ^ Age(y, t+1) => Friends(x, y)
-1 EXIST>=2 y Friends(x, y)
0.2 Age(x, t) ^ Age(y, s) ^ t < s => !Friends(x, y)
"""
FACTS = """
Friends(Anna, Bob)\nFriends(Bob, Anna)\nFriends(Anna, Carl)\nSmokes(Anna)
Age(Anna, 3)\nAge(Bob, 4)\nAge(Carl, 6)
"""


@pytest.fixture(scope="module")
def smokers():
    mln = ml.MLN.from_text(SMOKERS)
    return mln, ml.Database.from_text(FACTS, mln)


def test_one_whole_number_for_each_formula_of_the_expanded_model(smokers):
    mln, db = smokers
    counts = ml.count(mln, db)
    world, expanded = db.world(), mln.expand(db)
    assert list(counts) == [world.count(weighted.formula) for weighted in expanded.formulas]
    assert counts == list(counts)
    assert len(counts) == len(expanded.formulas) == 8
    assert counts[0] == counts.numbers[0]
    assert counts[1:3] == counts.numbers[1:3]
    assert list(counts.groundings) == [world.number_of_groundings(w.formula) for w in expanded.formulas]
    assert counts.false[4] == counts.groundings[4] - counts[4] > 0


def test_a_world_is_counted_as_its_database_is(smokers):
    mln, db = smokers
    assert ml.count(mln, db.world()) == ml.count(mln, db)


def test_unknown_atoms_count_as_false(smokers):
    mln, db = smokers
    unknown = db.with_atoms({"Smokes(Bob)": None, "Smokes(Anna)": None})
    assert ml.count(mln, unknown) == ml.count(mln, db.without(["Smokes"]))


def test_constants_that_only_the_model_names_are_counted():
    mln = ml.MLN.from_text("Smokes(person)\nSmokes(Dora) v Smokes(x)")
    db = ml.Database.from_text("Smokes(Anna)", ml.MLN.from_text("Smokes(person)"))
    assert list(ml.count(mln, db)) == [1]


def test_the_table_shows_numbers_of_any_size():
    mln = ml.MLN.from_text("P(thing)\n2 P(x) v P(y) v P(z)").with_domains({"thing": 5_000_000})
    db = ml.Database(mln.vocabulary)
    frame = ml.count(mln, db).to_frame()
    assert frame["groundings"][0] == 5_000_000**3
    assert frame["true"][0] == 0
    assert frame["weight"][0] == 2
    assert "0 of 125,000,000,000,000,000,000" in str(ml.count(mln, db))


def test_executors_change_nothing(smokers, executor):
    mln, db = smokers
    many = ml.MLN(db.vocabulary, mln.expand(db).formulas * 4)
    assert ml.count(many, db, executor=executor) == ml.count(many, db)


def test_refusals_name_the_formula():
    mln = ml.MLN.from_text("T(a, a, a)\nT(x,y,z) ^ T(z,w,v) ^ T(v,s,x) ^ T(y,w,s)")
    rows = "\n".join(f"T(A{i}, A{j}, A{k})" for i in range(30) for j in range(30) for k in range(30))
    db = ml.Database.from_text(rows, mln)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "MOST_ESTIMATED_ROWS", 1e5)
        patch.setattr(budget, "MOST_ELIMINATION_CELLS", 1e5)
        with pytest.raises(
            ml.TooLargeError, match=r"T\(x, y, z\).* is too large(.|\n)*The plan:(.|\n)*Ways out"
        ):
            ml.count(mln, db)


@pytest.mark.parametrize("wrong", [("", None), (None, None)])
def test_wrong_arguments_get_a_sentence(wrong, smokers):
    with pytest.raises(ml.ArgumentError, match="model is needed"):
        ml.count(wrong[0], smokers[1])
    with pytest.raises(ml.ArgumentError, match="a Database, a World or FactFiles, not in str"):
        ml.count(smokers[0], "Smokes(Anna)")


def test_the_normal_form_of_a_clause_is_the_falsifying_conjunction():
    mln = ml.MLN.from_text("R(t, t)\nS(t, t)\nT(t, t)")
    terms = normal_form(mln.parse("!R(x,y) v S(y,z) v T(x,z)"))
    assert [str(term) for term in terms] == [
        "1 |1|",
        "-1 |R(x, y)|",
        "1 |R(x, y) ^ T(x, z)|",
        "1 |R(x, y) ^ S(y, z)|",
        "-1 |R(x, y) ^ S(y, z) ^ T(x, z)|",
    ]
    conjunction = normal_form(mln.parse("R(x,y) ^ S(y,z)"))
    assert [str(term) for term in conjunction] == ["1 |R(x, y) ^ S(y, z)|"]


def test_the_plan_is_told_in_words(smokers):
    mln, db = smokers
    formula = mln.parse("Friends(x,y) ^ Friends(y,z) => Friends(x,z)")
    explanation = Counter(formula, db.vocabulary).explain(db)
    assert (
        explanation.count
        == db.world().count(formula)
        == sum(t.coefficient * t.count for t in explanation.terms)
    )
    text = str(explanation)
    assert "24 true groundings" in text
    assert "the true tuples of Friends(x, y)  (about 3, in fact 3)" in text


def random_bodies(mln, number, seed, atoms=4):
    """Connected conjunctions of a few atoms, as structure learners try them."""
    rng = np.random.default_rng(seed)
    names = sorted(mln.vocabulary.predicates)
    while number:
        variables, body = {}, []
        for _ in range(rng.integers(2, atoms + 1)):
            predicate = mln.vocabulary[names[rng.integers(len(names))]]
            arguments = []
            for type_ in predicate.types:
                known = variables.setdefault(type_, [])
                if not known or rng.random() < 0.35:
                    known.append(Variable(f"{type_[0]}{sum(map(len, variables.values()))}", type_))
                arguments.append(known[rng.integers(len(known))])
            body.append(predicate(*arguments))
        yield And(tuple(body))
        number -= 1


def number_by_duckdb(body, db, connection):
    """The number of bindings of a conjunction: one join of all its atoms, and count(*)."""
    places = {}
    for number, atom in enumerate(body.operands):
        for column, variable in enumerate(atom.arguments):
            places.setdefault((variable.name, variable.type), []).append(f"a{number}.c{column}")
    tables = ", ".join(f'"{atom.predicate}" a{number}' for number, atom in enumerate(body.operands))
    equal = " AND ".join(f"{one[0]} = {other}" for one in places.values() for other in one[1:]) or "true"
    return connection.execute(f"SELECT count(*) FROM {tables} WHERE {equal}").fetchone()[0]


@pytest.mark.data
@pytest.mark.parametrize(("folder", "stem"), [("uw-cse", "uwcse"), ("imdb", "imdb"), ("cora", "cora")])
def test_fifty_clauses_of_real_data_in_seconds_and_as_duckdb_counts_them(data_folder, folder, stem):
    mln = ml.load(data_folder / folder / f"{stem}_decl.mln")
    db = ml.load_db(data_folder / folder / f"{stem}_fold1.db", mln)
    bodies = list(random_bodies(mln, 50, seed=len(stem)))
    theory = ml.MLN.from_formulas(
        [(1.0, Not(body)) for body in bodies], predicates=list(mln.vocabulary.predicates.values())
    )
    began = time.process_time()
    counts = ml.count(theory, db)
    assert time.process_time() - began < 10 * slower()
    connection = duckdb.connect(config={"threads": 1})
    for name, predicate in mln.vocabulary.predicates.items():
        columns = {f"c{c}": db.relation(name).true[:, c] for c in range(predicate.arity)}
        connection.register("frame", pd.DataFrame(columns))
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
    for body, number, every in list(zip(bodies, counts, counts.groundings, strict=True))[:25]:
        assert every - number == number_by_duckdb(body, db, connection), str(body)


@pytest.mark.parametrize("count", [ml.count, ml.deltas])
def test_what_runs_nothing_is_no_executor(count):
    mln = ml.MLN.from_text("P(t)\n1 P(x)")
    with pytest.raises(ml.ArgumentError, match="needs a method submit"):
        count(mln, ml.Database.from_text("P(A)", mln), executor=3)


def test_where_a_plan_would_list_too_much_duckdb_is_named_and_counts(monkeypatch):

    rule = "R(x, y) ^ (EXIST z (Q(x, z) ^ (FORALL u (P(y, u) => R(z, u)))))"
    mln = ml.MLN.from_text(f"P(t, t)\nQ(t, t)\nR(t, t)\n1 {rule}").with_domains({"t": 20})
    rows = [
        f"{name}(T{1 + k}, T{1 + k * (7 + place) % 20})"
        for place, name in enumerate("PQR")
        for k in range(20)
    ]
    db = ml.Database.from_text("\n".join(rows), mln)
    expected = ml.count(mln, db)
    monkeypatch.setattr(budget, "MOST_LISTED_TUPLES", 10)
    monkeypatch.setattr(budget, "MOST_ELIMINATION_CELLS", 10)
    with pytest.raises(
        ml.TooLargeError, match=r"would be listed for (.|\n)*ml\.count\(mln, db, method=.duckdb.\)"
    ):
        ml.count(mln, db)
    assert ml.count(mln, db, method="duckdb") == expected
    monkeypatch.setattr(budget, "MOST_TUPLES_IN_DUCKDB", 10)
    with pytest.raises(ml.TooLargeError) as refusal:
        ml.count(mln, db)
    assert "DuckDB" not in str(refusal.value)
