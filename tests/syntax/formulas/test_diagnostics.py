"""Errors are the interface: each has its place, what was expected and a repair; all come in one pass."""

import pytest

import mlnlab as ml
from mlnlab.errors import Severity
from mlnlab.syntax.formulas import declarations, statements
from mlnlab.syntax.formulas.analysis import analyse

DECLARED = """person = {Anna, Bob}
colour = {Red, Green}
time = {1,...,5}
Smokes(person)
Cancer(person)
Friends(person, person)
Likes(person, colour!)
On(time)
person MotherOf(person)
"""
LINES = DECLARED.count("\n")

# text: code, column, the culprit that the caret marks, what the message or repair says
ERRORS = {
    "1 Smoke(x) => Cancer(x)": ("unknown-predicate", 3, "Smoke", "did you mean Smokes"),
    "1 smokes(x)": ("unknown-predicate", 3, "smokes", "Smokes"),
    "1 Smokes(x, y)": ("wrong-arity", 3, "Smokes(x, y)", "takes 1 argument, not 2"),
    "1 Likes(x, y) ^ Smokes(y)": ("type-clash", 24, "y", "y is a colour (line 10)"),
    "1 Likes(x, y) ^ x = y": ("type-clash", 17, "x = y", "never be equal"),
    "1 Likes(x, Anna)": ("wrong-type", 12, "Anna", "Anna is a person; a colour is expected"),
    "1 EXIST x Smokes(+x)": ("unbound-plus", 19, "x", "quantifier binds"),
    "1 Smokes(+Anna)": ("unbound-plus", 11, "Anna", "constant"),
    "1 (Smokes(x) => Cancer(x)": ("unclosed-bracket", 3, "(", "never closed"),
    "1 Smokes(x => Cancer(x)": ("unclosed-bracket", 9, "(", "never closed"),
    "1 Smokes(x)) => Cancer(x)": ("unmatched-bracket", 12, ")", "closes nothing"),
    "1.5 Smokes(x) => Cancer(x).": ("weight-and-full-stop", 27, ".", "not both"),
    "1 Smokes(x) && Cancer(x)": ("foreign-symbol", 13, "&&", "^ for and"),
    "1 Smokes(x) -> Cancer(x)": ("foreign-symbol", 13, "->", "=>"),
    "1 ~Smokes(x)": ("foreign-symbol", 3, "~", "! for not"),
    "1 Smokes(x) | Cancer(x)": ("unexpected-symbol", 13, "|", "v for or"),
    "1 Smokes(x) V Cancer(x)": ("unexpected-symbol", 13, "V", "small v"),
    "1 Smokes(x) and Cancer(x)": ("unexpected-symbol", 13, "and", "^ for and"),
    "1 not Smokes(x)": ("unexpected-symbol", 3, "not Smokes", "! for not"),
    "1 Smokes(x) Cancer(x)": ("unexpected-symbol", 13, "Cancer", "a connective between"),
    "1 Friends(x y)": ("unexpected-symbol", 13, "y", "a comma between arguments"),
    "1 1 Smokes(x)": ("unexpected-symbol", 5, "Smokes", "connective"),
    "1 Smokes(x) =>": ("unfinished-formula", 14, ">", "ends too early"),
    "1 Smokes(x) ^": ("unfinished-formula", 13, "^", "an atom such as P(x)"),
    "nan Smokes(x)": ("bad-weight", 1, "nan", "finite"),
    "-inf Smokes(x)": ("bad-weight", 1, "-inf", "full stop"),
    "1e999 Smokes(x)": ("bad-weight", 1, "1e999", "finite"),
    "log(0) Smokes(x)": ("bad-weight", 1, "log(0)", "finite"),
    ": Smokes(x)": ("unexpected-symbol", 1, ":", "cannot stand here"),
    "@": ("bad-weight", 1, "@", "number must follow"),
    "@x Smokes(x)": ("bad-weight", 1, "@", "number must follow"),
    "1 On(7)": ("constant-outside-range", 6, "7", "from 1 to 5"),
    "1 On(Anna)": ("constant-outside-range", 6, "Anna", "from 1 to 5"),
    "1 Smokes(x + 1)": ("not-a-number", 10, "x + 1", "Anna is not a number"),
    "1 Smokes(x) ^ x < Bob": ("not-a-number", 15, "x < Bob", "whole numbers"),
    "1 x = y => Smokes(z)": ("unknown-type", 3, "x", "no atom contains it"),
    "1 EXIST z Smokes(x)": ("unknown-type", 9, "z", "nothing under this quantifier"),
    "1 Smokes(FatherOf(x))": ("unknown-function", 10, "FatherOf", "MotherOf"),
    "1 Smokes(MotherOf(x, y))": ("wrong-arity", 10, "MotherOf(x, y)", "takes 1 argument, not 2"),
    "1 MotherOf(x)": ("function-as-formula", 3, "MotherOf(x)", "gives a value"),
    "1 Smokes(Cancer(x))": ("formula-as-term", 10, "Cancer", "cannot be an argument"),
    "1 Smokes": ("not-a-formula", 3, "Smokes", "Smokes is not a complete formula: a predicate needs its"),
    "Likes(person, colour)": ("declared-again", 1, "Likes(person, colour)", "declared differently"),
    "1 On(t) ^ On(t-s)": ("hyphenated-variable", 14, "t-s", "t - s"),
    "1 On(t ** 2)": ("unexpected-symbol", 8, "**", "no operator **"),
    "1 x + 1": ("not-a-formula", 3, "x + 1", "a term, not a formula"),
    "3": ("not-a-formula", 1, "3", "3 is not a complete formula"),
    "1 Friends(x, y!)": ("mark-in-formula", 14, "y!", "belong to declarations"),
    "1 Smokes(x = y)": ("unexpected-symbol", 12, "=", "a comma or )"),
    "1 EXIST Anna Smokes(Anna)": ("constant-quantified", 9, "Anna", "small letter"),
    "1 EXIST=1.5 y Friends(x,y)": ("bad-number", 9, "1.5", "whole number"),
    "1 FORALL=1 y Friends(x,y)": ("counted-forall", 3, "FORALL", "only EXIST"),
    "|Smoke| = 3.": ("unknown-predicate", 2, "Smoke", "Smokes"),
    "P(Smokes(x)) = 0.3": ("probability-constraint", 1, "P(Smokes(x)) = 0.3", "log(p/(1-p))"),
    '#include "functions.cpp"': ("linked-in-code", 1, '#include "functions.cpp"', "C++"),
    '#include "nowhere.mln"': ("missing-include", 1, '#include "nowhere.mln"', "no file"),
    '1 Smokes("Anna)': ("unclosed-quote", 10, '"Anna)', "never closed"),
    "/* Smokes(x)": ("unclosed-comment", 1, "/*", "never closed"),
    "1 Smokes(x) § Cancer(x)": ("unreadable-character", 13, "§", "cannot stand here"),
    "1 Smokes(x) \x07 Cancer(x)": ("unreadable-character", 13, "�", "U+0007"),
    "Friends(person, colour)": ("declared-again", 1, "Friends(person, colour)", "declared differently"),
    "Owns(person, 3)": ("bad-declaration", 1, "Owns(person, 3)", "Owns(type, type, ...)"),
    "size = {9,...,1}": ("empty-domain", 1, "size = {9,...,1}", "{1,...,9}"),
    "size = {A,...,B}": ("bad-range", 1, "size = {A,...,B}", "{1,...,5}"),
    "1 person = {Carl}": ("list-in-formula", 3, "person = {Carl}", "alone in a statement"),
    ".": ("stray-full-stop", 1, ".", "without a formula"),
    "1 " + "(" * 200 + "Smokes(x)" + ")" * 200: ("too-deep", 3, "(", "100 levels"),
    "1 " + "!" * 200 + "Smokes(x)": ("too-deep", 3, "!", "100 levels"),
    "1 " + "Smokes(x) => " * 200 + "Smokes(x)": ("too-deep", 3, "Smokes", "100 levels"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), ERRORS.items(), ids=[t[:40] for t in ERRORS])
