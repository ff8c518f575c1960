"""The extension in a real JupyterLab: files, cells, saved drawings, and live widgets in their place."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.model.hypergraphs import scene_of
from mlnlab.display.scene.items import MIME_TYPE
from tests.browser.lab import REPOSITORY
from tests.display.scene.gallery import database
from tests.display.scene.gallery import hostile as hostile_scene
from tests.support.patience import becomes, wait_until

MODEL = """%%mln
Smokes(person)  // who smokes
1.5 Smokes(x) ^ Friends(x, Anna) => EXIST y Smokes(y)
"""
FACTS = '%%db\nFriends(Anna, "Bo B")\n'
PYTHON = "total = sum(range(3))"
OF_IPYWIDGETS = "Cannot read properties of null (reading 'kernel')"  # what it says where there is none


# --- files ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def desk(lab):
    """A page with a model, a fact file and a notebook of magic cells open."""
    (lab.folder / "rules.mln").write_text(MODEL.removeprefix("%%mln\n"))
    (lab.folder / "facts.db").write_text(FACTS.removeprefix("%%db\n"))
    with lab.open(lab.write("magic.ipynb", MODEL, PYTHON, FACTS)) as page:
        yield page


def open_file(page, name):
    """Open a file and wait until it is loaded: Lab has an error for one that is renamed before it is."""
    page.command("docmanager:open", path=name)
    context = "window.jupyterapp.shell.currentWidget?.context"
    page.page.wait_for_function(f"() => {context}?.path === '{name}' && {context}.isReady")
    page.page.wait_for_selector(f".lm-TabBar-tab.lm-mod-current:has-text('{name}')")


def icons(page, name):
    """The names of the icons of a file: in its tab, and in the list of files."""
    tab = page.page.locator(f".lm-DockPanel-tabBar .lm-TabBar-tab:has-text('{name}') svg[data-icon]").first
    entry = page.page.locator(f".jp-DirListing-item:has-text('{name}') svg[data-icon]").first
    return tab.get_attribute("data-icon"), entry.get_attribute("data-icon")


@pytest.mark.parametrize(("name", "icon"), [("rules.mln", "mlnlab:model"), ("facts.db", "mlnlab:facts")])
def test_files_have_our_icons(desk, name, icon):
    open_file(desk, name)
    becomes(lambda: icons(desk, name), (icon, icon))


def test_the_icon_follows_the_name(desk, lab):
    (lab.folder / "moving.txt").write_text("Smokes(person)\n")
    open_file(desk, "moving.txt")
    assert "mlnlab" not in icons(desk, "moving.txt")[0]
    for name, icon in (("moving.mln", "mlnlab:model"), ("moved.txt", "ui-components:text-editor")):
        rename = "name => window.jupyterapp.shell.currentWidget.context.rename(name)"
        desk.page.evaluate(rename, name)
        tab = f".lm-DockPanel-tabBar .lm-TabBar-tab:has-text('{name}') svg[data-icon='{icon}']"
        desk.page.wait_for_selector(tab)


# Colours as they are seen, by the text that has them, in the editor that is looked at.
COLOURS = """root => {
  const found = {};
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    for (const word of text.data.split(/\\s+/)) found[word] ??= getComputedStyle(text.parentElement).color;
  }
  return found;
}"""


def colours(locator, *apart):
    """Return the colours of words, once these differ: an editor is coloured a moment later."""

    def are_apart():
        found = locator.evaluate(COLOURS)
        return len({found.get(word) for word in apart} - {None}) == len(apart)

    wait_until(are_apart)
    return locator.evaluate(COLOURS)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_words_are_coloured_in_both_themes(desk, theme):
    open_file(desk, "rules.mln")
    desk.theme(theme)
    editor = desk.page.locator(".jp-FileEditor .cm-content:visible")
    seen = colours(editor, "person", "Smokes", "Anna", "=>", "//")
    plain = seen["person"]
    told_apart = [seen[word] for word in ("Smokes", "Anna", "1.5", "EXIST", "=>", "//")]
    assert plain not in told_apart
    assert len({seen[word] for word in ("Smokes", "Anna", "=>", "//")}) == 4
    open_file(desk, "facts.db")
    seen = colours(desk.page.locator(".jp-FileEditor .cm-content:visible"), "Friends", "Anna")
    assert len({seen["Friends"], seen["Anna"], plain}) == 3
    assert seen['"Bo'] == seen["Anna"]


def test_editors_know_comments_and_brackets(desk):
    for name in ("rules.mln", "facts.db"):
        open_file(desk, name)
        state = "window.jupyterapp.shell.currentWidget.content.editor.editor.state"
        (comments,) = desk.page.evaluate(f"{state}.languageDataAt('commentTokens', 0)")
        assert comments == {"line": "//", "block": {"open": "/*", "close": "*/"}}
        (closing,) = desk.page.evaluate(f"{state}.languageDataAt('closeBrackets', 0)")
        assert closing["brackets"] == ["(", "[", "{", '"']  # an apostrophe is part of a name


def test_sets_and_long_comments_fold(desk, lab):
    (lab.folder / "long.mln").write_text("/* why\nso */\nperson = {\n  Anna,\n  Bob\n}\n1 A(x)\n  => B(x)\n")
    open_file(desk, "long.mln")
    editor = "window.jupyterapp.shell.currentWidget.content.editor"
    desk.page.evaluate(f"{editor}.setOption('codeFolding', true)")
    markers = desk.page.locator(".jp-FileEditor .cm-foldGutter .cm-gutterElement span[title]:visible")
    markers.nth(2).wait_for()
    becomes(markers.count, 3)


# --- cells ------------------------------------------------------------------------------------


def languages(page):
    """The languages of the cells' editors."""
    return page.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.mimeType)"
    )


