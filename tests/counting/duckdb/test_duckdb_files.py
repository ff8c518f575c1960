"""``ml.count`` by DuckDB: facts in files, names that look like SQL, executors, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pandas as pd
import pytest

import mlnlab as ml
from mlnlab.logic.formulas.formulas import And, Atom, Constant, Equality, Exists, Implies, Not, Or, Variable
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, Vocabulary

HOSTILE = ["'; DROP TABLE t0; --", '"', "t0", "\\", "{0}", "%s", "NULL", "?", "a b", "日本", "x'||'y"]


def hostile_model():
    words = Vocabulary(
        FrozenMapping({"type'; --": NamedDomain(tuple(HOSTILE))}),
        FrozenMapping(
            {name: Predicate(name, ("type'; --", "type'; --")) for name in ('P"; DROP', "t0", "SELECT")}
        ),
    )
    x, y, z = (Variable(name, "type'; --") for name in ("x", "v0", "n"))
    formulas = [
        Implies(And((Atom('P"; DROP', (x, y)), Atom("t0", (y, z)))), Atom("SELECT", (x, z))),
        Or(
            (
                Atom("t0", (x, Constant(HOSTILE[0], "type'; --"))),
                Equality(x, Constant(HOSTILE[1], "type'; --")),
            )
        ),
        Exists((y,), And((Atom("SELECT", (x, y)), Not(Atom("t0", (y, x)))))),
    ]
    return ml.MLN(words, tuple(WeightedFormula(one, Soft(1.0)) for one in formulas))


def hostile_frames(mln):
    rng = np.random.default_rng(3)
    names = np.array(HOSTILE, object)
    return {
        name: pd.DataFrame(names[rng.integers(0, len(names), (40, 2))], columns=["a", "b"])
        for name in mln.vocabulary.predicates
    }


def test_no_name_of_anything_is_taken_for_sql(tmp_path):
    mln = hostile_model()
    frames = hostile_frames(mln)
    db = ml.Database.from_frames(frames, mln)
    expected = ml.count(mln, db)
    assert ml.count(mln, db, method="duckdb") == expected
    files = {}
    for place, (name, frame) in enumerate(frames.items()):
        files[name] = tmp_path / f"fact's [{place}].parquet"
        frame.columns = ['c0"; DROP', "v1' --"]
        duckdb.from_df(frame).write_parquet(str(files[name]))
    with ml.FactFiles(files, mln) as facts:
        assert ml.count(mln, facts) == expected


SMOKERS = """
Smokes(person)
Friends(person, person)
Age(person, age)
age = {1, ..., 90}
1 Smokes(x) ^ Friends(x, y) => Smokes(y)
1 Age(x, t) ^ Age(y, t+1) => Friends(x, y)
Smokes(+x) ^ Friends(x, y)
1 Age(x, t) ^ t < 40
"""


@pytest.fixture
def smokers(tmp_path):
    rng = np.random.default_rng(1)
    people = np.array([f"P{k}" for k in range(20)], object)
    friends = pd.DataFrame(people[rng.integers(0, 20, (90, 2))], columns=["person1", "person2"])
    ages = pd.DataFrame({"age": rng.integers(1, 91, 20), "person": people})
    smokes = pd.DataFrame({"person": people[:7]})
    frames = {"Friends": pd.concat([friends, friends]), "Age": ages, "Smokes": smokes}
    files = {name: tmp_path / f"{name}.csv" for name in frames}
    for name, frame in frames.items():
        frame.to_csv(files[name], index=False)
    mln = ml.MLN.from_text(SMOKERS)
    return mln, files, ml.Database.from_files(files, mln)


def test_facts_in_files_are_counted_as_facts_in_memory(smokers, tmp_path):
    mln, files, db = smokers
    expected = ml.count(mln, db)
    with ml.FactFiles(files, mln) as facts:
        found = ml.count(mln, facts)
        assert repr(facts) == f"<FactFiles: {db.number_of_facts()} true atoms in 3 files>"
    by_formula = dict(
        zip(map(str, expected.formulas), zip(expected, expected.groundings, strict=True), strict=True)
    )
    numbers = zip(found, found.groundings, strict=True)
    assert dict(zip(map(str, found.formulas), numbers, strict=True)) == by_formula
    assert (found.method, expected.method) == ("duckdb", "planned")
    assert "files" in found.reason
    assert "memory" in expected.reason
    assert ml.count(mln, db, method="duckdb").method == "duckdb"
    parquet = dict(zip(("constants", "Smokes", "Friends", "Age"), db.to_parquet(tmp_path / "p"), strict=True))
    del parquet["constants"]
    with ml.FactFiles(
        {name: tmp_path / "p" / f"{name}.parquet" for name in files}, mln, distinct=True
    ) as facts:
        assert sorted(ml.count(mln, facts)) == sorted(expected)


def test_ranges_are_counted_in_the_file_itself(tmp_path):
    mln = ml.MLN.from_text("node = {0, ..., 999}\nLink(node, node)\n1 Link(x, y) ^ Link(y, z) => Link(x, z)")
    rows = np.unique(np.random.default_rng(0).integers(0, 1_000, (5_000, 2)), axis=0)
    frame = pd.DataFrame(rows, columns=["node1", "node2"])
    duckdb.from_df(frame).write_parquet(str(tmp_path / "link.parquet"))
    with ml.FactFiles({"Link": tmp_path / "link.parquet"}, mln, distinct=True) as facts:
        views = facts.store.answers("SELECT count(*) FROM duckdb_tables()")
        assert ml.count(mln, facts) == ml.count(mln, ml.Database.from_frames({"Link": frame}, mln))
    assert views == [(0,)]
    folder = facts.store.folder.name
    assert not Path(folder).exists()
    with pytest.raises(ml.ArgumentError, match="closed"):
        ml.count(mln, facts)


def test_sizes_give_constants_their_names(tmp_path):
    mln = ml.MLN.from_text("Link(node, node)\n1 Link(x, y) ^ Link(y, z)").with_domains({"node": 10**9})
    prefix = mln.vocabulary.domain("node")[0].removesuffix("1")
    (tmp_path / "link.csv").write_text(f"a,b\n{prefix}5,{prefix}999\n{prefix}999,{prefix}1000000000\n")
    with ml.FactFiles({"Link": tmp_path / "link.csv"}, mln) as facts:
        counts = ml.count(mln, facts)
        assert list(counts) == [1]
        assert counts.groundings == (10**27,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "node1,node2\n1,2\n3,77\n",
            "1 cell in column 2 of link.csv name no constant of type node, such as 77",
        ),
        ("node1,node2\n1,\n", "an empty cell"),
        ("node1,node2\n01,2\n", "such as 01"),
        ("node1,node2,node3\n1,2,3\n", "3 columns"),
        ("node1,node2,probability\n1,2,0.5\n", "probabilities"),
    ],
)
def test_files_that_do_not_fit_get_a_sentence(tmp_path, text, words):
    mln = ml.MLN.from_text("node = {1, ..., 9}\nLink(node, node)")
    (tmp_path / "link.csv").write_text(text)
    with pytest.raises(ml.InputError, match=words):
        ml.FactFiles({"Link": tmp_path / "link.csv"}, mln)


def test_what_cannot_be_counted_gets_a_sentence(smokers, tmp_path):
    mln, files, db = smokers
    with pytest.raises(ml.ArgumentError, match="did you mean duckdb"):
        ml.count(mln, db, method="duckdbb")
    with pytest.raises(ml.InputError, match="no file"):
        ml.FactFiles({"Friends": tmp_path / "none.csv"}, mln)
    with pytest.raises(ml.InputError, match="did you mean Friends"):
        ml.FactFiles({"Frends": files["Friends"]}, mln)
    with pytest.raises(ml.InputError, match="ends in none"):
        ml.FactFiles({"Friends": tmp_path / "x.xlsx"}, mln)
    with pytest.raises(ml.ArgumentError, match="by predicate"):
        ml.FactFiles([files["Friends"]], mln)
    with pytest.raises(ml.ArgumentError, match="memory= is a positive size"):
        ml.FactFiles(files, mln, memory="much")
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(ml.InputError, match="DuckDB"):
        ml.FactFiles({"Friends": tmp_path / "bad.parquet"}, mln)
    with ml.FactFiles(files, mln) as facts, pytest.raises(ml.ArgumentError, match="in memory"):
        ml.count(mln, facts, method="planned")


def test_executors_change_nothing(smokers, executor):
    mln, _, db = smokers
    assert ml.count(mln, db, method="duckdb", executor=executor) == ml.count(mln, db)


def test_threads_that_share_files_take_turns(tmp_path):
    random = Random(3)
    lines = {f"A{random.randrange(60)},A{random.randrange(60)}" for _ in range(700)}
    (tmp_path / "q.csv").write_text("t1,t2\n" + "\n".join(sorted(lines)))
    texts = [
        "Q(x,y) ^ Q(y,z) => Q(x,z)",
        "Q(x,y) ^ Q(y,z) ^ Q(z,w) => Q(w,x)",
        "(EXIST=3 y Q(x,y)) => Q(x,x)",
    ]
    models = [ml.MLN.from_text(f"Q(t,t)\n1 {text}") for text in texts]
    db = ml.Database.from_files({"Q": tmp_path / "q.csv"}, models[0])
    expected = [list(ml.count(model, db)) for model in models]
    with ml.FactFiles({"Q": tmp_path / "q.csv"}, models[0]) as files, ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda number: list(ml.count(models[number % 3], files)), range(30))
        assert list(found) == expected * 10


def both_ways(tmp_path, write, declared="Q(t, t)\n1 Q(x, y) ^ Q(y, z)"):
    """The counts of one file, left on disk and read into memory, or the errors."""
    mln = ml.MLN.from_text(declared)
    found = []
    for read in (ml.FactFiles, ml.Database.from_files):
        try:
            facts = read({"Q": write}, mln)
        except ml.MlnlabError as problem:
            found.append(type(problem))
        else:
            found.append(list(ml.count(mln, facts)))
            if isinstance(facts, ml.FactFiles):
                facts.close()
    return found


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"t1": [1, 2, 3], "t2": [2.0, 3.0, 4.0]}),
        pd.DataFrame({"t1": [0.5, 1.5], "t2": [1.5, 2.5]}),
        pd.DataFrame({"t1": [True, False], "t2": [False, True]}),
        pd.DataFrame({"t1": ["True", "A"], "t2": [True, False]}),
        pd.DataFrame({"t1": [-0.0, 1e15], "t2": [0.0, 2e15]}),
        pd.DataFrame({"t1": np.array([0.1, 0.2], np.float32), "t2": np.array([0.2, 0.1], np.float32)}),
        pd.DataFrame({"t1": [Decimal("1.00"), Decimal("2.50")], "t2": [Decimal("2.50"), Decimal("3.00")]}),
    ],
)
def test_files_and_memory_give_cells_the_same_names(tmp_path, frame):
    frame.to_parquet(tmp_path / "q.parquet")
    on_disk, in_memory = both_ways(tmp_path, tmp_path / "q.parquet")
    assert on_disk == in_memory
    assert on_disk[0] > 0


def test_whole_numbers_with_decimals_belong_to_a_range(tmp_path):
    pd.DataFrame({"t1": [1.0, 2.0], "t2": [2.0, 3.0]}).to_parquet(tmp_path / "q.parquet")
    declared = "t = {1, ..., 5}\nQ(t, t)\n1 Q(x, y) ^ Q(y, z)"
    assert both_ways(tmp_path, tmp_path / "q.parquet", declared) == [[1], [1]]


@pytest.mark.parametrize(
    "text",
    [
        "A\nB,C\nC,D\n",  # the first line is shorter
        "a title\nt1,t2\nA,B\n",
        "t1,t2\nA\n",
        "",
    ],
)
def test_lines_that_do_not_fit_are_refused_by_both(tmp_path, text):
    (tmp_path / "q.csv").write_text(text)
    on_disk, in_memory = both_ways(tmp_path, tmp_path / "q.csv")
    assert isinstance(on_disk, type)
    assert isinstance(in_memory, type)
    assert issubclass(on_disk, ml.MlnlabError)


def test_columns_of_one_name_read_alike(tmp_path):
    (tmp_path / "q.csv").write_text("t,t\nA,B\nB,C\n")
    assert both_ways(tmp_path, tmp_path / "q.csv") == [[1], [1]]


def test_quotes_blank_lines_and_marks_of_order_read_alike(tmp_path):
    (tmp_path / "q.csv").write_text('\ufefft1,t2\n"A, B","say ""hi"""\n\n"say ""hi""",C\n', encoding="utf-8")
    assert both_ways(tmp_path, tmp_path / "q.csv") == [[1], [1]]


