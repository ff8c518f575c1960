"""Traces in files: they come back the same, and whatever is wrong with a file is said with its line."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError, InputError
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.stopping import AfterSteps
from mlnlab.steps.step import Step, run
from mlnlab.steps.values.sameness import same_state
from tests.steps.toys import counting, first_state, histories, walk

LOOSE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def recorded(states, **options):
    trace = Trace(**options)
    for index, state in enumerate(states):
        trace.on_step(Step(index, index / 10, state))
    return trace


@LOOSE
@given(histories())
def test_a_trace_comes_back_the_same(tmp_path, states):
    trace = recorded(states)
    trace.save(tmp_path / "a.jsonl")
    found = Trace.load(tmp_path / "a.jsonl")
    assert [(s.index, s.seconds) for s in found] == [(s.index, s.seconds) for s in trace]
    assert all(same_state(a.state, b.state) for a, b in zip(found, trace, strict=True))
    for name, column in trace.metrics().columns.items():
        np.testing.assert_array_equal(found.metrics()[name], column)


def test_a_thinned_trace_keeps_its_metrics(tmp_path):
    trace = recorded(counting(500), most_steps=20, watches={"half": lambda state: state.value / 2})
    trace.save(tmp_path / "a.jsonl")
    found = Trace.load(tmp_path / "a.jsonl")
    assert found.indices == trace.indices
    assert found.to_frame().equals(trace.to_frame())
    assert len(found.to_frame()) == 500


def test_a_trace_without_metrics_and_an_empty_one_come_back(tmp_path):
    class Silent:
        pass

    trace = Trace()
    trace.save(tmp_path / "a.jsonl")
    assert len(Trace.load(tmp_path / "a.jsonl")) == 0
    trace.add(Step(0, 0.0, (1, 2)), {})
    trace.add(Step(1, 0.0, (1, 3)), {})
    trace.save(tmp_path / "a.jsonl")
    assert [step.state for step in Trace.load(tmp_path / "a.jsonl")] == [(1, 2), (1, 3)]
    trace.add(Step(2, 0.0, Silent()), {})
    with pytest.raises(ArgumentError, match="Silent is not registered"):
        trace.save(tmp_path / "a.jsonl")
    # What was there before is still there, and nothing else.
    assert len(Trace.load(tmp_path / "a.jsonl")) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_file_costs_what_changed(tmp_path):
    trace = Trace()
    run(walk(1, size=1000), observers=[trace], stop=AfterSteps(300))
    trace.save(tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").stat().st_size < 300 * 8000 / 10


def test_not_a_number_is_kept_and_the_file_is_strict_json(tmp_path):
    trace = Trace(watches={"odd": lambda state: [float("nan"), float("inf"), -float("inf")][state.value]})
    run(counting(3), observers=[trace])
    trace.save(tmp_path / "a.jsonl")

    def refuse(text):
        raise AssertionError(text)

    for line in (tmp_path / "a.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=refuse)
    np.testing.assert_array_equal(
        Trace.load(tmp_path / "a.jsonl").metrics()["odd"], [np.nan, np.inf, -np.inf]
    )


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def good(tmp_path):
    """The lines of a good file, and where to put other ones."""
    weights = np.zeros(40)
    first = first_state()
    values = {name: getattr(first, name) for name in first.__slots__}
    weights[3] = 1
    changed = values | {"weights": weights, "facts": (1, 2), "notes": {"a": 1}, "label": "b"}
    recorded([first, type(first)(**changed), type(first)(**changed | {"facts": (1,)})]).save(
        tmp_path / "a.jsonl"
    )
    return lines_of(tmp_path / "a.jsonl"), tmp_path / "b.jsonl"


def refused(path, lines, line, sentence):
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=sentence) as caught:
        Trace.load(path)
    text = str(caught.value)
    assert text.startswith(f"b.jsonl, line {line}: "), text
    assert text.isprintable()
    assert len(text) < 400


def test_truncated_files_get_a_sentence(good):
    lines, path = good
    refused(path, lines[:-1], 4, "ends before the trace does")
    refused(path, lines[:3] + lines[4:], 4, "had 3 steps when it was written")
    refused(path, [*lines[:2], lines[2][:50]], 3, "not a step of a trace")
    refused(path, [*lines, lines[1]], 6, "after the end")
    refused(path, [lines[0], *lines[2:]], 2, "hold its whole state")
    refused(path, [], 0, "ends before")
    refused(path, [lines[0], lines[1], lines[1], *lines[2:]], 3, "Step 0 comes after step 0")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"[]\n", "JSON object"),
        (b"\xff\xfe\n", "not a step of a trace"),
        (b"\n", "not a step of a trace"),
        (b'{"step": 1, "seconds": NaN, "metrics": {}}\n', "NaN is not a number in JSON"),
        (b'{"step": "1", "seconds": 0, "metrics": {}}\n', "whole number `step`"),
        (b'{"step": 1e3, "seconds": 0, "metrics": {}}\n', "whole number `step`"),
        (b'{"step": 1' + b"0" * 40 + b', "seconds": 0, "metrics": {}}\n', "whole number `step`"),
        (b'{"step": 1' + b"0" * 9000 + b', "seconds": 0, "metrics": {}}\n', "not a step of a trace"),
        (b'{"step": 1, "seconds": 0, "metrics": {"a": [1]}}\n', "not a step of a trace"),
        (b'{"step": 1, "seconds": 0, "metrics": 3}\n', "not a step of a trace"),
        (b"[" * 200_000 + b"\n", "nested too deeply"),
        (b'{"step": 1, "seconds": 0, "metrics": {}, "change": "x"}\n', "does not fit"),
    ],
)
def test_damaged_lines_get_a_sentence(good, line, sentence):
    lines, path = good
    refused(path, [*lines[:2], line, *lines[3:]], 3, sentence)


@pytest.mark.parametrize(
    "change",
    [
        ["value"],
        ["value", {"$": "no.such"}],
        ["fields", {"__class__": ["value", 1]}],
        ["fields", {"weights": ["items", 1, []]}],
        ["fields", {"weights": ["entries", "/////w==", "AAAAAAAAAAA="]}],
        ["fields", {"weights": ["entries", "AAAAAA==", "AAAA"]}],
        ["fields", {"weights": ["entries", "AAA=", ""]}],
        ["fields", {"weights": ["entries", 5, ""]}],
        ["fields", {"facts": ["items", 10**9, []]}],
        ["fields", {"facts": ["items", -1, []]}],
        ["fields", {"facts": ["items", 1, [[5, ["value", 1]]]]}],
        ["fields", {"facts": ["items", 1, [[-1, ["value", 1]]]]}],
        ["fields", {"facts": ["items", 1, 7]}],
        ["fields", {"facts": ["items", 1, [[0, ["fields", {"a": 1}]]]]}],
        ["fields", {"notes": ["keys", [], [["new"]]]}],
        ["fields", {"notes": ["keys", [["list"]], [[{"a": 1}, ["value", 1]]]]}],
        ["fields", {"notes": ["keys", [], [["new", ["entries", "", ""]]]]}],
        ["fields", ["weights"]],
        ["run", "rm"],
        [],
        {},
    ],
    ids=repr,
)
def test_hostile_changes_get_a_sentence(good, change):
    lines, path = good
    line = json.dumps({"step": 1, "seconds": 0.0, "metrics": {}, "change": change}).encode() + b"\n"
    refused(path, [*lines[:2], line], 3, r"\.$")


@pytest.mark.parametrize("positions", ["/////w==", "KAAAAA=="])  # the array has 40 entries
def test_entries_outside_of_an_array_are_noticed_before_they_are_changed(good, positions):
    lines, path = good
    change = ["fields", {"weights": ["entries", positions, "AAAAAAAAAAA="]}]
    line = json.dumps({"step": 1, "seconds": 0.0, "metrics": {}, "change": change}).encode() + b"\n"
    refused(path, [*lines[:2], line], 3, "A change does not fit the state before it")


def test_other_files_get_a_sentence(good, tmp_path):
    lines, path = good
    refused(path, [b'{"a": 1}\n'], 1, "This is not a trace")
    refused(path, [lines[0].replace(b"1", b"2")], 1, "has version 2; version 1 can be read")
    refused(path, [b'{"format": "mlnlab-trace", "version": "\\u001b[31m"}\n'], 1, "version")
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: No such file"):
        Trace.load(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        Trace.load(tmp_path)


@LOOSE
@given(st.data())
def test_no_damage_leads_to_anything_but_a_sentence(good, data):
    lines, path = good
    text = bytearray(b"".join(lines))
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'0,:"[]{}a\n\x00\xff-e'))
    path.write_bytes(text)
    # A damage may still leave a trace, as when it hits a digit.
    with contextlib.suppress(InputError):
        assert len(Trace.load(path)) <= 3