def set_source(page, cell, text):
    cells = "window.jupyterapp.shell.currentWidget.content.widgets"
    page.page.evaluate(f"([n, text]) => {cells}[n].model.sharedModel.setSource(text)", [cell, text])


def test_magic_cells_are_in_our_languages_and_back(desk):
    open_file(desk, "magic.ipynb")
    desk.theme("Light")
    ours = ["text/x-mln", "text/x-ipython", "text/x-mln-facts"]
    becomes(lambda: languages(desk), ours)
    content = desk.page.locator(".jp-Notebook .jp-CodeCell .cm-content")
    seen, python = colours(content.nth(0), "Smokes", "person", "%%mln"), colours(content.nth(1))
    assert seen["Smokes"] != seen["person"] == python["total"]
    assert seen["%%mln"] not in {seen["Smokes"], seen["person"]}
    set_source(desk, 0, MODEL.replace("%%mln", "# %%mln"))
    set_source(desk, 1, "%%mln other --keep-going\n" + PYTHON)
    set_source(desk, 2, "%%dbase\n")
    becomes(lambda: languages(desk), ["text/x-ipython", "text/x-mln", "text/x-ipython"])
    for cell, text in enumerate((MODEL, PYTHON, FACTS)):
        set_source(desk, cell, text)
    becomes(lambda: languages(desk), ours)


def test_new_and_changed_cells_are_followed(desk):
    open_file(desk, "magic.ipynb")
    desk.command("notebook:insert-cell-below")
    desk.page.wait_for_function("window.jupyterapp.shell.currentWidget.content.widgets.length === 4")
    for kind in ("markdown", "code"):
        desk.command(f"notebook:change-cell-to-{kind}")
        active = "window.jupyterapp.shell.currentWidget.content.activeCell"
        desk.page.wait_for_function(f"{active}.model.type === '{kind}'")
    place = desk.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex")
    desk.page.keyboard.press("Enter")
    desk.page.keyboard.type("%%db\nSmokes(Anna")
    becomes(lambda: languages(desk)[place], "text/x-mln-facts")
    desk.page.keyboard.press("Control+Home")
    desk.page.keyboard.press("Delete")
    becomes(lambda: languages(desk)[place], "text/x-ipython")
    desk.page.keyboard.press("Escape")
    desk.command("notebook:delete-cell")


# --- saved drawings ---------------------------------------------------------------------------


def saved(lab, name, *bundles):
    """Write a notebook that somebody ran elsewhere: Lab does not trust it."""
    cells = [
        new_code_cell("shown", execution_count=1, outputs=[new_output("display_data", data=data)])
        for data in bundles
    ]
    nbformat.write(new_notebook(cells=cells), lab.folder / name)
    return name


