"""The editor of a model in a real JupyterLab: typing, dragging, switching, asking, looking again."""

from __future__ import annotations

import json
import re
from math import inf

import nbformat
import pytest
from nbformat.v4 import new_output

from tests.support.patience import PATIENCE, becomes, wait_until

TEXT = """// Friends and smokers
Smokes(person)
Cancer(person)
Friends(person, person)

1.5 Smokes(x) => Cancer(x)   // smoking causes cancer
1.1 Friends(x, y) ^ Smokes(x) => Smokes(y)
-0.8 Smokes(+x)
Friends(x, y) => Friends(y, x).
"""
MAKING = f"""
import json
import mlnlab as ml
from mlnlab.widgets.edit import edited_model
edited_model.BETWEEN_EDITS = {PATIENCE}  # one drag is one edit, on a slow machine too
TEXT = {TEXT!r}
mln = ml.MLN.from_text(TEXT)
db = ml.Database.from_text("Smokes(Anna)\\nFriends(Anna, Bob)\\nFriends(Bob, Anna)\\nFriends(Bob, Carl)", mln)
db = db.with_facts("Friends(Carl, Bob)")
editor = ml.editor(TEXT, db, query=["Smokes", "Cancer"])
editor
""".strip()
ASKING = """
found = ml.infer(editor.model, editor.database, editor.query)
print(json.dumps({"text": editor.text, "weights": editor.model.weights, "marginals": dict(found)}))
""".strip()
HOSTILE = ["<script>window.harmed = 1</script>", "<img src=x onerror='window.harmed = 1'>", "$x$", "`${1}`"]
ATOMS = """(rows) => Object.fromEntries(rows.map((row) =>
  [row.querySelector(".mle-name").textContent, row.querySelector(".mle-words").textContent]))"""
CONTRASTS = """() => {
  const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const lightness = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = lightness(getComputedStyle(document.querySelector(".mle-code")).backgroundColor);
  return ["p", "v", "c", "q", "n"]
    .map((kind) => document.querySelector(`.mle-code .mle-${kind}`))
    .filter(Boolean)
    .map((letters) => lightness(getComputedStyle(letters).color))
    .map((light) => (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05));
}"""
UNTIL_IT_MOVES = """() => new Promise((done) => {
  const words = document.querySelectorAll(".mle-words")[3];
  const slider = document.querySelector(".mle input[type=range]");
  const began = performance.now();
  const watch = new MutationObserver(() => { watch.disconnect(); done(performance.now() - began); });
  watch.observe(words, { childList: true, characterData: true, subtree: true });
  slider.value = String(Number(slider.value) + 0.1);
  slider.dispatchEvent(new Event("input"));
})"""
PLACES = """() => {
  const field = document.querySelector(".mle textarea"), look = getComputedStyle(field);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${look.fontSize} ${look.fontFamily}`;
  const start = field.getBoundingClientRect().left + parseFloat(look.paddingLeft);
  const bad = document.querySelector(".mle-bad").getBoundingClientRect();
  return [pen.measureText("0.5 ").width + start, bad.left];
}"""


class Editor:
    """The editor on the screen, and the cell below it that asks the kernel."""

    def __init__(self, page):
        self.lab, self.page = page, page.page
        self.root = self.page.locator(".mle").first
        self.field = self.root.locator("textarea")
        self.rows = self.root.locator(".mle-row")

    def begun(self):
        self.root.wait_for()
        self.page.wait_for_function("document.querySelectorAll('.mle-bar').length > 5")
        return self

    def kernel(self):
        """Run the cell that asks, and return what it prints."""
        self.page.evaluate(
            "() => { const panel = window.jupyterapp.shell.currentWidget; panel.content.activeCellIndex = 1;"
            " panel.content.widgets[1].model.clearExecution(); }"
        )
        self.lab.command("notebook:run-cell")
        cell = "window.jupyterapp.shell.currentWidget.content.widgets[1]"
        done = f"{cell}.model.outputs.toJSON()[0]?.text"
        self.page.wait_for_function(f"() => {done}")
        return json.loads("".join(self.page.evaluate(f"() => {done}")))

    def words(self):
        return self.root.locator(".mle-bar").evaluate_all(ATOMS)

    def follows(self, text=""):
        """Wait until this is part of the text, and the bars say what the kernel says; return its words."""
        said = []

        def agrees():
            said[:] = [self.kernel()]
            return said[0]["text"] == self.field.input_value() and not self.wrong(said[0])

        self.page.wait_for_function(
            "text => document.querySelector('.mle textarea').value.includes(text)", arg=text
        )
        wait_until(agrees)
        return said[0]

    def wrong(self, said):
        shown = self.words()
        return {
            name: value
            for name, value in said["marginals"].items()
            if name not in shown or abs(float(shown[name].strip("<> ").split()[0]) - value) > 0.000101
        }

    def type_at_end(self, text):
        self.field.focus()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text)