def test_an_error_has_its_place_and_a_repair(text, wanted):
    code, column, culprit, words = wanted
    found = analyse(DECLARED + text, file="model.mln")
    assert [d.code for d in found.errors] == [code], [str(d) for d in found.errors]
    (problem,) = found.errors
    assert problem.severity is Severity.ERROR
    assert (problem.span.file, problem.span.line) == ("model.mln", LINES + 1)
    if code != "too-deep":
        assert problem.span.column == column
    shown = str(problem)
    assert words in shown
    assert culprit in shown
    if problem.span.end_line == problem.span.line and len(text) < 90 and code != "too-deep":
        source, carets = shown.splitlines()[1:3]
        marked = "".join(
            c for c, caret in zip(source, carets.ljust(len(source)), strict=False) if caret == "^"
        )
        assert marked == culprit.replace("\x07", "�")


WARNINGS = {
    "1 Smokes(Ana)": ("constant-not-listed", "did you mean Anna"),
    "1 Smokes(anna)": ("variable-like-constant", "Anna is a constant"),
    "Smokes(person)": ("declared-again", "already"),
    "person = {Carl}": ("type-listed-again", "both are joined"),
    "colr = {Red}": ("unused-type", "did you mean colour"),
    "size = {}\nBig(size)": ("empty-domain", "no constants"),
    "flavour = {Sour, Sour}\nTaste(flavour)": ("listed-twice", "twice"),
    "1 Smokes(x)\nCancer(x) => Smokes(x)": ("missing-weight", "still to be learned"),
    "Smokes(x) => Cancer(x)": ("missing-weight", "still to be learned"),
    "Smokes(x) ^ Cancer(y).": ("hard-conjunction", "Alchemy"),
    "Smokez(x)": ("new-predicate", "did you mean Smokes?"),
}