def hypergraph():
    graph = ml.Hypergraph.from_database(database())
    return {**bundle(graph), MIME_TYPE: scene_of(graph).to_json()}


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_a_saved_drawing_stands_without_a_kernel(lab, theme, trusted):
    with lab.open(saved(lab, f"saved-{theme}-{trusted}.ipynb", hypergraph()), kernel=False) as page:
        page.theme(theme)
        page.page.locator(".jp-Notebook svg.mlnlab-scene").wait_for()
        if trusted:
            page.command("notebook:trust")
            page.page.click(".jp-Dialog button.jp-mod-accept")
        current = "window.jupyterapp.shell.currentWidget"
        told = f"{current}.content.widgets[0].model.trusted"
        page.page.wait_for_function(f"() => {told} === {str(trusted).lower()}")
        assert page.page.evaluate(f"{current}.sessionContext.session") is None
        output = page.output(0)
        drawing = output.locator("svg.mlnlab-scene")
        drawing.wait_for()
        assert drawing.get_attribute("role") == "group"
        assert drawing.get_attribute("aria-label").startswith("Hypergraph")
        assert drawing.bounding_box()["width"] > 300
        # What the display says around its picture stays, and the picture is there once.
        assert "Hypergraph" in output.inner_text()
        assert output.locator("details table").count() >= 1
        output.locator("img").wait_for(state="detached")
        assert output.locator("svg.mlnlab-scene").count() == 1
        node = drawing.locator("[aria-pressed]").first
        node.click()
        becomes(lambda: node.get_attribute("aria-pressed"), "true")
        assert page.foreign == []
        assert set(page.complaints) <= {OF_IPYWIDGETS}


def test_a_drawing_alone_and_one_of_a_newer_version(lab):
    data = hypergraph()
    scene = data[MIME_TYPE]
    newer = {**data, MIME_TYPE: {**scene, "version": 99}}
    name = saved(lab, "alone.ipynb", {"text/plain": "text", MIME_TYPE: scene}, newer)
    with lab.open(name, kernel=False) as page:
        page.output(0).locator("svg.mlnlab-scene").wait_for()
        page.output(1).locator("[role=alert]").wait_for()
        assert page.output(1).locator("img").is_visible()


def test_hostile_names_stay_text(lab):
    name = saved(lab, "hostile-scene.ipynb", {"text/plain": "x", MIME_TYPE: hostile_scene().to_json()})
    with lab.open(name, kernel=False) as page:
        output = page.output(0)
        output.locator("svg.mlnlab-scene").wait_for()
        for item in output.locator("[aria-pressed]").all():
            item.hover(force=True)
        page.page.wait_for_timeout(1500)  # time for the typesetter, if it should want to
        assert page.page.evaluate("window.harmed === undefined")
        assert output.locator("script, [onerror], [src='x'], mjx-container, .MathJax").count() == 0
        assert "<script>" in output.inner_text()
        assert page.foreign == []
        assert set(page.complaints) <= {OF_IPYWIDGETS}


TABLE = {
    "format": "mlnlab-table", "version": 1, "title": "Atoms",
    "columns": [{"name": "atom", "number": False}, {"name": "p", "number": True}],
    "rows": [["Smokes(<b>Anna</b>)", 0.25], ["Smokes(Bob)", 0.5]],
}  # fmt: skip


def test_a_table_can_be_sorted_and_searched(lab):
    data = {"text/plain": "x", "application/vnd.mlnlab.table+json": TABLE}
    with lab.open(saved(lab, "table.ipynb", data), kernel=False) as page:
        rows = page.output(0).locator("tbody tr")
        rows.first.wait_for()
        becomes(rows.count, 2)
        assert "Smokes(<b>Anna</b>)" in rows.first.inner_text()
        page.output(0).locator("input[type=search]").fill("bob")
        becomes(rows.count, 1)


def test_a_scene_file_opens_as_a_drawing_or_as_text(lab, desk):
    (lab.folder / "net.scene.json").write_text(json.dumps(hypergraph()[MIME_TYPE]))
    open_file(desk, "net.scene.json")
    desk.page.locator(".jp-MimeDocument svg.mlnlab-scene").wait_for()
    becomes(lambda: icons(desk, "net.scene.json"), ("mlnlab:drawing", "mlnlab:drawing"))
    desk.command("docmanager:open", path="net.scene.json", factory="Editor")
    desk.page.wait_for_selector(".jp-FileEditor .cm-content:visible")


def test_the_extension_is_found_and_enabled(desk):
    for plugin in ("languages", "cells", "drawings"):
        desk.page.wait_for_function(f"window.jupyterapp.isPluginActivated('mlnlab:{plugin}')")
    assert re.search(r'"name": "mlnlab"', (REPOSITORY / "extension" / "package.json").read_text())
