"""Widths of texts, compared with what a browser draws."""

from __future__ import annotations

import itertools

import pytest

from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, fitted_name, text_width
from tests.display.scene.pages import open_page
from tests.display.things import HOSTILE

TEXTS = [
    "Smokes(Anna)",
    "WWWWiiii",
    "∀x: P(x) ⇒ Q(x) ∨ ¬R",
    "Grüße, élève",
    "Дерево",
    "αβγ Σ",
    "0.8176 × 10",
    "",
]


def test_widths_are_those_of_a_browser_with_the_measured_font(browser):
    with open_page(browser) as page:
        available = page.evaluate("document.fonts.check(\"12px 'DejaVu Sans'\")")
        measured = page.evaluate(
            """(texts) => {
              const context = document.createElement("canvas").getContext("2d");
              return ["12.5px", "11px", "600 12.5px"].map((size) => {
                context.font = `${size} 'DejaVu Sans'`;
                return texts.map((text) => context.measureText(text).width);
              });
            }""",
            TEXTS,
        )
    if not available:
        pytest.skip("DejaVu Sans is not installed")
    usual, small, strong = measured
    assert [text_width(text) for text in TEXTS] == pytest.approx(usual, rel=0.03, abs=0.5)
    assert [text_width(text, "small") for text in TEXTS] == pytest.approx(small, rel=0.03, abs=0.5)
    assert [text_width(text, "label strong") for text in TEXTS] == pytest.approx(strong, rel=0.08, abs=0.5)


@pytest.mark.parametrize("text", [*TEXTS, *HOSTILE, "漢字" * 40, "e\u0301" * 90, "line\nbreak"])
@pytest.mark.parametrize("width", [0, 20, 90, 300])
def test_fitted_texts_fit(text, width):
    shown = fit_text(text, width)
    assert shown == "…" or text_width(shown) <= width + 0.01
    assert "\n" not in shown
    assert "\u202e" not in shown


def test_what_fits_is_left_alone_and_cuts_are_marked():
    assert fit_text("Anna", 100) == "Anna"
    assert fit_text("Anna Anna Anna", 50) == "Anna…"
    assert fit_text("漢" * 10, 50) == "漢漢漢…"


def test_atoms_are_cut_in_their_predicate_where_that_leaves_some_of_it():
    wide = text_width("WithInstructor(Member12)")
    assert fitted_name("WithInstructor(Member12)", wide) == "WithInstructor(Member12)"
    cut = fitted_name("WithInstructor(Member12)", wide - 30)
    assert cut.startswith("With")
    assert cut.endswith("…(Member12)")
    assert text_width(cut) <= wide - 30
    # No room for any of the predicate, or no atom: the end is cut.
    for text in ("WithInstructor(Member12)", "P(A) v Q(B) v R(C)", "a long name without an argument"):
        assert fitted_name(text, 60) == fit_text(text, 60)
        assert fitted_name(text, 60).endswith("…")


@pytest.mark.parametrize("text", [*HOSTILE, *(f"Likes({text})" for text in HOSTILE)])
def test_names_fit_whatever_they_hold(text):
    assert text_width(fitted_name(text, 70)) <= 70


def test_lines_hold_all_words_and_are_no_wider_than_asked():
    text = "the factor graph has loops, so the error of the beliefs is not known; ask a junction tree"
    lines = fitted_lines(text, 180, 9)
    assert " ".join(lines) == text
    assert len(lines) > 2
    assert all(text_width(line) <= 180 for line in lines)
    for line, following in itertools.pairwise(lines):  # no line could have held one word more
        assert text_width(f"{line} {following.split()[0]}") > 180


def test_what_does_not_fit_into_the_lines_is_cut():
    lines = fitted_lines("one two three four five six seven", 60, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert fitted_lines("", 60, 2) == []
    (cut,) = fitted_lines("x" * 500, 60, 3)
    assert cut.endswith("…")
    assert text_width(cut) <= 60


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_broken_into_lines_too(name):
    assert all(text_width(line) <= 100 for line in fitted_lines(name, 100, 3))
