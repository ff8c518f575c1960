"""What a slider asks for: two questions at most are on their way, the newest of the others waits."""

from __future__ import annotations

import json
import shutil

import pytest

from mlnlab.display.scene.scripts import STATIC, join_modules
from tests.display.scene.test_scripts import run_node

SCRIPT = """
const sent = [], rests = [];
const newest = new NewestWins((change, turn) => sent.push([turn, change]));
const last = (before, now) => now;
for (const value of [1, 2, 3, 4, 5]) newest.ask(value, last);
newest.atRest(() => rests.push(sent.length));
const early = [...sent];
newest.answered(1);
newest.answered(1);
const after = [...sent], resting = rests.length;
newest.answered(3);  // the answer to 2 was lost: that to 3 is newer
newest.ask(6, last);
newest.answered(4);
newest.destroy();
console.log(JSON.stringify({ early, after, resting, rests, all: sent }));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_two_questions_are_on_their_way_and_the_newest_waits():
    found = run_node("--input-type=module", text=join_modules(STATIC / "sliders.js") + SCRIPT)
    said = json.loads(found.stdout)
    assert said["early"] == [[1, 1], [2, 2]]
    assert said["after"] == [[1, 1], [2, 2], [3, 5]]  # 3 and 4 were never asked
    assert said["resting"] == 0
    assert said["rests"] == [3]  # once, when all had been answered
    assert said["all"][-1] == [4, 6]
