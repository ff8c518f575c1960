"""What displays say, word for word, for a few small values."""

from __future__ import annotations

import re
from base64 import b64decode
from html import unescape

import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.card.findings import culprit_in_line
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.model.databases import share
from mlnlab.display.model.models import marks_in_words
from mlnlab.errors import Span
from tests.display.things import model


def rows_of(value):
    page = BeautifulSoup(bundle(value)["text/html"], "html.parser")
    return [
        [cell.get_text() for cell in row.find_all(["th", "td"])] for row in page.find("table").find_all("tr")
    ]


def text_of(value):
    page = BeautifulSoup(bundle(value)["text/html"], "html.parser")
    page.style.decompose()
    return page.get_text(" ")


def test_a_model():
    assert rows_of(model()) == [
        ["", "weight", "formula"],
        ["0", "1.5", "Smokes(x) ⇒ Cancer(x)"],
        ["1", "1.1 fixed", "Friends(x, y) ⇒ (Smokes(x) ⇔ Smokes(y))"],
        ["2", "to be learned", "Smokes(x) ∨ Cancer(x)"],
        ["3", "hard", "¬Friends(x, x)"],
    ]
    assert "textbook semantics" in text_of(model())


def test_a_database():
    mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    db = ml.Database.from_text("Friends(Anna, Bob)\n!Smokes(Bob)\n0.25 Smokes(Anna)", mln)
    assert rows_of(db) == [
        ["predicate", "true", "possible", "density", "listed as false", "with a probability", "first facts"],
        ["Smokes", "0", "2", "0 %", "1", "1", ""],
        ["Friends", "1", "4", "25 %", "0", "0", "Friends(Anna, Bob)"],
    ]
    assert "0.25 Smokes(Anna)" in text_of(db)


def test_probabilities_and_why():
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    db = ml.Database.from_text("Smokes(Anna)", mln)
    marginals = ml.infer(mln, db, query=["Smokes", "Cancer"])
    assert rows_of(marginals) == [
        ["query", "probability"], ["Smokes(Anna)", "1 · fact"], ["Cancer(Anna)", "0.8176"],
    ]  # fmt: skip
    shown = text_of(marginals)
    assert "2 worlds are few enough" in shown
    assert "log Z = 1.70141" in shown
    why = marginals.why("Cancer(Anna)")
    assert rows_of(why)[1] == ["Smokes(x) ⇒ Cancer(x)", "1.5", "+1.5000", "× 4.482", "0.5000"]
    assert "raises the log-odds by 1.5; without it the probability would be 0.5" in text_of(why)


def test_what_was_computed_stands_before_the_facts():
    mln = ml.MLN.from_text("Smokes(person)\n-1 Smokes(x)")
    text = "\n".join(f"Smokes(P{number})" for number in range(300))
    for facts, known in (("Smokes(Anna)", 1), (text, 300)):
        db = ml.Database.from_text(facts, mln).with_atoms({"Smokes(Zoe)": None})
        marginals = ml.infer(mln, db, query=["Smokes"])
        shown = text_of(marginals)
        rows = rows_of(marginals)[1:]
        if known == 1:
            assert rows == [["Smokes(Anna)", "1 · fact"], ["Smokes(Zoe)", "0.2689"]]
        else:
            assert rows[0] == ["Smokes(Zoe)", "0.2689"]
            assert "How the 1 computed probabilities spread between 0 and 1 (300 facts left out)" in shown
            assert "The first 200 of 301 queries are shown" in shown


def test_quantifiers_in_latex_keep_a_space_behind_their_variables():
    mln = ml.MLN.from_text("P(t, t)\n1 EXIST y P(x, y)\n1 EXIST<=2 y,z P(z, y)")
    first, second = (bundle(weighted.formula) for weighted in mln.formulas)
    assert first["text/latex"] == r"$\displaystyle \exists  y\, \mathrm{P}(x, y)$"
    assert second["text/latex"] == r"$\displaystyle \exists \leq2\, y,z\, \mathrm{P}(z, y)$"
    assert second["text/plain"] == "∃≤2 y,z P(z, y)"


def test_findings():
    found = ml.check("Smokes(person)\n1.5 Smoke(x)")
    shown = text_of(found)
    assert "there is no predicate Smoke; did you mean Smokes?" in shown
    assert "<text>:2:5 · unknown-predicate" in shown
    page = BeautifulSoup(bundle(found)["text/html"], "html.parser")
    assert page.find("u").get_text() == "Smoke"


