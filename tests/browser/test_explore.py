"""Exploring answers in a real JupyterLab: what is clicked and typed is what Python answers."""

from __future__ import annotations

import re

import pytest

import mlnlab as ml
from tests.support.patience import becomes, wait_until

TEXT = "Smokes(person)\\nFriends(person, person)\\n0.4 Smokes(x)\\n1.2 Friends(x, y) ^ Smokes(x) => Smokes(y)"
FACTS = "Friends(A, B)\\nFriends(B, C)\\nFriends(C, D)\\nSmokes(A)\\n!Smokes(D)"
SOURCE = f"""
import mlnlab as ml
mln = ml.MLN.from_text("{TEXT}")
db = ml.Database.from_text("{FACTS}", mln)
view = ml.explore(mln, db, "Smokes", seed=1)
view
"""
LARGE = """
facts = "\\n".join(f"Friends(P{n}, P{n + 1})" for n in range(40))
large = ml.explore(mln, ml.Database.from_text(facts, mln), "Smokes", method="gibbs", samples=2_000_000)
large
"""
MODEL = ml.MLN.from_text(TEXT.replace("\\n", "\n"))
DB = ml.Database.from_text(FACTS.replace("\\n", "\n"), MODEL)
_NUMBERS = """output => Object.fromEntries([...output.querySelectorAll("g[data-id^=answer-]")].map(row => {
  const texts = [...row.querySelectorAll("text")].map(text => text.textContent);
  return [texts[0], texts[1]];
}))"""
_COLOURS = """output => [getComputedStyle(output.querySelector("g[data-id^=answer-] text")).fill,
  getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor]"""
_WRITTEN = "output => [...output.querySelectorAll('svg text')].map(text => text.textContent)"


def expected(db=DB, query=("Smokes",), **options):
    """The numbers that should be on the screen."""
    found = ml.infer(MODEL, db, list(query), **options)
    open_atoms = {str(atom) for choice in found.question.choices for atom in choice.atoms}
    formulas = {text for text, _ in found.question.query_formulas}
    return {
        name.replace(" ^ ", " ∧ "): f"{p:.4f}" if name in open_atoms | formulas else f"{p:.0f} · fact"
        for name, p in found.items()
    }


class Explorer:
    """The view in a page."""

    def __init__(self, page):
        self.page, self.output = page, page.output(0)

    def shows(self, numbers):
        """Wait until these numbers are on the screen."""
        becomes(lambda: self.output.evaluate(_NUMBERS), numbers)
        return True

    def click(self, word, place):
        self.output.locator(f"g[data-id={word}-{place}]").click(force=True)

    def type_in(self, label, text):
        field = self.output.get_by_label(label, exact=True)
        field.fill(text)
        field.press("Enter")

    def says(self, begin, *, gone=False):
        """Wait until a text that begins so stands there, or until none does any more."""
        becomes(lambda: any(text.startswith(begin) for text in self.written()), not gone)
        return True

    def written(self):
        return self.output.evaluate(_WRITTEN)


@pytest.fixture(scope="module")
def page(lab):
    with lab.open(lab.write("explore.ipynb", SOURCE, LARGE, "1 + 1", "large.close()"), height=1100) as opened:
        opened.hide_sidebar()
        opened.run(0)
        opened.page.wait_for_selector("g[data-id=answer-0]")
        yield opened


@pytest.fixture
def explorer(page):
    return Explorer(page)


def test_a_click_on_a_mark_changes_a_fact_and_the_answers_follow(explorer):
    assert explorer.shows(expected())
    place = list(ml.infer(MODEL, DB, "Smokes")).index("Smokes(A)")
    for value in (False, None):
        explorer.click("mark", place)
        assert explorer.shows(expected(DB.with_atoms({"Smokes(A)": value})))
    explorer.click("mark", place)
    assert explorer.shows(expected())
    explorer.click("fact-mark", 0)
    atom = next(str(atom) for atom in DB.atoms("true") if atom.predicate == "Friends")
    assert explorer.shows(expected(DB.with_atoms({atom: False})))
    explorer.output.locator("g[data-id=restore]").click()
    assert explorer.shows(expected())


def test_formulas_are_typed_and_what_is_wrong_is_underlined(explorer):
    explorer.type_in("Ask", "Smokes(B) ^ Smoke(C)")
    becomes(explorer.output.locator(".mlnlab-wrong u").all_inner_texts, ["Smoke"])
    assert explorer.output.get_by_label("Ask", exact=True).input_value() == "Smokes(B) ^ Smoke(C)"
    explorer.type_in("Ask", "Smokes(B) ^ Smokes(C)")
    query = ("Smokes", "Smokes(B) ^ Smokes(C)")
    assert explorer.shows(expected(query=query))
    becomes(explorer.output.locator(".mlnlab-wrong u").count, 0)
    becomes(explorer.output.get_by_label("Ask", exact=True).input_value, "")
    explorer.type_in("Given", "Smokes(B) v Smokes(C)")
    assert explorer.shows(expected(query=query, given="Smokes(B) v Smokes(C)"))
    explorer.click("drop-given-1", 0)
    assert explorer.shows(expected(query=query))
    explorer.click("drop-asked-1", 0)
    assert explorer.shows(expected())
    assert explorer.page.page.locator(".jp-Notebook .jp-Cell").count() == 4  # no key was the notebook's


def test_a_second_method_and_the_check_stand_beside(explorer):
    names = [m for m in explorer.written() if m == "gibbs"]
    assert len(names) == 2
    explorer.output.locator("g[data-id^=beside-]", has_text="gibbs").click()
    assert explorer.says("lower bars, by gibbs")
    explorer.output.locator("g[data-id=check]").click()
    assert explorer.says("0 of 2 answers are further than 3 combined standard errors apart (≠).")
    assert explorer.says("The furthest: ")
    explorer.output.locator("g[data-id^=beside-]", has_text="none").click()
    assert explorer.says("lower bars", gone=True)


def test_an_answer_tells_why_and_what_would_change_it(explorer):
    place = list(ml.infer(MODEL, DB, "Smokes")).index("Smokes(B)")
    explorer.click("answer", place)
    explorer.page.page.wait_for_selector("g[data-id=fact-0]")
    assert explorer.says("Why Smokes(B)?")
    found = ml.sensitivities(MODEL, DB, "Smokes", "Smokes(B)")
    facts = explorer.output.locator("g[data-id=fact-0] text")
    becomes(facts.first.text_content, f"{found.facts[0].atom} is {found.facts[0].value}")
    shown = facts.all_text_contents()
    assert shown[1].endswith(f"{found.facts[0].change:+.3f}")


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_it_can_be_read_in_both_themes(explorer, theme):
    explorer.page.theme(theme)
    colours = explorer.output.evaluate(_COLOURS)
    text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in colours)
    assert abs(text - back) > 80


def test_the_kernel_stays_free_for_a_slow_method_and_closing_ends_it(explorer):
    page = explorer.page
    page.run(1)
    page.output(1).locator("g[data-id=answer-0]").wait_for()
    page.run(2)
    assert page.text(2).strip() == "2"
    assert "computing ..." in page.output(1).evaluate(_WRITTEN)
    said = "texts => texts.some(text => text.startsWith('No check by enumeration: 41 ground atoms'))"
    wait_until(lambda: page.output(1).evaluate(f"output => ({said})(({_WRITTEN})(output))"))
    page.run(3)
    assert page.outputs(3) == []
    assert page.foreign == []
    assert page.complaints == []
