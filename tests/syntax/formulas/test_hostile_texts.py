"""Random texts from the grammar, mutated texts, junk: never a crash, never a hang, always a position."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark

import mlnlab as ml
from mlnlab.model.mln.writing import statement_text
from mlnlab.syntax.formulas.analysis import analyse
from mlnlab.syntax.formulas.tokens import grammar
from tests.support.shared_data import files, find_folder
from tests.support.thoroughness import examples

_SPACE = st.just(" ")
# Names that are declared below, so that a good part of the drawn texts makes sense.
_TERMINALS = {
    "NAME": st.sampled_from(["P", "Q", "x", "y", "A", "t", "f"]),
    "OR": st.just(" v "),
    "QUANTIFIER": st.sampled_from([" EXIST ", " FORALL ", " ∃"]),
    "NUMBER": st.integers(0, 9).map(str),
    "STRING": st.sampled_from(['"A b"', '"x"', '"\\""']),
    "INCLUDE": st.just('#include "nowhere"'),
    "WHITE": _SPACE,
    "COMMENT": st.just(" // why\n"),
}
DECLARED = "e = {A, B}\nP(e)\nQ(e, e)\ne f(e)\n"


def check(text):
    """The analyser's promises for any text."""
    found = analyse(text, file="f.mln")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if isinstance(text, str) else None
    for problem in found.diagnostics:
        assert problem.message
        assert problem.span.line >= 1
        assert problem.span.column >= 1
        if lines is not None:
            assert problem.span.line <= len(lines)
        str(problem)
    return found


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(
    from_lark(grammar(), start="statement", explicit=_TERMINALS),
    st.sampled_from(["", "1 ", "@2 "]),
    st.sampled_from(["", "."]),
)
def test_statements_drawn_from_the_grammar_read_back_the_same(statement, weight, stop):
    text = DECLARED + weight + statement.replace("\n", " ").replace("//", "/") + stop
    found = check(text)
    if not found.errors:
        for formula in found.formulas:
            again = analyse(DECLARED + statement_text(formula))
            assert not again.errors
            assert formula in again.formulas


@given(st.text(max_size=200))
def test_any_text(text):
    check(text)


@given(st.binary(max_size=300))
def test_any_bytes(data):
    found = analyse(data)
    for problem in found.diagnostics:
        assert problem.span.line >= 1


_SEED = DECLARED + (
    "1.5 P(x) ^ Q(x, y) => P(y)\n-0.3 !(P(x) v Q(x, A)) <=> EXIST y Q(x, y)\nP(f(x)).\n"
    '@2 EXIST<=1 y (Q(x,y) ^ x != y)\n|P| = 1.\n1 Q(+x, "B b")\nlog(3) *P(x) v P(A)\n'
    "/* c */ P(x) :- Q(x,x), [x = A]\n"
)


@st.composite
def mutated(draw, seed):
    text = seed
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["insert", "delete", "double", "swap"]))
        if kind == "insert":
            text = (
                text[:place]
                + draw(
                    st.sampled_from(
                        [
                            *'()[]{}.,!?*+-=<>^v|@:"/#\\\n\r\t &~',
                            "//",
                            "/*",
                            "*/",
                            "=>",
                            "...",
                            "§",
                            "\0",
                            "é",
                            "𝔸",
                        ]
                    )
                )
                + text[place:]
            )
        elif kind == "delete":
            text = text[:place] + text[place + draw(st.integers(1, 8)) :]
        elif kind == "double":
            stop = place + draw(st.integers(1, 20))
            text = text[:stop] + text[place:stop] + text[stop:]
        else:
            other = draw(st.integers(0, len(text)))
            low, high = sorted((place, other))
            text = text[high:] + text[low:high] + text[:low]
    return text


@settings(max_examples=examples(120))
@given(mutated(_SEED))
def test_mutated_models(text):
    check(text)


