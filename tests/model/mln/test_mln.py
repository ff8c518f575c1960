"""Models: building in Python, changing, comparing, expanding."""

import pickle

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import FormulaHint
from mlnlab.logic.formulas.formulas import Atom, Constant, Implies, Variable
from mlnlab.logic.vocabulary import NamedDomain, SizedDomain

TEXT = """
person = {Anna, Bob}
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
@0.5 Friends(x, y) ^ Smokes(x) => Smokes(y)
Friends(x, y) => Friends(y, x).
!Smokes(x)
"""


@pytest.fixture
def mln():
    return ml.MLN.from_text(TEXT)


def test_text_and_python_build_the_same_model(mln):
    Smokes, Cancer, Friends = ml.predicates("Smokes(person), Cancer(person), Friends(person, person)")
    x, y = ml.variables("x y")
    built = ml.MLN.from_formulas(
        [
            (1.5, Smokes(x) >> Cancer(x)),
            (ml.Fixed(0.5), (Friends(x, y) & Smokes(x)) >> Smokes(y)),
            (ml.Hard(), Friends(x, y).implies(Friends(y, x))),
            (None, ~Smokes(x)),
        ],
        predicates=[Smokes, Cancer, Friends],
    )
    assert built.formulas == mln.formulas
    assert built.vocabulary.predicates == mln.vocabulary.predicates


def test_python_gives_every_constructor_of_the_language():
    (On,) = ml.predicates("On(time)")
    (Friends,) = ml.predicates("Friends(person, person)")
    t, x, y = ml.variables("t x y")
    cases = {
        "On(t) ^ t < 3 => On(t + 1)": (On(t) & (t < 3)) >> On(t + 1),
        "On(2 * t) v t >= 2": On(2 * t) | (t >= 2),
        "Friends(x, y) ^ x != y": Friends(x, y) & x.differs(y),
        "EXIST y Friends(x, y)": ml.exists(y, Friends(x, y)),
        "FORALL x,y (Friends(x, y) <=> Friends(y, x))": ml.for_all((x, y), Friends(x, y).iff(Friends(y, x))),
        'Friends("anna", x)': Friends("anna", x),
    }  # fmt: skip
    base = ml.MLN.from_text("time = {1,...,5}\nOn(time)\nFriends(person, person)")
    for text, formula in cases.items():
        assert base.add(formula, 1.0).formulas == base.add(f"1.0 {text}").formulas


@pytest.mark.parametrize("build", [lambda S, C, x: S(x) & C(x) >> C(x), lambda S, C, x: S(x) >> C(x) & S(x)])
def test_forgotten_parentheses_get_a_hint(build):
    Smokes, Cancer = ml.predicates("Smokes(person), Cancer(person)")
    with pytest.warns(FormulaHint, match=">> binds tighter"):
        build(Smokes, Cancer, Variable("x"))


def test_building_wrongly_gets_a_sentence(mln):
    Smokes = mln["Smokes"]
    x, big = ml.variables("x X")
    for wrong, words in {
        lambda: Smokes(x, x): "takes 1 argument, but 2 arguments were given",
        lambda: Smokes(1.5): "A term must be a variable",
        lambda: Smokes(x) and Smokes(x): "no truth value",
        lambda: Smokes(x) & "Cancer(x)": "joins two formulas",
        lambda: mln["Smoke"]: "did you mean Smokes",
        lambda: mln[0]: "by name, such as 'Smokes', not by 0",
        lambda: ml.Database.from_text("", mln)[0]: "by name",
        lambda: mln.add(Smokes(big), 1): "begins with a small letter",
        lambda: mln.add(Atom("Hates", (Variable("x", "person"),)), 1): "no predicate Hates",
        lambda: mln.add(Atom("Smokes", (Variable("x", "movie"),)), 1): "gets a movie",
        lambda: mln.add(Variable("z").equals(Variable("w")), 1): "type of z cannot be told",
        lambda: mln.add(Smokes(x), float("inf")): "finite number",
        lambda: mln.add(Smokes(x), "1"): "A weight must be a number",
        lambda: mln.add("1 Smokes(x)", 2): "brings its own weight",
        lambda: mln.add(Smokes("two\nlines"), 1): "one line of text",
        lambda: mln.add(Smokes(x), 1, per_constant=["y"]): "not a free variable",
        lambda: ml.MLN.from_formulas([], predicates=[ml.Predicate("two words", ("person",))]): "one word",
        lambda: ml.MLN.from_text(TEXT, semantics="tuffy"): 'semantics is "textbook" or "alchemy"',
        lambda: ml.no_such_thing: "has no no_such_thing",
        lambda: ml.Databse: "did you mean Database",
    }.items():
        with pytest.raises((ml.MlnlabError, AttributeError), match=words.replace("(", r"\(")):
            wrong()


