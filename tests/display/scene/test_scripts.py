"""Our modules as one text: sound, fresh, and free of what could turn data into markup."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from mlnlab.display.scene.scripts import STATIC, join_modules, look_script, scene_script, table_script
from tests.display.scene.pages import address
from tests.support.patience import PATIENCE

NODE = shutil.which("node")
ENTRIES = [
    "scene.js", "table.js", "player.js", "run_view.js", "scene_view.js", "explore_view.js",
    "clause_table_view.js", "circuit_view.js",
]  # fmt: skip
MODULES = sorted(STATIC.glob("*.js"))
ATTRIBUTES = {
    "aria-expanded", "aria-label", "aria-live", "aria-pressed", "aria-roledescription", "aria-selected",
    "aria-sort", "aria-valuetext", "class", "d", "data-id", "data-lm-suppress-shortcuts", "data-pick",
    "preserveAspectRatio", "role", "scope", "tabindex", "transform", "viewBox",
}  # fmt: skip


def run_node(*arguments, text=None):
    return subprocess.run(
        [NODE, *arguments], input=text, capture_output=True, text=True, timeout=5 * PATIENCE, check=False
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_joined_modules_are_one_sound_module(name):
    if NODE is None:
        pytest.skip("node is not installed")
    text = join_modules(STATIC / name)
    assert not re.search(r"^import\b", text, re.MULTILINE)
    checked = run_node("--input-type=module", "--check", text=text)
    assert checked.returncode == 0, checked.stderr
    code = f"const found = await import('{address(text)}'); console.log(Object.keys(found).join())"
    assert run_node("--input-type=module", "--eval", code).stdout.strip() in {"mount", "play", "render"}


def test_what_the_modules_know_of_the_look_is_fresh():
    assert (STATIC / "look.js").read_text(encoding="utf-8") == look_script()


def test_names_of_different_modules_never_meet(tmp_path):
    (tmp_path / "a.js").write_text(
        'import {\n  value,\n} from "./b.js";\nconst own = 1;\nexport const sum = own + value;\n'
    )
    (tmp_path / "b.js").write_text("const own = 41;\nexport const value = own;\n")
    text = join_modules(tmp_path / "a.js")
    if NODE is not None:
        code = f"console.log((await import('{address(text)}')).sum)"
        assert run_node("--input-type=module", "--eval", code).stdout.strip() == "42"


@pytest.mark.parametrize(
    "line", ['import value from "./b.js";', 'import "./b.js";', "export default 1;", "export { a };"]
)
def test_forms_that_cannot_be_joined_are_refused(tmp_path, line):
    (tmp_path / "a.js").write_text(f"{line}\n")
    (tmp_path / "b.js").write_text("export const value = 1;\n")
    with pytest.raises(ValueError, match="cannot be joined"):
        join_modules(tmp_path / "a.js")


def test_circles_are_refused(tmp_path):
    for one, other in ("ab", "ba"):
        (tmp_path / f"{one}.js").write_text(
            f'import {{ {other} }} from "./{other}.js";\nexport const {one} = 1;\n'
        )
    with pytest.raises(ValueError, match="circle"):
        join_modules(tmp_path / "a.js")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_are_short_and_make_no_markup(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|DOMParser|document\.write|\beval\b|new Function", text
    )
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|https?:(?!//www\.w3\.org/2000/svg)", text)
    set_here = set(re.findall(r'setAttribute\(\s*"([^"]+)"', text))
    assert set_here <= ATTRIBUTES


def test_the_texts_stay_small():
    assert len(scene_script()) < 50_000
    assert len(table_script()) < 30_000