@pytest.fixture(scope="module")
def notebook(lab):
    """One notebook for most tests: to open a page takes longer than what is tested in it."""
    with lab.open(lab.write("editing.ipynb", MAKING, ASKING), width=1400, height=1100) as page:
        page.hide_sidebar()
        yield page


@pytest.fixture
def opened(notebook):
    """A new editor, as whoever runs the cell again gets it."""
    notebook.theme("Light")
    notebook.run(0)
    yield Editor(notebook).begun()
    assert notebook.foreign == []
    assert notebook.complaints == []


def test_a_mistake_is_shown_where_it_is_and_can_be_repaired(opened):
    editor = opened
    editor.type_at_end("0.5 Smoke(x) => Cancer(x)")
    bad = editor.root.locator(".mle-line .mle-bad.mle-error", has_text=re.compile("^Smoke$"))
    bad.wait_for()
    assert bad.inner_text() == "Smoke"
    line = editor.root.locator(".mle-line").filter(has=editor.page.locator(".mle-bad"))
    assert "no predicate Smoke; did you mean Smokes?" in line.locator(".mle-note").inner_text()
    place = editor.root.locator(".mle-line").evaluate_all(
        "(lines) => lines.findIndex(l => l.querySelector('.mle-bad')) + 1"
    )
    assert place == 10
    assert editor.root.locator(".mle-gutter .mle-error").inner_text() == "10"
    editor.root.locator(".mle-list li", has_text="line 10").first.wait_for()
    # The underline lies exactly below the letters of the text field.
    letters, box = editor.page.evaluate(PLACES)
    assert abs(letters - box) < 1.5
    card = editor.root.locator(".mle-card")
    card.wait_for()
    assert editor.kernel()["weights"] == [1.5, 1.1, -0.8, None]
    card.wait_for(state="hidden")  # the caret is elsewhere
    editor.root.locator(".mle-list .mle-go").first.click()
    card.locator("button").click()
    bad.wait_for(state="detached")
    becomes(editor.field.input_value, TEXT + "0.5 Smokes(x) => Cancer(x)")
    assert editor.follows("0.5 Smokes(x) =>")["weights"] == [1.5, 1.1, -0.8, None, 0.5]


EDIT_AND_CLICK = """(root, text) => {
    const field = root.querySelector("textarea");
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    root.querySelector(".mle-list button:not(.mle-go)").click();
}"""


def test_a_click_on_a_repair_of_an_older_text_changes_nothing(opened):
    editor = opened
    editor.type_at_end("0.5 Smoke(x) => Cancer(x)")
    editor.root.locator(".mle-list button", has_text="use Smokes").wait_for()
    newer = "// first\n" + editor.field.input_value()
    editor.root.evaluate(EDIT_AND_CLICK, newer)
    editor.root.locator(".mle-problem", has_text="since this repair was shown").wait_for()
    assert editor.field.input_value() == newer
    editor.root.locator(".mle-list button", has_text="use Smokes").click()
    becomes(editor.field.input_value, newer.replace("Smoke(", "Smokes("))