@pytest.mark.parametrize("path", files("reference", "syntax/*.mln"))
def test_every_prefix_of_every_sample(path):
    text = path.read_text(encoding="utf-8")
    for stop in range(0, len(text), 7):
        check(text[:stop])


JUNK = {
    "a 10 MB line": "1 " + "S(x) v " * 1_450_000 + "S(x)",
    "a 10 MB name": "1 " + "S" * 10_000_000 + "(x)",
    "zero bytes": b"S(p)\0\0\1\2",
    "UTF-16": "S(p)\n1 S(x)".encode("utf-16"),
    "Latin-1": "S(p)\n// M\xfcller\n1 S(x)".encode("latin-1"),
    "a binary": bytes(range(256)) * 40,
    "30 arguments": "P({})\n1 P({})".format(*(", ".join(f"{c}{i}" for i in range(30)) for c in "tx")),
    "100,000 brackets": "(" * 100_000,
    "100,000 closing brackets": ")" * 100_000,
    "100,000 negations": "S(p)\n1 " + "!" * 100_000 + "S(x)",
    "100,000 quantifiers": "S(p)\n1 " + "EXIST x " * 100_000 + "S(x)",
    "100,000 sums": "S(p)\n1 S(" + "x + " * 100_000 + "1)",
    "100,000 equivalences": "S(p)\n1 " + "S(x) <=> " * 100_000 + "S(x)",
    "100,000 open comments": "/*" * 100_000,
    "quotes": '"' * 99_999,
    "backslashes in quotes": '1 S("' + "\\" * 50_001 + '")',
    "hash marks": "#" * 10_000,
    "only white space": " \t\f\r\n" * 1000,
    "nothing": "",
    "lone carriage returns": "S(p)\r1 S(x)\r2 T(x)",
    "a byte order mark": "\ufeffS(p)\n1 S(x)".encode(),
}


@pytest.mark.parametrize("text", JUNK.values(), ids=JUNK)
def test_junk_gets_a_sentence(text):
    found = check(text)
    for problem in found.diagnostics:
        assert len(str(problem)) < 3000


def test_nine_megabytes_are_no_model():
    (problem,) = analyse("//" + "x" * (9 << 20)).errors
    assert problem.message == "a model of more than 8 MiB; data belong in a fact file"


def test_thirty_arguments_work():
    found = analyse(JUNK["30 arguments"])
    assert not found.diagnostics
    assert found.vocabulary["P"].arity == 30


def test_latin_1_is_named_with_its_place():
    (problem,) = analyse(JUNK["Latin-1"]).errors
    assert (problem.code, problem.span.line, problem.span.column) == ("not-utf-8", 2, 5)
    assert "ü" in problem.repair


@pytest.mark.parametrize("make", [lambda p: p.mkdir() or p, lambda p: p / "missing.mln", lambda p: "\0"])
def test_paths_that_are_no_files_get_a_sentence(tmp_path, make):
    with pytest.raises(ml.InputError, match=r"folder|no file|cannot be read"):
        ml.load(make(tmp_path / "x"))


def test_an_empty_file_is_an_empty_model(tmp_path):
    (tmp_path / "empty.mln").write_text("")
    assert ml.load(tmp_path / "empty.mln").formulas == ()


def test_hostile_names_stay_names():
    for name in ["<script>alert(1)</script>", r"$\frac{1}{2}$", "a'b\"c", "\u202e", "x" * 10_000]:
        mln = ml.MLN.from_formulas([(1.0, ml.Predicate("P", ("thing",))(name))])
        assert ml.MLN.from_text(mln.to_text()) == mln


def test_words_of_python_are_only_names():
    assert set(string.ascii_lowercase)
    mln = ml.MLN.from_text("lambda(import)\n1 lambda(class)")
    assert mln.formulas[0].formula.predicate == "lambda"


def test_reference_is_where_it_should_be():
    assert find_folder("reference") is None or (find_folder("reference") / "syntax").is_dir()