@pytest.mark.parametrize(("text", "wanted"), WARNINGS.items(), ids=WARNINGS)
def test_a_warning_lets_the_model_through(text, wanted):
    found = analyse(DECLARED + text)
    assert not found.errors, [str(d) for d in found.errors]
    assert wanted[0] in [d.code for d in found.diagnostics]
    assert wanted[1] in "\n".join(map(str, found.diagnostics))


def test_names_of_sound_declarations_are_not_compared(monkeypatch):
    """Each with all before it: thousands of predicates would take a minute."""
    monkeypatch.setattr(declarations, "closest", lambda *_: pytest.fail("names were compared"))
    assert not analyse("P0(thing)\nP1(thing)\nP2(thing, place)").errors


def test_one_letter_is_never_taken_for_a_constant():
    text = "letter = {{X, Anna}}\nP(letter)\n1 P({})"
    codes = [[d.code for d in analyse(text.format(name)).diagnostics] for name in ("x", "anna")]
    assert codes == [[], ["variable-like-constant"]]


def test_an_error_at_the_very_beginning_has_its_place():
    (problem,) = analyse("@ P(x)").errors
    assert (problem.span.line, problem.span.column, problem.span.end_column) == (1, 1, 2)


def test_behind_a_full_stop_a_v_with_arguments_is_a_predicate_and_not_an_or():
    codes = [analyse(f"P(t)\nP(x). {more}").errors[0].code for more in ("v(x).", "v P(x)")]
    assert codes == ["unknown-predicate", "unexpected-symbol"]


def test_only_a_statement_is_too_long_and_never_a_text(monkeypatch):
    monkeypatch.setattr(statements, "LONGEST", 20)
    assert "too-long" not in [d.code for d in analyse("P(t)\n" + "1 P(x) v P(y)\n" * 9).errors]
    assert "too-long" in [d.code for d in analyse("P(t)\n1 P(x) v P(y) v P(z) v P(u)").errors]


def test_all_problems_come_in_one_pass_and_in_order():
    broken = [text for text in ERRORS if "/*" not in text and "\n" not in text]
    found = analyse(DECLARED + "\n\n".join(broken), file="m.mln")
    lines = [d.span.line for d in found.errors]
    assert lines == sorted(lines)
    expected = {LINES + 1 + 2 * i for i in range(len(broken))}
    assert expected <= set(lines)


def test_every_foreign_symbol_of_a_statement_is_named():
    found = analyse(DECLARED + "1 Smokes(x) && ~Cancer(x) -> Smokes(x)")
    assert [(d.span.column, d.repair) for d in found.errors] == [
        (13, "^ for and"),
        (16, "! for not"),
        (27, "=>"),
    ]


@pytest.mark.parametrize("text", ["1,5 Smokes(x)", "(1.5) Smokes(x)", "1/2 Smokes(x)"])
def test_weights_of_other_forms_get_advice(text):
    (problem,) = analyse(DECLARED + text).errors
    assert "full stop" in problem.repair or "single number" in problem.repair


def test_a_broken_statement_does_not_hide_the_good_ones():
    found = analyse(DECLARED + "1 Smokes(x\n2 Cancer(x)\n3 Smokes(x) &&\n\n4 Friends(x, x)")
    assert [f.weight.value for f in found.formulas] == [2, 4]
    assert len(found.errors) == 2


def test_the_error_of_a_model_lists_everything():
    with pytest.raises(ml.InputError, match="2 errors") as caught:
        ml.MLN.from_text(DECLARED + "1 Smoke(x)\n1 Smokes(x, y)", name="bad.mln")
    assert len(caught.value.diagnostics) == 2
    assert "bad.mln:10:3" in str(caught.value)


def test_include_cycles_end_with_the_chain(tmp_path):
    (tmp_path / "a.mln").write_text('#include "b.mln"\nS(p)\n')
    (tmp_path / "b.mln").write_text('#include "a.mln"\n')
    with pytest.raises(ml.InputError, match=r"a\.mln includes b\.mln includes a\.mln"):
        ml.load(tmp_path / "a.mln")


def test_many_problems_of_one_kind_are_counted():
    found = analyse("S(p)\n" + "1 T(x)\n" * 1000)
    assert len(found.diagnostics) == 51
    assert "950 more" in found.diagnostics[-1].message


def test_carets_stand_right_behind_tabs_and_in_long_lines():
    shown = str(analyse("S(p)\n\t1\tT(x)").errors[0]).splitlines()
    assert shown[1] == "    \t1\tT(x)"
    assert shown[2] == "    \t \t^"
    long = str(analyse("S(p)\n1 " + "S(x) ^ " * 500 + "T(x) ^ S(y)").errors[0]).splitlines()
    assert len(long[1]) < 120
    assert long[1][long[2].index("^")] == "T"