def test_going_through_a_model_or_a_database_is_refused_as_python_does(mln):
    for thing in (mln, ml.Database.from_text("", mln)):
        with pytest.raises(TypeError, match="not iterable"):
            list(thing)


def test_weights_in_order_and_changed(mln):
    assert mln.weights == [1.5, 0.5, None, None]
    changed = mln.with_weights([2, 3, None, 4])
    assert changed.weights == [2, 3, None, 4]
    assert isinstance(changed.formulas[1].weight, ml.Fixed)
    assert isinstance(changed.formulas[2].weight, ml.Hard)
    with pytest.raises(ml.ArgumentError, match="3 weights were given for 4"):
        mln.with_weights([1, 2, 3])
    with pytest.raises(ml.ArgumentError, match="is hard"):
        mln.with_weights([1, 2, 3, 4])


def test_formulas_come_and_go(mln):
    more = mln.add("2 EXIST y Friends(x, y)").add("-1 Smokes(Carl)")
    assert more.vocabulary.domain("person") == NamedDomain(("Anna", "Bob", "Carl"), is_listed=True)
    assert len(more.formulas) == 6
    assert more.without(5, 4).formulas == mln.formulas
    assert more.without("EXIST y Friends(x, y)", -1).formulas == mln.formulas
    with pytest.raises(ml.ArgumentError, match="no formula"):
        mln.without("Cancer(x)")
    with pytest.raises(ml.ArgumentError, match="no formula 9"):
        mln.without(9)


def test_a_difference_lists_what_changed(mln):
    other = mln.with_weights([2, 0.5, None, None]).without(3).add("0.3 Cancer(x)").add("Rich(person)")
    changes = str(mln.diff(other)).splitlines()
    assert changes == [
        "+ Rich(person)",
        "+ Cancer(x): 0.3",
        "- !Smokes(x): to be learned",
        "~ Smokes(x) => Cancer(x): 1.5 -> 2",
    ]
    assert not mln.diff(mln)
    assert str(mln.diff(mln)) == "no difference"


