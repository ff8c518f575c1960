"""The editor of a model, asked as a page asks it: edits, answers that follow, what it saves, how it ends."""

from __future__ import annotations

import json
import re
import threading

import pytest

import mlnlab as ml
from mlnlab.display.scene.look import COLOURS
from mlnlab.display.scene.scripts import STATIC
from mlnlab.widgets.edit import answering
from mlnlab.widgets.edit.draft import Draft
from mlnlab.widgets.edit.draft_repairs import repairs
from tests.support.live_threads import newer_threads
from tests.support.patience import PATIENCE
from tests.support.patience import wait_until as until

TEXT = """Smokes(person)
Cancer(person)
Friends(person, person)

1.5 Smokes(x) => Cancer(x) // habit
1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)
"""
FACTS = "Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Carl)"


def database(text=FACTS):
    return ml.Database.from_text(text, ml.MLN.from_text(TEXT))


class Page:
    """Stands for a page: numbers its edits, keeps what it is sent."""

    def __init__(self, editor, name="page"):
        self.editor, self.name, self.edit, self.heard = editor, name, 0, []
        editor.send = lambda message, _buffers=None: self.heard.append(message)

    def say(self, kind, **content):
        self.edit += 1
        message = {"type": kind, "view": self.name, "edit": self.edit, **content}
        self.editor._receive_message(json.loads(json.dumps(message)), [])
        assert (self.editor.status["view"], self.editor.status["edit"]) == (self.name, self.edit)

    def row(self, place):
        row = self.editor.table["rows"][place]
        return {"row": place, "of": "".join(text for text, _ in row["pieces"]) or row["text"]}


@pytest.fixture
def editor():
    made = ml.editor(TEXT, database(), ["Smokes", "Cancer"])
    yield made
    made.close()


@pytest.fixture
def page(editor):
    return Page(editor)


def said_by(editor):
    return {bar["name"]: bar["p"] for bar in editor.bars["bars"]}


def expected(editor):
    found = ml.infer(editor.model, editor.database, editor.query)
    return {name: pytest.approx(value, abs=1e-6) for name, value in found.items()}


def test_it_begins_with_the_answer(editor):
    assert said_by(editor) == expected(editor)
    assert editor.model == ml.MLN.from_text(TEXT)
    assert editor.rows == ("1.5 Smokes(x) => Cancer(x)", "1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)")


def test_every_edit_is_followed_by_the_probabilities_of_the_very_model(editor, page):
    steps = [
        lambda: page.say("weight", weight=-2, **page.row(0)),
        lambda: page.say("hard", hard=True, **page.row(1)),
        lambda: page.say("hard", hard=False, **page.row(1)),
        lambda: page.say("enable", on=False, **page.row(0)),
        lambda: page.say("move", to=0, **page.row(1)),
        lambda: page.say("add", text="0.7 Cancer(x)"),
        lambda: page.say("assume", atom="Cancer(Bob)", value=True),
        lambda: page.say("assume", atom="Smokes(Anna)", value=None),
        lambda: page.say("forget", atom="Cancer(Bob)"),
        lambda: page.say("text", text=editor.text.replace("0.7", "3")),
        lambda: page.say("remove", **page.row(2)),
        lambda: page.say("undo"),
        lambda: page.say("redo"),
    ]
    versions = [editor.version]
    for step in steps:
        step()
        assert editor.status["remark"] == ""
        assert said_by(editor) == expected(editor)
        assert editor.model.formulas == ml.MLN.from_text(editor.text).formulas
        versions.append(editor.version)
    assert versions == sorted(set(versions))


def test_undo_leads_back_to_the_very_beginning(editor, page):
    texts = [editor.text]
    for kind, content in (
        ("hard", {"hard": True, **page.row(0)}),
        ("enable", {"on": False, **page.row(1)}),
        ("add", {"text": "2 Cancer(x)"}),
    ):
        page.say(kind, **content)
        texts.append(editor.text)
    for text in texts[-2::-1]:
        page.say("undo")
        assert editor.text == text
    assert editor.status["undo"] is False
    for text in texts[1:]:
        editor.redo()
        assert editor.text == text
    assert editor.status["redo"] is False


def test_a_drag_is_one_edit_and_its_beginning_stays_in_sight(editor, page):
    before = said_by(editor)
    for weight in range(5):
        page.say("weight", weight=weight, **page.row(0))
    bar = editor.bars["bars"][3]
    assert bar["before"] == pytest.approx(before[bar["name"]], abs=1e-6)
    assert bar["p"] != pytest.approx(bar["before"], abs=0.01)
    editor.undo()
    assert editor.text == TEXT