def test_sliders_move_the_probabilities_by_keyboard_and_mouse(opened):
    editor = opened
    slider = editor.rows.nth(0).locator("input[type=range]")
    slider.focus()
    for _ in range(24):
        editor.page.keyboard.press("ArrowLeft")
    before = editor.follows("\n0.3 Smokes(x) => Cancer")
    assert before["weights"][0] == 0.3
    editor.root.locator(".mle-ghost:visible").nth(2).wait_for()
    box = editor.rows.nth(1).locator("input[type=range]").bounding_box()
    editor.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    editor.page.mouse.down()
    for part in range(60, 90, 2):
        editor.page.mouse.move(box["x"] + box["width"] * part / 100, box["y"] + box["height"] / 2)
    editor.page.mouse.up()
    dragged = editor.rows.nth(1).locator("input[type=number]").input_value()
    after = editor.follows(f"{float(dragged):g} Friends(x, y)")
    assert 3 < after["weights"][1] == float(dragged) < 4.5
    # A drag is one step back.
    editor.root.get_by_label("undo", exact=True).click()
    assert editor.follows("\n1.1 Friends")["weights"][1] == 1.1
    editor.rows.nth(0).locator("input[type=number]").fill("7.25")
    assert editor.follows("\n7.25 Smokes")["weights"][0] == 7.25
    becomes(lambda: slider.get_attribute("max"), "10")


def test_answers_that_come_while_one_types_take_nothing_away(opened):
    """Pauses about as long as the wait for the end of a word, so that answers and letters meet."""
    editor = opened
    written = '0.5 Smokes("Zo\u00eb") v Cancer("Zo\u00eb") // meanwhile'
    editor.field.focus()
    editor.page.keyboard.press("Control+End")
    for number, letter in enumerate(written):
        editor.page.keyboard.type(letter)
        editor.page.wait_for_timeout(110 + number * 7 % 90)
    becomes(lambda: editor.kernel()["text"], TEXT + written)
    assert editor.field.input_value() == TEXT + written


def test_a_paste_of_a_megabyte_does_not_stop_the_page(opened):
    """Its letters have no colours: with them it took forty seconds, without them less than one."""
    opened.page.evaluate(
        """async () => {
          const field = document.querySelector(".mle textarea");
          field.focus();
          field.value += "1 Smokes(x) v Smokes(y)\\n".repeat(45000);
          field.dispatchEvent(new Event("input"));
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }"""
    )
    assert opened.page.evaluate("document.querySelectorAll('.mle-code *').length") < 100
    opened.root.get_by_text("too long to be edited here").first.wait_for()
    opened.page.keyboard.press("Control+z")
    opened.page.wait_for_function(f"document.querySelector('.mle textarea').value.length === {len(TEXT)}")
    assert opened.root.locator(".mle-line").count() == len(TEXT.split("\n"))
    assert opened.root.locator(".mle-code .mle-p").count() > 5


def test_undo_and_redo_know_typing_and_the_table(opened):
    editor = opened
    editor.type_at_end("2 Cancer(x)")
    editor.rows.nth(4).wait_for()
    editor.rows.nth(0).locator("input[type=checkbox]").uncheck()
    assert editor.follows("// off: 1.5 Smokes")["weights"] == [1.1, -0.8, None, 2]
    editor.field.focus()
    editor.page.keyboard.press("Control+z")
    editor.page.wait_for_function("!document.querySelector('.mle textarea').value.includes('// off')")
    editor.page.keyboard.press("Control+z")
    editor.page.wait_for_function("!document.querySelector('.mle textarea').value.includes('2 Cancer')")
    becomes(lambda: editor.follows()["text"], TEXT)
    editor.field.focus()
    editor.page.keyboard.press("Control+Shift+z")
    editor.page.wait_for_function("document.querySelector('.mle textarea').value.includes('2 Cancer')")
    editor.page.keyboard.press("Control+y")
    assert editor.follows("// off")["weights"] == [1.1, -0.8, None, 2]
    # The keys of the notebook are not ours: no cell was removed or inserted.
    assert editor.page.locator(".jp-Notebook .jp-Cell").count() == 2