def test_kinds_that_name_no_constants_are_refused(tmp_path):
    frame = pd.DataFrame({"t1": pd.to_datetime(["2020-01-01"]), "t2": ["A"]})
    frame.to_parquet(tmp_path / "q.parquet")
    with pytest.raises(ml.InputError, match="TIMESTAMP"):
        ml.FactFiles({"Q": tmp_path / "q.parquet"}, ml.MLN.from_text("Q(t, t)"))


# --- estimates over aggregated tables -------------------------------------------------------------


def test_messages_need_tables_over_shared_variables_only(tmp_path):
    """Two tables of 10^12 cells each would be refused; summed out, they are one of 10^6."""
    mln = ml.MLN.from_text("node = {1, ..., 1000000}\nR(node, node)\nS(node, node)\nR(x, y) => S(y, z)")
    random, files = Random(1), {}
    for name in "RS":
        rows = {(random.randrange(1, 200), random.randrange(1, 200)) for _ in range(400)}
        files[name] = tmp_path / f"{name}.csv"
        files[name].write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows) + "\n")
    with ml.FactFiles(files, mln) as facts:
        exact, found = ml.count(mln, facts), ml.count(mln, facts, method="ijgp", i=1)
    assert found.method == "ijgp"
    assert "aggregated" in found.reason
    assert found[0] == pytest.approx(exact[0], rel=1e-12)
    with pytest.raises(ml.TooLargeError, match="cells"):
        ml.count(mln, ml.Database.from_text("R(1, 2)", mln), method="ijgp", i=1)


def test_estimates_in_files_are_those_of_messages_where_no_variable_stands_alone(tmp_path):
    mln = ml.MLN.from_text("t = {1, ..., 9}\nR(t, t)\nR(x, y) ^ R(y, z) => R(x, z)\nEXIST y R(x, y)\nR(x, 3)")
    random = Random(2)
    rows = {(random.randrange(1, 10), random.randrange(1, 10)) for _ in range(30)}
    file = tmp_path / "r.csv"
    file.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows) + "\n")
    db = ml.Database.from_text("\n".join(f"R({a}, {b})" for a, b in rows), mln)
    with ml.FactFiles({"R": file}, mln) as facts:
        for i in (2, 3):
            found, known = (ml.count(mln, one, method="ijgp", i=i) for one in (facts, db))
            assert list(found) == pytest.approx(list(known), rel=1e-9)
        assert list(found) == list(ml.count(mln, db))