@pytest.mark.parametrize(
    ("line", "columns", "parts"),
    [
        ("1.5 Smoke(x)", (5, 10), ("1.5 ", "Smoke", "(x)")),
        ("abc", (4, 5), ("abc", " ", "")),
        ("abc", (2, 2), ("a", "b", "c")),
        ("", (1, 2), ("", " ", "")),
        ("a" * 300 + "X" + "b" * 300, (301, 302), ("…" + "a" * 55, "X", "b" * 54 + "…")),
    ],
)
def test_the_culprit_in_its_line(line, columns, parts):
    assert culprit_in_line(line, Span("f", 1, columns[0], 1, columns[1])) == parts


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0.0000"), (1e-9, "< 0.0001"), (0.5, "0.5000"), (0.99999, "> 0.9999"), (1, "1.0000")],
)
def test_probabilities_in_words(value, words):
    assert probability_in_words(value) == words


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 0, "–"), (0, 9, "0 %"), (1, 3, "33.33 %"), (1, 10**9, "< 0.01 %"), (10**9 - 1, 10**9, "99.99 %"),
     (5, 5, "100 %")],
)  # fmt: skip
def test_densities_in_words(part, whole, words):
    assert share(part, whole) == words


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        ("P(a, b)", ""),
        ("P(a, b!)", "for each a, exactly one b"),
        ("P(a, b, c?)", "for each a and b, at most one c"),
        ("P(a!)", "exactly one of all its atoms is true"),
        ("*P(a)", "atoms that no fact lists are false"),
        ("b P(a)", "a function: exactly one b for each choice of arguments"),
    ],
)
def test_marks_of_declarations_in_words(declaration, words):
    assert marks_in_words(ml.MLN.from_text(declaration).vocabulary["P"]) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Smokes(John) ^ !Cancer(John)", "Smokes(John) ∧ ¬Cancer(John)"),
        ("EXIST x Cancer(x)", "∃x Cancer(x)"),
        ("EXIST<=2 y,z (P(y) v Q(z)) <=> x != y", "∃≤2 y,z (P(y) ∨ Q(z)) ⇔ x ≠ y"),
        ('P("a ^ b => v") => FORALL v Q(v)', 'P("a ^ b => v") ⇒ ∀v Q(v)'),
        ("Smokes(Anna)", "Smokes(Anna)"),
        ("soft evidence 0.7 Smokes(Anna)", "soft evidence 0.7 Smokes(Anna)"),
        ('P("never closed => ', 'P("never closed => '),
        ("Smokes(John) ∧ Cancer(John)", "Smokes(John) ∧ Cancer(John)"),
    ],
)
def test_texts_of_formulas_in_symbols(text, shown):
    assert in_symbols(text) == shown


def test_bars_and_reasons_show_formulas_in_symbols():
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    db = ml.Database.from_text("Smokes(Anna)", mln)
    marginals = ml.infer(mln, db, query=["EXIST x !Cancer(x)", "Cancer"])
    assert ["∃x ¬Cancer(x)", "0.1824"] in rows_of(marginals)
    assert "∃x ¬Cancer(x)" in picture_of(marginals)
    why = marginals.why("Cancer(Anna)")
    assert "Smokes(x) ⇒ Cancer(x)  (weight 1.5)" in picture_of(why)
    assert "Smokes(x) ⇒ Cancer(x) (weight 1.5) raises" in text_of(why)
    assert "=>" not in text_of(why)
    assert "=>" not in bundle(why)["text/plain"]


def picture_of(value):
    image = BeautifulSoup(bundle(value)["text/html"], "html.parser").find("img")
    return unescape(b64decode(image["src"].partition(",")[2]).decode())


def test_bars_stand_on_an_axis():
    mln = ml.MLN.from_text("person = {Anna}\nSmokes(person)\n1.5 Smokes(x)")
    texts = re.findall("<text[^>]*>([^<]*)</text>", picture_of(ml.infer(mln, None, query=["Smokes"])))
    assert texts == ["Smokes(Anna)", "0.8176", "0", "½", "1"]


def test_facts_are_marked_in_text():
    mln = ml.MLN.from_text("Smokes(person)\n0 Smokes(x)")
    db = ml.Database.from_text("Smokes(Anna)\n?Smokes(Bob)", mln)
    shown = bundle(ml.infer(mln, db, query=["Smokes"]))["text/plain"]
    *probabilities, cost = shown.splitlines()[2:]
    assert [line.split() for line in probabilities] == [
        ["Smokes(Anna)", "1", "·", "fact"],
        ["Smokes(Bob)", "0.5000"],
    ]
    assert re.search(r"\S+ s · \S+ MB$", cost)


def test_nothing_to_ask_about():
    mln = ml.MLN.from_text("Smokes(person)\n1 Smokes(x)")
    nobody = ml.Database.from_text("", mln)
    marginals = ml.infer(mln, nobody, query=["Smokes(x) ^ Smokes(y)"])
    for shown in (text_of(marginals), bundle(marginals)["text/plain"]):
        assert "There is nothing to ask about: no constants of type person are known" in shown


def test_a_difference_shows_the_semantics():
    alchemy = ml.MLN.from_text(model().to_text(), semantics="alchemy")
    assert ["~ changed", "", "semantics: textbook -> alchemy"] in rows_of(model().diff(alchemy))


def test_long_words_break_also_without_the_style_sheet():
    mln = ml.MLN.from_text("Smokes(person)\n0 Smokes(x)")
    name = "x" * 400
    marginals = ml.infer(mln, ml.Database.from_text(f'?Smokes("{name}")', mln), query=["Smokes"])
    page = BeautifulSoup(bundle(marginals.why(f'Smokes("{name}")'))["text/html"], "html.parser")
    for tag in [page.find(class_="mlnlab-title"), *page.find_all("li")]:
        assert tag["style"] == "overflow-wrap:break-word"