def test_formulas_are_moved_hardened_added_and_removed(opened):
    editor = opened
    editor.rows.nth(0).get_by_title("move down").click()
    editor.page.wait_for_function(
        "document.querySelectorAll('.mle-formula')[1].textContent === 'Smokes(x) ⇒ Cancer(x)'"
    )
    becomes(
        lambda: editor.page.evaluate("document.activeElement.title"), "move down"
    )  # the focus went with it
    becomes(lambda: editor.kernel()["weights"], [1.1, 1.5, -0.8, None])
    editor.rows.nth(1).locator(".mle-toggle").click()
    editor.page.wait_for_function("document.querySelectorAll('.mle-toggle')[1].ariaPressed === 'true'")
    becomes(lambda: editor.follows()["weights"], [1.1, None, -0.8, None])
    adding = editor.root.get_by_label("formula to add")
    adding.fill("0.5 Smoke(x)")
    editor.root.locator(".mle-hint.mle-error", has_text="did you mean Smokes").wait_for()
    adding.fill("0.5 Smokes(x) v Cancer(x)")
    editor.page.wait_for_function("!document.querySelector('.mle-hint.mle-error')")
    adding.press("Enter")
    editor.page.wait_for_function("document.querySelectorAll('.mle-row').length === 5")
    editor.rows.nth(2).get_by_title("remove").click()
    editor.page.wait_for_function("document.querySelectorAll('.mle-row').length === 4")
    becomes(lambda: editor.follows()["weights"], [1.1, None, None, 0.5])
    said = editor.follows()
    assert "// smoking causes cancer" in said["text"]


def test_an_atom_says_why_and_facts_can_be_assumed(opened):
    editor = opened
    editor.root.get_by_label("Cancer(Bob): 0.6", exact=False).click()
    why = editor.root.locator(".mle-why")
    why.get_by_text("Why Cancer(Bob)?").wait_for()
    why.get_by_text("raises the log-odds by").first.wait_for()
    shown = why.inner_text()
    editor.root.get_by_label("assume Smokes(Bob) true").click()
    editor.page.wait_for_function(
        "before => document.querySelector('.mle-why').innerText !== before", arg=shown
    )
    becomes(lambda: editor.follows()["marginals"]["Smokes(Bob)"], 1)
    wait_until(lambda: "fact" in editor.words()["Smokes(Bob)"])
    editor.root.get_by_label("assume Smokes(Bob) true").click()
    wait_until(lambda: editor.follows()["marginals"]["Smokes(Bob)"] < 1)
    editor.root.get_by_role("button", name="Friends", exact=True).click()
    editor.page.wait_for_function("document.querySelectorAll('.mle-bar').length === 15")
    editor.root.get_by_label("find atoms").fill("friends anna")
    editor.page.wait_for_function("document.querySelectorAll('.mle-bar').length === 5")


def test_everything_can_be_reached_and_seen_with_the_keyboard(opened):
    editor = opened
    editor.root.get_by_label("redo", exact=True).evaluate("b => { b.disabled = false; b.focus(); }")
    editor.page.keyboard.press("Tab")
    assert editor.page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    editor.page.keyboard.press("Tab")  # leaves the text
    seen = []
    for _ in range(70):
        name = editor.page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent")
        inside = editor.page.evaluate("!!document.activeElement.closest('.mle')")
        if not inside:
            break
        outline = editor.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", name
        seen.append(name)
        editor.page.keyboard.press("Tab")
    for wanted in (
        "weight of Smokes(x) ⇒ Cancer(x)",
        "remove Friends",
        "formula to add",
        "find atoms",
        "order of",
        "Cancer(Carl)",
    ):
        assert any(wanted in name for name in seen), wanted
    unnamed = editor.root.locator("button, input, select, textarea").evaluate_all(
        "all => all.filter(e => e.offsetParent && !(e.ariaLabel || e.textContent.trim())).length"
    )
    assert unnamed == 0


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_colours_can_be_told_from_the_ground_in_both_themes(opened, theme):
    editor = opened
    editor.lab.theme(theme)
    editor.type_at_end("0.5 Smoke(x) => Cancer(x)")
    editor.root.locator(".mle-bad.mle-error").wait_for()
    ratios = editor.page.evaluate(CONTRASTS)
    assert len(ratios) >= 3
    assert min(ratios) > 3.5