def test_models_and_databases_travel_between_processes(mln):
    db = ml.Database.from_text("Smokes(Anna)\n0.3 Smokes(Bob)", mln)
    assert pickle.loads(pickle.dumps(mln)) == mln
    assert pickle.loads(pickle.dumps(db)).to_text() == db.to_text()
    with pytest.raises(ml.InputError) as caught:
        ml.MLN.from_text("1 S(x)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == caught.value.diagnostics


def test_sizes_make_up_constants(mln):
    assert mln.expand({"person": 4}).vocabulary.domain("person").names == (
        "Anna",
        "Bob",
        "Person1",
        "Person2",
    )
    bare = ml.MLN.from_text("Smokes(person)\n1 Smokes(x)")
    assert bare.expand({"person": 30_000}).vocabulary.domain("person") == SizedDomain("Person", 30_000)
    for type_, size, words in [
        ("person", 1, "more than the size"),
        ("person", -1, "whole number"),
        ("persn", 3, r"did you mean person\?$"),
    ]:
        with pytest.raises(ml.ArgumentError, match=words):
            mln.expand({type_: size})


def test_marks_can_be_given_in_python(mln):
    Smokes, Cancer = mln["Smokes"], mln["Cancer"]
    x = Variable("x")
    marked = mln.add(Smokes(x) >> Cancer(x), 1.0, per_constant=["x"], both_signs=[Cancer(x)])
    assert marked.to_text().splitlines()[-1] == "1.0 Smokes(+x) => *Cancer(+x)"
    assert len(marked.expand().formulas) == 4 + 4
    assert ml.MLN.from_text(marked.to_text()) == marked


def test_expansion_is_estimated_first():
    mln = ml.MLN.from_text("P(e, e, e)\n1 P(+x, +y, +z)")
    with pytest.raises(ml.TooLargeError, match="1,000,000,000 formulas"):
        mln.expand({"e": 1000})
    with pytest.raises(ml.ArgumentError, match="there is none"):
        mln.expand()


def test_parsing_a_formula_of_the_model(mln):
    x = Variable("x", "person")
    assert mln.parse("Smokes(x) => Cancer(x)") == Implies(Atom("Smokes", (x,)), Atom("Cancer", (x,)))
    assert mln.parse("Smokes(Anna)") == Atom("Smokes", (Constant("Anna", "person"),))
    with pytest.raises(ml.InputError, match="not a formula of this model"):
        mln.parse("Smoke(x)")
    with pytest.raises(ml.ArgumentError, match="One formula is needed"):
        mln.parse("Smokes(x)\nCancer(x)")


def test_the_vocabulary_of_a_database_must_fit(mln):
    other = ml.Database.from_text("Smokes(A, B)", ml.MLN.from_text("Smokes(person, person)"))
    with pytest.raises(ml.ArgumentError, match="The database declares"):
        mln.expand(other)
    with pytest.raises(ml.ArgumentError, match="A database or sizes"):
        mln.expand(5)


def test_save_and_load(mln, tmp_path):
    mln.save(tmp_path / "m.mln")
    assert ml.load(tmp_path / "m.mln") == mln
    with pytest.raises(ml.InputError, match="cannot be written"):
        mln.save(tmp_path / "no" / "folder.mln")


def test_plus_keeps_calculations_within_their_type():
    plain = ml.MLN.from_text("t = {1,...,3}\nOn(t)\n1 On(t) => On(t+1)")
    marked = ml.MLN.from_text("t = {1,...,3}\nOn(t)\n1 On(+t) => On(t+1)")
    assert len(marked.expand().formulas) == 2
    assert ml.log_z(marked).value == pytest.approx(ml.log_z(plain).value)


def test_each_quantifier_has_names_of_its_own_in_python_too():
    base = ml.MLN.from_text("S(p)\nB(d)")
    S, B = base["S"], base["B"]
    (x,) = ml.variables("x")
    both = base.add(ml.exists(x, S(x)) & ml.exists(x, B(x)), 1.0)
    assert ml.MLN.from_text(both.to_text()) == both
    assert ml.log_z(both, {"p": 2, "d": 2}).value == pytest.approx(np.log(7 + 9 * np.e))
    with pytest.raises(ml.ArgumentError, match="x is a d in one place and a p in another"):
        base.add(S(x) & B(x), 1.0)


def test_sizes_of_types_of_numbers_are_ranges():
    mln = ml.MLN.from_text("On(time)\n1 On(t) => On(t+1)")
    assert ml.log_z(mln, {"time": 3}).value == pytest.approx(
        ml.log_z(ml.MLN.from_text("time = {1,...,3}\n" + mln.to_text())).value
    )
    longer = ml.MLN.from_text("t = {1,...,3}\nOn(t)\n1 On(t) => On(t+1)").expand({"t": 5})
    assert tuple(longer.vocabulary.domain("t")) == ("1", "2", "3", "4", "5")


def test_what_text_cannot_say_is_refused_in_python():
    (Smokes,) = ml.predicates("Smokes(person)")
    x = Variable("x")
    deep = Smokes(x)
    for _ in range(3000):
        deep = Smokes(x).implies(deep)
    for wrong, words in {
        lambda: ml.MLN.from_formulas([(1.0, deep)]): "nested more than 100",
        lambda: ml.MLN.from_formulas([Smokes(x)]): "Pairs of a weight and a formula",
        lambda: ml.MLN.from_formulas([(1.0, "Smokes(x)")]): "A formula is needed",
        lambda: ml.MLN.from_formulas([(True, Smokes(x))]): "A weight must be a number",
        lambda: ml.MLN.from_formulas([(1.0, ml.Predicate("v", ("person",))(x))]): "not v",
        lambda: ml.MLN.from_text(None): "A text is needed",
        lambda: ml.load(None): "path of a file",
    }.items():
        with pytest.raises(ml.MlnlabError, match=words):
            wrong()


def test_numbers_of_numpy_are_numbers():
    mln = ml.MLN.from_text("S(p)\n1 S(x)\n2 S(x) ^ S(y)")
    assert mln.with_weights([np.float32(0.5), np.int64(2)]).weights == [0.5, 2.0]
    assert len(mln.expand({"p": np.int64(3)}).vocabulary.domain("p")) == 3
    assert mln.with_weights([ml.Fixed(2.0), 1]).formulas[0].weight == ml.Fixed(2.0)
    with pytest.raises(ml.ArgumentError, match="A weight must be a number"):
        mln.with_weights(["1", 2])


def test_a_difference_sees_domains_and_semantics(mln):
    other = ml.MLN.from_text(TEXT.replace("{Anna, Bob}", "{Anna, Bob, Carl}"), semantics="alchemy")
    assert str(mln.diff(other)).splitlines() == [
        "~ semantics: textbook -> alchemy",
        "~ person: 2 -> 3 constants",
    ]


def test_constants_that_no_formula_mentions_any_more_are_kept():
    mln = ml.MLN.from_text("S(p)\n1 S(Anna)\n2 S(x)").without(0)
    assert tuple(ml.MLN.from_text(mln.to_text()).vocabulary.domain("p")) == ("Anna",)


def test_numbers_from_a_database_stay_a_range_where_the_model_has_others():
    other = ml.MLN.from_text("P(n)\nn = {1, ..., 3}")
    own = ml.MLN.from_text("P(n)\nn = {7}\n1 P(x)")
    assert list(ml.count(own, ml.Database.from_text("P(2)", other))) == [1]
