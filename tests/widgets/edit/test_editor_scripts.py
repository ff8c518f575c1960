"""How a page cuts the text of a model into coloured pieces: whatever stands there, nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.display.scene.scripts import STATIC, join_modules
from tests.display.scene.pages import address
from tests.support.patience import PATIENCE
from tests.support.thoroughness import examples

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
ASK = """
import { readFileSync } from "node:fs";
const { linesOf, marked } = await import(process.argv[1]);
const [texts, marks] = JSON.parse(readFileSync(0, "utf8"));
const cut = (text) => linesOf(text).map((line) => marked(line, marks));
console.log(JSON.stringify(texts.map((text) => [linesOf(text), cut(text)])));
"""


def asked(texts, marks=()):
    text = join_modules(STATIC / "editor_tokens.js")
    found = subprocess.run(
        [NODE, "--input-type=module", "--eval", ASK, address(text)],
        input=json.dumps([texts, list(marks)]), capture_output=True, text=True, check=True,
        timeout=5 * PATIENCE,
    )  # fmt: skip
    return json.loads(found.stdout)


def kinds(text):
    ((lines, _),) = asked([text])
    return [(piece, kind) for line in lines for piece, kind in line if kind]


def test_words_have_the_colours_of_what_they_mean():
    assert kinds("1.5 Smokes(x) => Cancer(Anna) v !Old(y)") == [
        ("1.5", "n"),
        ("Smokes", "p"),
        ("x", "v"),
        ("=>", "q"),
        ("Cancer", "p"),
        ("Anna", "c"),
        ("v", "q"),
        ("!", "q"),
        ("Old", "p"),
        ("y", "v"),
    ]
    assert kinds('-2e-1 P("a // b") // why') == [
        ("-2e-1", "n"),
        ("P", "p"),
        ('"a // b"', "c"),
        ("// why", "m"),
    ]
    assert kinds("// off: 1 P(x)\n/*off: Q(x).*/ /* c\nd */") == [
        ("// off: 1 P(x)", "x"),
        ("/*off: Q(x).*/", "x"),
        ("/* c", "m"),
        ("d */", "m"),
    ]
    assert kinds("EXIST y EXISTING(y)")[0] == ("EXIST", "q")
    assert kinds("EXIST y EXISTING(y)")[2] == ("EXISTING", "p")


@settings(max_examples=examples(5), deadline=None)
@given(st.lists(st.text(st.sampled_from('aZ1 ."/*v!=>(\\)\n+-é漢'), max_size=60), min_size=40, max_size=40))
def test_the_pieces_joined_are_the_text(texts):
    marks = [{"from": 1, "to": 4}, {"from": 3, "to": 9}]
    for text, (lines, cut) in zip(texts, asked(texts, marks), strict=True):
        assert "\n".join("".join(piece for piece, _ in line) for line in lines) == text
        for line, whole in zip(cut, text.split("\n"), strict=True):
            joined_line = "".join(piece for piece, _, _ in line)
            assert joined_line in {whole, whole + " "}  # a mark behind the end stands under a space
            for piece, _, inside in line:
                assert piece
                assert len(inside) <= 2