def test_a_page_that_is_loaded_again_goes_on_editing(lab):
    name = lab.write("again.ipynb", MAKING, ASKING)
    with lab.open(name, width=1400, height=1100) as page:
        page.run_all()
        editor = Editor(page).begun()
        editor.rows.nth(0).locator("input[type=number]").fill("2.75")
        editor.follows("2.75 Smokes")
        page.save()
        page.reload()
        editor = Editor(page).begun()
        assert editor.follows("2.75 Smokes(x) => Cancer(x)")["weights"][0] == 2.75
        editor.rows.nth(0).locator("input[type=number]").fill("-1")
        assert editor.follows("\n-1 Smokes")["weights"][0] == -1


def test_an_editor_that_lost_its_kernel_says_so(opened):
    opened.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => 0)"
    )
    opened.type_at_end("// more")
    opened.root.get_by_text("run the cell again").wait_for()
    assert opened.field.input_value().endswith("// more")
    # Lab itself says this of messages that the restarted kernel never answered.
    opened.lab.complaints[:] = [words for words in opened.lab.complaints if "Canceled future" not in words]


def test_without_a_kernel_the_model_and_its_probabilities_still_stand_there(lab):
    import mlnlab as ml

    editor = ml.editor(TEXT, {"person": 2}, ["Smokes"])
    data, metadata = editor._repr_mimebundle_()
    editor.close()
    name = lab.write("saved.ipynb", MAKING)
    notebook = nbformat.read(lab.folder / name, as_version=4)
    notebook.cells[0].outputs = [new_output("display_data", data=data, metadata=metadata)]
    notebook.cells[0].execution_count = 1
    nbformat.write(notebook, lab.folder / name)
    with lab.open(name) as page:
        page.output(0).get_by_text("Markov logic network").first.wait_for()
        picture, width = page.output(0).locator("img"), "image => image.complete && image.naturalWidth"
        wait_until(lambda: picture.evaluate(width) > 300)


def test_hostile_names_stay_text(lab):
    text = "\n".join(["Smokes(person)", *(f"0.5 Smokes({json.dumps(name)})" for name in HOSTILE)])
    making = f"import json, mlnlab as ml\neditor = ml.editor({text!r})\neditor"
    with lab.open(lab.write("hostile-editor.ipynb", making, ASKING), width=1400) as page:
        page.run_all()
        root = page.page.locator(".mle").first
        root.wait_for()
        wait_until(lambda: all(name in root.inner_text() for name in HOSTILE))
        page.page.wait_for_timeout(1000)  # time for the typesetter, if it should want to
        root.locator(".mle-name").first.click()
        root.locator("textarea").focus()
        page.page.keyboard.press("Control+End")
        page.page.keyboard.type('\n1 Smoke("<script>window.harmed = 1</script>")')
        root.locator(".mle-bad.mle-error", has_text=re.compile("^Smoke$")).wait_for()
        for name in HOSTILE:
            assert name in root.inner_text()
        assert page.page.evaluate("window.harmed === undefined")
        assert root.locator("script, img, mjx-container, .MathJax").count() == 0
        assert page.foreign == []


def test_an_edit_is_followed_at_once(opened):
    """From the key to the new bar on the screen: some hundredths of a second, where the machine is quick."""
    editor = opened
    editor.rows.nth(0).locator("input[type=range]").focus()
    waited = []
    for _ in range(8):
        waited.append(editor.page.evaluate(UNTIL_IT_MOVES))
        editor.follows()
    print(f"edit to bars: best {min(waited):.0f} ms, worst {max(waited):.0f} ms")
    assert min(waited) < 5_000  # the best of several; where nothing is ever answered, edits wait two seconds


SAMPLING = (
    MAKING.rsplit("\n", 2)[0]
    + """
many = ml.Database.from_text("\\n".join(f"Friends(P{i}, P{i + 1})" for i in range(40)), mln)
editor = ml.editor(TEXT.replace("Friends(x, y) => Friends(y, x).\\n", ""), many, query=["Smokes", "Cancer"])
editor"""
)
THREADS = "import threading\nprint(json.dumps([thread.name for thread in threading.enumerate()]))"