def test_a_text_with_errors_leaves_model_table_and_probabilities(editor, page):
    table, bars = editor.table, said_by(editor)
    page.say("text", text=TEXT.replace("=> Cancer(x)", "=> Cancr(x)"))
    assert editor.model == ml.MLN.from_text(TEXT)
    (finding,) = (found for found in editor.findings if found["severity"] == "error")
    line = editor.text.splitlines()[finding["line"] - 1]
    assert line[finding["from"] : finding["to"]] == "Cancr"
    assert editor.status["sound"] is False
    assert editor.table == table
    assert said_by(editor) == bars
    page.say("weight", weight=3, **page.row(0))
    assert "errors" in editor.status["remark"]
    assert editor.model == ml.MLN.from_text(TEXT)
    with pytest.raises(ml.InputError, match="not saved"):
        editor.save("nowhere.mln")
    page.say("mend", repair=finding["mend"], of=finding["message"])
    assert editor.text == TEXT
    assert editor.status["sound"] is True


def test_a_click_on_a_repair_of_an_older_text_is_refused(editor, page):
    """Another problem comes first now, so the number and the place of the finding mean another repair."""
    page.say("text", text=TEXT + "1 Smoke(x)\n")
    (seen,) = (found for found in editor.findings if "mend" in found)
    newer = "1 Smokes(x) && Cancer(x)\n" + TEXT + "1 Smoke(x)\n"
    page.say("text", text=newer)
    assert sum("mend" in found for found in editor.findings) == 2
    page.say("mend", repair=seen["mend"], of=seen["message"])
    assert editor.text == newer
    assert editor.status["remark"] == "The text has changed since this repair was shown; please choose again."
    page.say("text", text=TEXT + "1 Smoke(x)\n// a remark\n")  # where the repair still means the same
    page.say("mend", repair=seen["mend"], of=seen["message"])
    assert editor.text == TEXT + "1 Smokes(x)\n// a remark\n"
    assert editor.status["remark"] == ""


def test_columns_count_as_a_page_counts():
    editor = ml.editor('Smokes(person)\n1 Smokes("\U0001f6ac\U0001f6ac") v Smoke(x)\n', {"person": 2})
    (finding,) = (found for found in editor.findings if found["severity"] == "error")
    line = editor.text.splitlines()[1].encode("utf-16-le")
    assert line[2 * finding["from"] : 2 * finding["to"]].decode("utf-16-le") == "Smoke"
    editor.close()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("A(p)\nB(p)\n1 A(x) && B(x)", "A(p)\nB(p)\n1 A(x) ^ B(x)"),
        ("A(p)\n1 A(x) V A(y)", "A(p)\n1 A(x) v A(y)"),
        ("Smokes(p)\n1 Smoke(x)", "Smokes(p)\n1 Smokes(x)"),
        ("A(p)\n1 (A(x) v A(y) // c", "A(p)\n1 (A(x) v A(y)) // c"),
        ("A(p)\n1 A(x).", "A(p)\n1 A(x)"),
    ],
)
def test_suggestions_that_mend_are_offered_as_edits(wrong, right):
    draft = Draft.read(wrong)
    (repair,) = repairs(draft).values()
    assert repair.apply_edit(wrong) == right
    assert not draft.set_text(right).errors


def test_what_a_page_says_without_sense_is_left_alone(editor, page):
    text, bars = editor.text, editor.bars
    for content in (
        {"type": "weight", "row": 99, "of": "x", "weight": 1},
        {"type": "weight", "row": 0, "of": "other", "weight": 1},
        {"type": "weight", "row": 0, "weight": "2"},
        {"type": "remove", "row": -1, "of": ""},
        {"type": "move"},
        {"type": 3},
        {},
        {"type": "explode"},
        {"type": "close"},
        {"type": "__init__"},
        {"type": "query", "name": "Nobody", "asked": True},
        {"type": "assume", "atom": "Smokes(Anna)", "value": "yes"},
        {"type": "show", "search": 3, "order": "asked"},
        {"type": "show", "search": "", "order": "random"},
        {"type": "mend", "finding": 0},
        {"type": "mend", "repair": 0, "of": ""},
        {"type": "text"},
        {"type": "text", "text": None},
    ):
        editor._receive_message(content, [])
    assert editor.text == text
    assert editor.bars == bars


def test_what_cannot_be_done_is_said(editor, page):
    page.say("assume", atom="Smoke(Anna)", value=True)
    assert "Smokes" in editor.status["remark"]
    page.say("add", text="1 Smoke(x)")
    assert "did you mean Smokes" in editor.status["remark"]
    page.say("undo")
    assert editor.status["remark"] == ""
    for wrong in (float("nan"), float("inf")):
        editor._receive_message(
            {"type": "weight", "weight": wrong, "view": "page", "edit": 9, **page.row(0)}, []
        )
        assert "finite" in editor.status["remark"]
    assert editor.text == TEXT


