"""What each feature of the language means, as formulas and vocabulary."""

import math

import pytest

import mlnlab as ml
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
)
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn
from mlnlab.logic.vocabulary import NamedDomain, Predicate, RangeDomain

DECLARED = """
person = {Anna, Bob, "Anna Lee"}
time = {1,...,5}
Smokes(person)
Cancer(person)
Friends(person, person)
On(time)
Off(time)
Rain()
person MotherOf(person)
"""
p, x, y, z = (Variable(name, "person") for name in "pxyz")
t = Variable("t", "time")


def S(term):  # noqa: N802 - a predicate
    return Atom("Smokes", (term,))


def C(term):  # noqa: N802
    return Atom("Cancer", (term,))


def F(one, other):  # noqa: N802
    return Atom("Friends", (one, other))


def read(text):
    mln = ml.MLN.from_text(DECLARED + text)
    assert len(mln.formulas) == 1
    return mln.formulas[0]


FORMULAS = {
    "Smokes(x) => Cancer(x)": Implies(S(x), C(x)),
    "Smokes(x) ⇒ Cancer(x)": Implies(S(x), C(x)),
    "Cancer(x) :- Smokes(x)": Implies(S(x), C(x)),
    "Cancer(y) :- Smokes(x), Friends(x,y)": Implies(And((S(x), F(x, y))), C(y)),
    "Smokes(x), Friends(x,y) => Cancer(y)": Implies(And((S(x), F(x, y))), C(y)),
    "Smokes(x) <=> Cancer(x)": Iff(S(x), C(x)),
    "Smokes(x) ^ Cancer(x) ^ Smokes(y)": And((S(x), C(x), S(y))),
    "Smokes(x) ∧ ¬Cancer(x) ∨ Smokes(y)": Or((And((S(x), Not(C(x)))), S(y))),
    "Smokes(x) v Cancer(x) ^ Smokes(y)": Or((S(x), And((C(x), S(y))))),
    "Smokes(v) v Cancer(v)": Or((S(Variable("v", "person")), C(Variable("v", "person")))),
    "!Smokes(x) v Cancer(x) => Smokes(y)": Implies(Or((Not(S(x)), C(x))), S(y)),
    "Smokes(x) => Cancer(x) => Smokes(y)": Implies(S(x), Implies(C(x), S(y))),
    "Smokes(x) => Cancer(x) <=> Smokes(y)": Iff(Implies(S(x), C(x)), S(y)),
    "!(Smokes(x) ^ Cancer(x))": Not(And((S(x), C(x)))),
    "!Smokes(x) ^ Cancer(x)": And((Not(S(x)), C(x))),
    "!!Smokes(x)": Not(Not(S(x))),
    "EXIST y Friends(x,y)": Exists((y,), F(x, y)),
    "exist y Friends(x,y) ^ Smokes(y)": Exists((y,), And((F(x, y), S(y)))),
    "Smokes(x) => EXISTS y Friends(x,y)": Implies(S(x), Exists((y,), F(x, y))),
    "Forall x (EXIST y,z (Friends(y,z) ^ Friends(x,y)))": ForAll(
        (x,), Exists((y, z), And((F(y, z), F(x, y))))
    ),
    "∀x ∃y Friends(x,y)": ForAll((x,), Exists((y,), F(x, y))),
    "EXIST=1 y Friends(x,y)": CountingExists("=", 1, (y,), F(x, y)),
    "EXIST<=2 y Friends(x,y)": CountingExists("<=", 2, (y,), F(x, y)),
    "∃≥2 y Friends(x,y)": CountingExists(">=", 2, (y,), F(x, y)),
    "|Smokes| = 3": Cardinality("Smokes", ("person",), "=", 3),
    "|Friends| >= 3 => Smokes(x)": Implies(Cardinality("Friends", ("person", "person"), ">=", 3), S(x)),
    "x = y ^ Friends(x,y)": And((Equality(x, y), F(x, y))),
    "Friends(x,y) ^ x != y => Cancer(x)": Implies(And((F(x, y), Not(Equality(x, y)))), C(x)),
    "Friends(x,y), [x != y] => Cancer(x)": Implies(And((F(x, y), Not(Equality(x, y)))), C(x)),
    "Friends(x,y) ^ !(x = y) => Cancer(x)": Implies(And((F(x, y), Not(Equality(x, y)))), C(x)),
    "x ≠ Anna => Smokes(x)": Implies(Not(Equality(x, Constant("Anna", "person"))), S(x)),
    'Cancer("Anna Lee")': C(Constant("Anna Lee", "person")),
    "Friends(Anna, x)": F(Constant("Anna", "person"), x),
    "On(t) ^ t < 3 => Off(t)": Implies(
        And((Atom("On", (t,)), Comparison("<", t, Constant("3")))), Atom("Off", (t,))
    ),
    "On(t) => t > 0": Implies(Atom("On", (t,)), Comparison(">", t, Constant("0"))),
    "On(t) ^ greaterThan(t, 2)": And((Atom("On", (t,)), Comparison(">", t, Constant("2")))),
    "On(t) => Off(t+1)": Implies(Atom("On", (t,)), Atom("Off", (Arithmetic("+", t, Constant("1")),))),
    "On(t) => Off(t++)": Implies(Atom("On", (t,)), Atom("Off", (Arithmetic("+", t, Constant("1")),))),
    "On(t) => Off(2 * t - 1)": Implies(
        Atom("On", (t,)),
        Atom("Off", (Arithmetic("-", Arithmetic("*", Constant("2"), t), Constant("1")),)),
    ),
    "Rain() => Smokes(x)": Implies(Atom("Rain", ()), S(x)),
    "MotherOf(x) = y": Atom("MotherOf", (x, y)),
    "MotherOf(x) != Anna": Not(Atom("MotherOf", (x, Constant("Anna", "person")))),
    "Smokes(x) => Cancer(MotherOf(x))": ForAll(
        (p,), Implies(Atom("MotherOf", (x, p)), Implies(S(x), C(p)))
    ),
    "EXIST x Smokes(MotherOf(x))": Exists(
        (x,),
        ForAll((p,), Implies(Atom("MotherOf", (x, p)), S(p))),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "formula"), FORMULAS.items(), ids=FORMULAS)