def test_what_is_too_large_is_sampled_before_the_reader_s_eyes(lab):
    with lab.open(lab.write("sampled.ipynb", SAMPLING, THREADS), width=1400, height=1100) as page:
        page.hide_sidebar()
        page.run_all()
        editor = Editor(page).begun()
        editor.root.locator(".mle-whisker:visible").first.wait_for()
        how = editor.root.locator(".mle-how")
        is_sampled = "(words) => words.startsWith('40 of 82') && words.includes('Sampled, gibbs')"
        page.page.wait_for_function(f"({is_sampled})(document.querySelector('.mle-how').innerText)")
        is_done = "!document.querySelector('.mle-how').innerText.includes('still going on')"
        page.page.wait_for_function(is_done)  # else what changes below could be the first samples
        before = how.inner_text()
        slider = editor.rows.nth(2).locator("input[type=range]")
        slider.focus()
        for _ in range(30):
            page.page.keyboard.press("ArrowRight")
        page.page.wait_for_function(
            "before => document.querySelector('.mle-how').innerText !== before", arg=before
        )
        page.page.wait_for_function(is_done)
        weight = float(editor.rows.nth(2).locator("input[type=number]").input_value())
        wait_until(lambda: f"{weight:g} Smokes(+x)" in editor.field.input_value())

        def mean():
            shown = [float(words) for words in editor.words().values()]
            return sum(shown) / len(shown)

        wait_until(lambda: mean() > 0.5)  # everybody is likelier to smoke now
        editor.root.locator(".mle-ghost:visible").nth(20).wait_for()
        wait_until(lambda: "mlnlab-live" not in editor.kernel())
        assert page.complaints == []


COMPARING = (
    MAKING.rsplit("\n", 1)[0]
    + """
compare = editor.compare()
compare.right.set_weight(0, 0.5)
compare.right.add("Old(person)\\n0.7 Old(x) => Cancer(x)")
compare.right.remove(2)
compare"""
)
CELLS = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
DIFFERENCES = """
found = {contrast.name: [contrast.left, contrast.right] for contrast in compare.contrasts}
print(json.dumps({"marginals": found, "left": compare.left.text, "right": compare.right.model.weights}))
""".strip()


def test_two_models_stand_beside_each_other_and_take_over(lab):
    with lab.open(lab.write("compare.ipynb", COMPARING, DIFFERENCES), width=1400, height=1100) as page:
        page.hide_sidebar()
        page.run_all()
        editor = Editor(page)
        left, right = (page.page.locator(f".mlc-{side} .mle") for side in ("left", "right"))
        rows = page.page.locator(".mle .mlnlab-table tbody tr")

        def differences(*states):
            cells = rows.evaluate_all(CELLS)
            return [row for row in cells if row[0] in states]

        def formulas():
            return [row[0] for row in differences("changed", "only left", "only right")]

        left.locator(".mle-code textarea").wait_for()
        right.locator(".mle-code textarea").wait_for()
        becomes(formulas, ["changed", "only left", "only right"])

        def agrees():
            """Tell whether the table says what the kernel says."""
            said = editor.kernel()["marginals"]
            return all(
                abs(float(words.strip("<> ")) - value) < 0.000101
                for _, name, *shown, _ in differences("probability")
                for words, value in zip(shown, said.get(name, [inf, inf]), strict=True)
            )

        wait_until(agrees)
        left.locator("input[type=number]").first.fill("-2")
        becomes(lambda: differences("changed")[0][2:], ["-2", "0.5", "2.5"])
        wait_until(agrees)
        assert "-2 Smokes(x) => Cancer(x)" in editor.kernel()["left"]
        remaining = ["changed", "only left", "only right"]
        for name in ("this one", "the other", "this one"):
            rows.first.click()
            page.page.get_by_role("button", name=f"take into {name}").click()
            remaining.pop(0)
            becomes(formulas, remaining)
        becomes(lambda: editor.kernel()["right"], [0.5, 1.1, None, 0.7, -0.8])
        wait_until(lambda: all(abs(a - b) < 1e-9 for a, b in editor.kernel()["marginals"].values()))
        left.get_by_label("undo").click()
        becomes(lambda: len(formulas()), 1)
        assert page.foreign == []
        assert page.complaints == []