def test_a_formula_is_checked_while_it_is_written(page):
    page.say("check", text="1 Smoke(x)")
    (message,) = page.heard
    assert message["type"] == "checked"
    assert "did you mean Smokes" in message["findings"][0]["message"]


def test_late_answers_name_the_edit_they_belong_to(editor, page):
    other = Page(editor, "other")
    other.say("text", text=TEXT + "2 Cancer(x)\n")
    page.say("undo")
    assert editor.text == TEXT


def test_an_atom_is_explained_and_the_explanation_follows(editor, page):
    page.say("why", atom="Cancer(Bob)")
    said = editor.bars["why"]
    found = editor.marginals.why("Cancer(Bob)")
    assert said["total"] == pytest.approx(found.log_odds, abs=1e-4)
    page.say("weight", weight=0, **page.row(0))
    assert editor.bars["why"]["total"] == pytest.approx(0, abs=1e-4)
    page.say("why", atom=None)
    assert "why" not in editor.bars


def test_predicates_are_asked_for_by_name(editor, page):
    page.say("query", name="Friends", asked=True)
    assert editor.query == ("Smokes", "Cancer", "Friends")
    assert said_by(editor) == expected(editor)
    for name in ("Friends", "Smokes", "Cancer"):
        page.say("query", name=name, asked=False)
    assert "choose a predicate" in editor.bars["problem"]
    editor.query = "Cancer(Anna)"
    assert list(said_by(editor)) == ["Cancer(Anna)"]


def test_without_a_query_what_no_fact_is_known_of_is_asked():
    editor = ml.editor(TEXT, database())
    assert editor.query == ("Cancer",)
    editor.add("Old(person)\n1 Old(x)")
    assert editor.query == ("Cancer", "Old")
    editor.close()


def test_without_facts_everything_is_open_and_sizes_are_enough():
    editor = ml.editor(TEXT, {"person": 2})
    assert len(editor.marginals) == 8
    assert said_by(editor) == {
        name: pytest.approx(value, abs=1e-6)
        for name, value in ml.infer(ml.MLN.from_text(TEXT), {"person": 2}).items()
    }
    editor.assume(next(iter(editor.marginals)), True)
    assert next(iter(editor.bars["bars"]))["fact"] is True
    editor.close()


def test_atoms_are_found_and_ordered(editor, page):
    page.say("show", search="anna", order="asked")
    assert [bar["name"] for bar in editor.bars["bars"]] == ["Smokes(Anna)", "Cancer(Anna)"]
    page.say("show", search="", order="probable")
    values = [bar["p"] for bar in editor.bars["bars"]]
    assert values == sorted(values, reverse=True)
    page.say("weight", weight=-3, **page.row(0))
    page.say("show", search="", order="moved")
    moved = [abs(bar["p"] - bar["before"]) for bar in editor.bars["bars"]]
    assert moved == sorted(moved, reverse=True)


def test_many_worlds_are_sampled_and_a_newer_edit_ends_the_older_run():
    threads = newer_threads()
    people = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(40))
    editor = ml.editor(TEXT, database(people), ["Smokes", "Cancer"])
    for weight in range(6):
        editor.set_weight(0, weight)
    editor.wait(PATIENCE)
    assert editor.bars["sampled"] is True
    assert all("error" in bar for bar in editor.bars["bars"])
    found = ml.infer(editor.model, editor.database, editor.query, method="gibbs", samples=4000, seed=5)
    for bar in editor.bars["bars"]:
        assert abs(bar["p"] - found[bar["name"]]) < 6 * (bar["error"] + found.error(bar["name"])) + 1e-3
    editor.why("Cancer(P0)")
    editor.wait(PATIENCE)
    assert "sums over all worlds" in editor.bars["unexplained"]
    editor.close()
    until(lambda: not threads())


def test_an_older_problem_is_not_said_while_something_else_is_computed():
    people = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(40))
    editor = ml.editor(TEXT, database(people), query=())
    assert "Nothing is asked for" in editor.bars["problem"]
    editor.query = ["Smokes", "Cancer"]
    assert editor.bars["problem"] == ""
    editor.close()