def test_a_formula_means(text, formula):
    assert read(f"1 {text}").formula == formula


WEIGHTS = {
    "1.5 {}": Soft(1.5),
    "-0.3 {}": Soft(-0.3),
    "+2 {}": Soft(2.0),
    "-1.5e-1 {}": Soft(-0.15),
    ".5 {}": Soft(0.5),
    "1.5: {}": Soft(1.5),
    "log(3) {}": Soft(math.log(3)),
    "-log(0.3/0.7) {}": Soft(-math.log(0.3 / 0.7)),
    "logit(0.25) {}": Soft(math.log(0.25 / 0.75)),
    "ln(2*3-1) {}": Soft(math.log(5)),
    "1.5\n  {}": Soft(1.5),
    "@2 {}": Fixed(2.0),
    "@-2.5 {}": Fixed(-2.5),
    "#fixweight 2 {}": Fixed(2.0),
    "w: {}": ToLearn(),
    "{}": ToLearn(),
    "{}.": Hard(),
    "{} .": Hard(),
}

UNWEIGHTED = ["3 - t < 2 => On(t).", "(3 - 1 < t => On(t)).", "3 - 1 < t => On(t)."]


@pytest.mark.parametrize("text", UNWEIGHTED)
def test_a_number_in_front_may_belong_to_the_formula(text):
    assert read(text).weight == Hard()
    assert read("2 -1 < t => On(t)").weight == Soft(2.0)


@pytest.mark.parametrize(("text", "weight"), WEIGHTS.items(), ids=WEIGHTS)
def test_a_weight_means(text, weight):
    found = read(text.format("Smokes(x) => Cancer(x)"))
    assert found.weight == weight
    assert found.formula == Implies(S(x), C(x))


def test_marks_for_one_weight_per_constant_and_both_signs():
    assert read("1 Smokes(+x) => Cancer(x)").per_constant == ("x",)
    # Tuffy's variable weight: one weight for each value of x.
    assert read("x: Smokes(x) => Cancer(x)").per_constant == ("x",)
    assert read("1 *Smokes(x) v Cancer(x)").both_signs == (S(x),)


OVER_LINES = [
    "1 Smokes(x)\n  => Cancer(x)",
    "1 Smokes(x) =>\n// why\nCancer(x)",
    "1 Smokes(x) /* a\nb */ => Cancer(x)",
    "1 Smokes(x)\r\n => Cancer(x)\r\n",
    "1 Smokes(x)\n\tv\tCancer(x)",
]


@pytest.mark.parametrize("text", OVER_LINES)
def test_formulas_go_on_over_lines(text):
    assert isinstance(read(text).formula, Implies | Or)


