"""Exploring answers: what is clicked and typed is asked, and what is drawn is what the answers say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import mlnlab as ml
from mlnlab.display.inference.exploring import FACTS_LISTED, LISTED, Answer
from mlnlab.display.scene.items import MIME_TYPE, Group, Rectangle
from mlnlab.widgets.explore.exploring_answers import Asked, answers
from tests.display.things import HOSTILE
from tests.support.live_threads import newer_threads
from tests.support.patience import PATIENCE, wait_until

TEXT = """
Smokes(person)
Friends(person, person)
0.4 Smokes(x)
1.2 Friends(x, y) ^ Smokes(x) => Smokes(y)
"""
FACTS = "Friends(A, B)\nFriends(B, C)\nFriends(C, D)\nSmokes(A)\n!Smokes(D)"
MODEL = ml.MLN.from_text(TEXT)
DB = ml.Database.from_text(FACTS, MODEL)


@pytest.fixture
def view():
    made = ml.explore(MODEL, DB, "Smokes")
    assert made.wait()
    yield made
    made.close()


def click(view, word, place=None):
    """Press the button with a name, or the one of a row."""
    name = word if place is None else f"{word}-{place}"
    (button,) = [item for item in view.static_scene().items() if item.id == name]
    assert button.press
    view._receive_message({"type": "press", "id": name}, [])
    assert view.wait()


def names(view):
    return list(view.marginals)


def place_of(view, name):
    return names(view).index(name)


def type_in(view, field, text):
    view._receive_message({"type": "typed", "field": field, "text": text}, [])
    assert view.wait()


def texts(view):
    return [item.text for item in view.static_scene().items() if hasattr(item, "text")]


def test_bars_are_as_long_as_the_probabilities(view):
    rows = [i for i in view.static_scene().items() if isinstance(i, Group) and i.id.startswith("answer-")]
    assert len(rows) == len(view.marginals) == 4
    for row in rows:
        name = names(view)[int(row.id.rpartition("-")[2])]
        track, bar = [i for i in row.children if isinstance(i, Rectangle)][1:3]
        assert bar.width == pytest.approx(track.width * view.marginals[name], abs=0.1)


def test_a_mark_goes_from_true_to_false_to_unknown_and_back(view):
    start = dict(view.marginals)
    place = place_of(view, "Smokes(A)")
    for value in (False, None):
        click(view, "mark", place)
        assert view.changes == {"Smokes(A)": value}
        expected = ml.infer(MODEL, DB.with_atoms({"Smokes(A)": value}), "Smokes")
        assert dict(view.marginals) == pytest.approx(dict(expected))
    click(view, "mark", place)
    assert view.changes == {}
    assert dict(view.marginals) == pytest.approx(start)
    place = place_of(view, "Smokes(B)")
    for value in (True, False):
        click(view, "mark", place)
        assert view.changes == {"Smokes(B)": value}
        assert view.marginals["Smokes(B)"] == value
    click(view, "mark", place)
    assert view.changes == {}


def test_facts_of_other_predicates_are_clicked_and_put_back(view):
    click(view, "fact-mark", 0)
    (atom,) = view.changes
    assert atom.startswith("Friends")
    expected = ml.infer(MODEL, DB.with_atoms({atom: False}), "Smokes")
    assert dict(view.marginals) == pytest.approx(dict(expected))
    click(view, "restore")
    assert view.changes == {}


def test_a_second_method_stands_beside_and_enumeration_checks(view):
    methods = [m for m in view._state(busy=False).methods if m != "auto"]
    click(view, "beside", 1 + methods.index("gibbs"))
    assert view.beside.method == "gibbs"
    assert any("further than 3 combined standard errors" in text for text in texts(view))
    assert not any(text.startswith("≠") for text in texts(view))
    number = sum(answer.value == "open" for answer in view._state(busy=False).answers)
    assert number < len(view.marginals)
    assert any(f" of {number} answers are further" in text for text in texts(view))
    click(view, "check")
    assert view.exact.method == "enumeration"
    assert dict(view.exact) == pytest.approx(dict(view.marginals))


def test_a_disagreement_is_marked():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n3 P(x) <=> Q(x)\n3 P(x) <=> !Q(y)")
    view = ml.explore(mln, {"t": 2}, ["P", "P(T1) ^ Q(T1)"], method="mean-field", beside="enumeration")
    view.wait()
    apart = [row for row in view._state(busy=False).answers if row.disagreement]
    far = [n for n in view.marginals if abs(view.marginals[n] - view.beside[n]) > 0.01]
    assert {row.name for row in apart} == set(far)
    assert apart
    view.close()


def test_enumeration_says_why_it_cannot_check():
    facts = "\n".join(f"Friends(P{n}, P{n + 1})" for n in range(40))
    view = ml.explore(MODEL, ml.Database.from_text(facts, MODEL), "Smokes", method="junction-tree")
    assert view.wait()
    assert any(text.startswith("No check by enumeration: 41 ground atoms are open") for text in texts(view))
    assert len([i for i in view.static_scene().items() if i.id.startswith("answer-")]) == LISTED
    assert len([i for i in view.static_scene().items() if i.id.startswith("fact-mark-")]) == FACTS_LISTED
    click(view, "answers-behind")
    click(view, "facts-behind")
    assert any(i.id == f"answer-{LISTED}" for i in view.static_scene().items())
    view.close()


def test_formulas_are_asked_and_given(view):
    type_in(view, "query", "Smokes(B) ^ Smokes(C)")
    both = ml.infer(MODEL, DB, ["Smokes", "Smokes(B) ^ Smokes(C)"])
    assert dict(view.marginals) == pytest.approx(dict(both))
    assert view.said["problem"] == ""
    type_in(view, "given", "Smokes(B) v Smokes(C)")
    under = ml.infer(MODEL, DB, ["Smokes", "Smokes(B) ^ Smokes(C)"], given="Smokes(B) v Smokes(C)")
    assert dict(view.marginals) == pytest.approx(dict(under))
    click(view, "drop-given-1", 0)
    assert dict(view.marginals) == pytest.approx(dict(both))
    view._receive_message({"type": "press", "id": "drop-given-1-0"}, [])  # a double click drops one
    click(view, "drop-asked-1", 0)
    assert "Smokes(B) ^ Smokes(C)" not in view.marginals


@pytest.mark.parametrize(
    ("field", "text", "words", "wrong"),
    [
        ("query", "Smokes(B) ^ Smoke(C)", "Smoke", "Smoke"),
        ("query", "Smokes(B", "", None),
        ("given", "Smokes(x)", "free variables", ""),
        ("query", "   ", "Type a formula", ""),
        ("query", "Smokes(Zed)", "not a constant", ""),
    ],
)
def test_what_is_wrong_is_said_where_it_is_wrong(view, field, text, words, wrong):
    before = view.scene
    type_in(view, field, text)
    assert words in view.said["problem"]
    assert view.said["field"] == field
    if wrong is not None:
        assert text[view.said["start"] : view.said["end"]] == wrong
    assert view.scene == before


def test_a_chosen_answer_tells_why_and_what_would_change_it(view):
    click(view, "answer", place_of(view, "Smokes(B)"))
    found = ml.sensitivities(MODEL, DB, "Smokes", "Smokes(B)")
    assert [f.atom for f in view.answers.sensitivities.facts] == [f.atom for f in found.facts]
    assert "Why Smokes(B)?" in texts(view)
    assert any("log-odds" in text for text in texts(view))
    first = view.answers.sensitivities.facts[0].atom
    click(view, "fact", 0)  # a fact of the tornado is changed by a click
    assert list(view.changes) == [first]
    view._receive_message({"type": "select", "id": None}, [])
    assert view.wait()
    assert not any(text.startswith("Why") for text in texts(view))


def test_an_impossible_change_is_a_sentence_and_can_be_taken_back():
    mln = ml.MLN.from_text("P(t)\nQ(t)\nP(x) => Q(x).\n1 Q(x)")
    view = ml.explore(mln, ml.Database.from_text("P(A)\nP(B)", mln), "Q")
    view.wait()
    view.set("Q(A)", False)
    view.wait()
    assert any("No world" in text or "no world" in text for text in texts(view)), texts(view)
    view.restore()
    view.wait()
    assert view.marginals["Q(A)"] == 1
    view.close()


def test_facts_that_contradict_the_model_are_told_with_the_conflict_from_the_start():
    mln = ml.MLN.from_text("P(t)\nQ(t)\nP(x) => Q(x).\n1 Q(x)")
    view = ml.explore(mln, ml.Database.from_text("P(A)\n!Q(A)", mln), "Q", beside="gibbs")
    assert view.wait()
    assert view.marginals is None
    said = " ".join(texts(view))
    for part in ("No world satisfies the hard formulas", "P(x) => Q(x)", "P(A)", "!Q(A)"):
        assert part in said, said
    assert said.count("No world satisfies") == 1  # the second method has nothing to add
    assert "^^" not in said
    data, _ = view._repr_mimebundle_()
    assert "No world satisfies" in json.dumps(data[MIME_TYPE])
    view.set("Q(A)", None)
    assert view.wait()
    assert view.marginals["Q(A)"] == 1
    view.close()


def test_a_newer_question_ends_the_work_on_an_older_one_and_closing_ends_all():
    threads = newer_threads()
    facts = "\n".join(f"Friends(P{n}, P{(7 * n) % 60})" for n in range(60))
    db = ml.Database.from_text(facts, MODEL)
    view = ml.explore(MODEL, db, "Smokes", method="gibbs", samples=2_000_000)
    assert view.busy  # nobody waited for the answer
    view.use("belief-propagation")
    assert view.wait(PATIENCE)
    assert view.marginals.method == "belief-propagation"
    view.use("gibbs")
    assert view.busy
    view.close()
    view._newest.wait(PATIENCE)
    wait_until(lambda: not threads())


@pytest.mark.parametrize(
    ("beside", "errors", "word"),
    [(0.5, (0.01, 0.01), ""), (0.5, (0.001, 0.001), "≠ lower"), (0.49, (float("nan"), 0.0), "0.02 off")],
)
def test_what_errors_do_not_explain_is_a_disagreement(beside, errors, word):
    row = Answer("P(A)", 0.51, errors[0], beside, errors[1], float("nan"), "open", changed=False)
    assert row.disagreement == word
    assert row._replace(beside=float("nan"), exact=0.6, error=0.01).disagreement == "≠ exact"


def test_slow_reasons_end_when_nobody_waits_for_them():
    asked = Asked(MODEL, DB, ("Smokes",), (), (), (), method="gibbs", chosen="Smokes(B)")
    found = answers(asked)
    assert any(part.explanation is not None for part in found)  # goes on until there is one
    asked.ended.set()
    assert all(part.sensitivities is None for part in found)
    waited = list(answers(Asked(MODEL, DB, ("Smokes",), (), (), (), method="gibbs", chosen="Smokes(B)")))
    assert waited[-1].sensitivities.facts


def test_answers_to_an_older_question_are_never_taken_for_new_ones(view):
    view.set("Smokes(A)", False)
    view.use("auto")  # before anything of the new question is known
    view.wait()
    expected = ml.infer(MODEL, DB.with_atoms({"Smokes(A)": False}), "Smokes")
    assert dict(view.marginals) == pytest.approx(dict(expected))
    view.choose("Smokes(B)")
    view.wait()
    of_b = view.answers.sensitivities
    view._asked = replace(view._asked, chosen="Smokes(C)")  # chosen, and nothing told yet
    assert view._state(busy=True).sensitivities is None
    assert of_b.query == "Smokes(B)"


def test_a_change_that_nothing_can_answer_is_still_there_to_be_clicked():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n!P(x) v !Q(x).")
    view = ml.explore(mln, ml.Database.from_text("", mln).with_atoms({"P(A)": True}), ["P", "Q"])
    view.wait()
    view.set("Q(A)", True)
    view.wait()
    assert view.marginals is None
    click(view, "fact-mark", [a.name for a in view._state(busy=False).facts].index("Q(A)"))
    view.restore()
    view.wait()
    assert view.marginals["Q(A)"] == 0
    view.close()


def test_what_a_page_should_not_say_changes_nothing(view):
    scene = view.scene
    for name in ("method-99", "mark-99", "<b>", 3, ["check"], {}, "answer-99", "restore", "answers-behind"):
        view._receive_message({"type": "press", "id": name}, [])
    for message in ({"field": "x", "text": "y"}, {"field": "query"}, {"field": "query", "text": 3}):
        view._receive_message({"type": "typed", **message}, [])
    type_in(view, "query", "x" * 100_000)
    assert "letters" in view.said["problem"]
    assert view.scene == scene


def test_a_saved_notebook_has_the_picture_and_the_table(view):
    data, _ = view._repr_mimebundle_()
    assert data[MIME_TYPE] == view.scene
    assert "Smokes(B)" in data["text/html"]
    assert "Smokes(B)" in data["text/plain"]
    assert len(json.dumps(view.scene)) < 60_000


def test_a_block_moves_as_a_whole():
    mln = ml.MLN.from_text("Job(person, job!)\njob = {Boss, Clerk, Poet}\n2 Job(x, Boss)")
    db = ml.Database.from_text("Job(Anna, Clerk)", mln)
    view = ml.explore(mln, db, "Job")
    view.wait()
    view.set("Job(Anna, Boss)", True)
    view.wait()
    assert view.marginals["Job(Anna, Boss)"] == 1
    assert view.marginals["Job(Anna, Clerk)"] == 0
    view.close()


def test_without_a_database_everything_is_open():
    view = ml.explore(MODEL, {"person": 2})
    view.wait()
    assert dict(view.marginals) == pytest.approx(dict(ml.infer(MODEL, {"person": 2})))
    view.close()


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_stay_text(name):
    smokes, friends = ml.predicates("Smokes(person), Friends(person, person)")
    x, y = ml.variables("x, y")
    mln = ml.MLN.from_formulas([(1.5, (friends(x, y) & smokes(x)) >> smokes(y)), (0.3, smokes(name))])
    db = ml.Database.from_text("", mln).with_atoms({str(friends(name, "Bob")): True})
    view = ml.explore(mln, db, "Smokes")
    view.wait()
    for place in range(len(view.marginals)):
        click(view, "mark", place)
    click(view, "answer", 0)
    html = view._repr_mimebundle_()[0]["text/html"]
    assert "<script" not in html.split("</style>", 1)[1]
    assert "onerror='alert" not in html
    view.close()


def test_mistakes_get_a_sentence(view):
    with pytest.raises(ml.ArgumentError, match="no inference method"):
        view.use("gib")
    with pytest.raises(ml.ArgumentError, match="not among the answers"):
        view.choose("Smokes(Zed)")
    with pytest.raises(ml.ArgumentError, match="neither given nor asked"):
        view.drop("nothing")
    with pytest.raises(ml.ArgumentError, match="A model is needed"):
        ml.explore("model", DB, "Smokes")
    with pytest.raises(ml.ArgumentError, match="Say what to ask"):
        ml.explore(MODEL, DB)


def test_a_distance_is_told_in_combined_standard_errors():
    row = Answer("P(A)", 0.5, 0.03, 0.25, 0.04, 0.4, "open", changed=False)
    beside, exact = row.gaps
    assert (beside.apart, beside.error) == pytest.approx((0.25, 0.05))  # sqrt(0.03^2 + 0.04^2)
    assert beside.told == "0.25 from the lower bar: 5.0 combined standard errors"
    assert beside.words == "≠ lower"
    assert exact.told == "0.1 from enumeration: 3.3 combined standard errors"  # enumeration has no error
    unknown = row._replace(error=float("nan"))
    assert "the error of an approximation is unknown" in unknown.gaps[0].told
    assert unknown.gaps[0].words == "0.25 off"
    both = row._replace(error=0.0, beside_error=0.0)
    assert both.gaps[0].told == "0.25 from the lower bar; both count as exact"
    assert both.gaps[0].words == "≠ lower"
    rounded = both._replace(beside=0.5 + 1e-12)
    assert rounded.gaps[0].units == 0


def test_an_approximation_is_not_judged_by_errors_that_nobody_knows():
    view = ml.explore(MODEL, DB, "Smokes", method="mean-field")
    view.check()
    assert view.wait()
    told = next(text for text in texts(view) if "The error of the approximation is unknown" in text)
    largest = max(abs(view.marginals[name] - view.exact[name]) for name in view.marginals)
    assert largest > 0.01
    assert f"it is up to {largest:.2g} off" in told
    assert not any("answers are further" in text for text in texts(view))  # facts agree in any case
    view.close()