def test_what_takes_long_does_not_block_who_edits(monkeypatch):
    people = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(9))
    editor = ml.editor(TEXT, database(people), ["Smokes", "Cancer"])
    editor.wait()
    exact, edited = answering._exact, threading.Event()

    def slowly(case, limit):
        assert limit < answering.MOST_WORLDS or edited.wait(PATIENCE)
        return exact(case, limit)

    monkeypatch.setattr(answering, "_exact", slowly)
    for weight in range(10):
        editor.set_weight(0, weight)
    edited.set()
    editor.wait()
    assert said_by(editor) == expected(editor)
    editor.close()


def test_models_that_cannot_be_asked_say_why(editor, page):
    page.say("text", text=TEXT + "Smokes(x) v Cancer(x)\n")
    assert "no weight" in editor.bars["problem"]
    page.say("text", text=TEXT + "!Smokes(Anna).\n")
    assert "No world" in editor.bars["problem"]
    page.say(
        "text",
        text=TEXT.replace("Friends(person, person)", "Friends(person)").replace(
            "Friends(x, y)", "Friends(x)"
        ),
    )
    assert "database declares Friends(person, person)" in editor.bars["problem"]
    with pytest.raises(ml.ArgumentError, match="database declares"):
        _ = editor.marginals
    page.say("text", text=TEXT)
    assert editor.bars["problem"] == ""
    assert said_by(editor) == expected(editor)


def test_others_are_told_of_edits(editor):
    told, versions = [], []
    ending = editor.on_change(lambda changed: told.append(changed.text))
    editor.observe(lambda change: versions.append(change["new"]), "version")
    editor.set_weight(0, 2)
    editor.set_text(editor.text)
    assert told == [TEXT.replace("1.5", "2")]
    assert versions == [1]
    ending()
    editor.undo()
    assert len(told) == 1


def test_a_fork_goes_its_own_way(editor):
    other = editor.fork()
    other.set_weight(0, -1)
    assert editor.text == TEXT
    assert other.model.weights == [-1, 1.1]
    assert said_by(other) == expected(other)
    other.close()


def test_it_saves_what_stands_there(editor, tmp_path):
    editor.enable(0, False)
    editor.save(tmp_path / "model.mln")
    assert (tmp_path / "model.mln").read_text() == editor.text
    again = ml.editor(tmp_path / "model.mln", database())
    assert again.text == editor.text
    assert again.table["rows"][0]["on"] is False
    again.close()


def test_templates_say_how_many_formulas_they_make(editor):
    editor.set_text(TEXT + "1 Smokes(+x) => Friends(x, +y)\n2 *Smokes(x) v Cancer(x)\n")
    assert [row["count"] for row in editor.table["rows"]] == [1, 1, 9, 2]


def test_what_a_view_saves_is_small(editor):
    state = editor.get_state()
    data = {"text_shown", "table", "findings", "bars", "layout"}
    assert len(json.dumps({k: v for k, v in state.items() if k not in data}, default=str)) < 50_000


def test_an_edit_costs_few_bytes(editor, page):
    sent = []
    editor._send = lambda message, buffers=None: sent.append(len(json.dumps(message, default=str)))
    page.say("weight", weight=2.5, **page.row(0))
    assert 0 < sum(sent) < 6_000


def test_a_saved_notebook_shows_model_and_probabilities(editor):
    bundle, _ = editor._repr_mimebundle_()
    assert "Markov logic network" in bundle["text/html"]
    assert "Probabilities" in bundle["text/html"]
    assert bundle["text/plain"] == "<FormulaEditor: 2 formulas>"


def test_hostile_names_stay_text():
    name = "<img src=x onerror=alert(1)>"
    editor = ml.editor(f'Smokes(person)\n1 Smokes("{name}")\n', None)
    assert editor.bars["bars"][0]["shown"] == f'Smokes("{name}")'
    assert "<img src=x" not in editor._repr_mimebundle_()[0]["text/html"]
    editor.close()


@pytest.mark.parametrize("given", [3, None, b"Smokes(person)"])
def test_what_is_no_model_is_refused(given):
    with pytest.raises(ml.ArgumentError, match="model, its text or the path"):
        ml.editor(given)
    with pytest.raises(ml.ArgumentError, match="database or sizes"):
        ml.editor(TEXT, "Smokes(Anna)")


def test_the_page_knows_the_colours_of_all_displays():
    sheet = (STATIC / "editor_look.js").read_text(encoding="utf-8")
    for name, light, dark in re.findall(r'^  (\w+): \["([^"]+)", "([^"]+)"', sheet, re.MULTILINE):
        assert (COLOURS[name].light, COLOURS[name].dark) == (light, dark)


def test_closing_ends_what_runs():
    threads = newer_threads()
    people = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(60))
    editor = ml.editor(TEXT, database(people), ["Smokes", "Cancer"])
    editor.close()
    until(lambda: not threads())