def test_declarations():
    text = """
    person = {Anna, O'Neil, Mary-Jo, "Anna Lee", "O\\"Hara", lower}
    time = {0, ..., 551}
    degrees = {-3,...,3}
    *Friends(person, person)
    Likes(person, colour!)
    Owns(person, thing?)
    person MotherOf(person)
    Rain()
    """
    vocabulary = ml.MLN.from_text(text).vocabulary
    assert vocabulary.types["person"] == NamedDomain(
        ("Anna", "O'Neil", "Mary-Jo", "Anna Lee", 'O"Hara', "lower"), is_listed=True
    )
    assert vocabulary.types["time"] == RangeDomain(0, 551)
    assert list(vocabulary.types["degrees"]) == ["-3", "-2", "-1", "0", "1", "2", "3"]
    assert vocabulary["Friends"] == Predicate("Friends", ("person", "person"), closed=True)
    assert vocabulary["Likes"] == Predicate("Likes", ("person", "colour"), (1,))
    assert vocabulary["Owns"] == Predicate("Owns", ("person", "thing"), (1,), at_most_one=True)
    assert vocabulary["MotherOf"] == Predicate("MotherOf", ("person", "person"), (1,), function=True)
    assert vocabulary["Rain"] == Predicate("Rain", ())


def test_a_lone_atom_declares_only_a_new_predicate():
    mln = ml.MLN.from_text("Smokes(person)\nSmokes(x)\n1 Smokes(y)")
    assert len(mln.vocabulary.predicates) == 1
    assert [f.weight for f in mln.formulas] == [ToLearn(), Soft(1.0)]
    assert ml.MLN.from_text("1 Smokes(x)\nSmokes(person)").formulas[0].formula == S(x)


def test_constants_of_formulas_join_their_types():
    mln = ml.MLN.from_text("Level(course, level)\n1 Level(c, L500)\n1 Level(Algebra, l)")
    assert tuple(mln.vocabulary.domain("level")) == ("L500",)
    assert tuple(mln.vocabulary.domain("course")) == ("Algebra",)


def test_two_quantifiers_may_use_one_name_for_two_types():
    mln = ml.MLN.from_text("A(person)\nB(time)\n1 (EXIST x A(x)) ^ (EXIST x B(x))")
    first, second = mln.formulas[0].formula.operands
    assert first.variables[0].type == "person"
    assert second.variables[0].type == "time"


def test_includes_are_read_in_place(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.mln").write_text("Smokes(person)\n")
    (tmp_path / "inner" / "a.mln").write_text('#include "b.mln"\n1 Smokes(x)\n')
    (tmp_path / "main.mln").write_text('#include "inner/a.mln"\n2 !Smokes(x)\n')
    assert ml.load(tmp_path / "main.mln").weights == [1, 2]


def test_expansion_writes_marks_out():
    mln = ml.MLN.from_text("person = {A, B}\nS(person)\nC(person)\n1 S(+x) => C(x)\n2 *S(x) v *C(x)\n3 S(x)")
    expanded = mln.expand()
    assert expanded.weights == [1, 1, 2, 2, 2, 2, 3]
    texts = [line for line in expanded.to_text().splitlines() if line[:1].isdigit()]
    assert texts[:2] == ["1.0 S(A) => C(A)", "1.0 S(B) => C(B)"]
    assert texts[2:6] == ["2.0 S(x) v C(x)", "2.0 S(x) v !C(x)", "2.0 !S(x) v C(x)", "2.0 !S(x) v !C(x)"]


def test_alchemy_splits_a_formula_and_its_weight():
    text = "S(p)\nF(p,p)\n1.1 F(x,y) => (S(x) <=> S(y))\n2 S(x) => F(x,x)"
    expanded = ml.MLN.from_text(text, semantics="alchemy").expand()
    assert expanded.weights == [0.55, 0.55, 2]
    assert ml.MLN.from_text(text).expand().weights == [1.1, 2]


def test_only_quotes_and_backslashes_are_escaped():
    mln = ml.MLN.from_text(r"S(p)" + "\n" + r'1 S("$\frac{1}{2}$") ^ S("C:\temp") ^ S("a\"b\\c")')
    assert tuple(mln.vocabulary.domain("p")) == (r"$\frac{1}{2}$", r"C:\temp", 'a"b\\c')
    assert ml.MLN.from_text(mln.to_text()) == mln
    for name in mln.vocabulary.domain("p"):
        atom = str(ml.Database.from_text("", mln).with_atoms({}).vocabulary["S"](name))
        assert ml.Database.from_text(atom, mln).domain("p") == tuple(mln.vocabulary.domain("p"))


def test_wide_formulas_are_not_deep():
    clause = " v ".join(f"!S(x{i})" for i in range(300))
    mln = ml.MLN.from_text(f"S(p)\n1 {clause}\nt = {{{', '.join(f'-{i}' for i in range(300))}}}\nOn(t)")
    assert len(mln.formulas[0].formula.operands) == 300


def test_a_blank_behind_a_star_is_no_mark():
    for text in ["log(3) * S(x)", "2 * S(x)"]:
        assert [d.code for d in ml.check(f"S(p)\n{text}") if d.severity == "error"] == ["loose-star"]
