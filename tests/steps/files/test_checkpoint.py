"""Checkpoints: bit-identical resumption, whole files at every moment, sentences for damaged ones."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
import zipfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError, InputError, OutputError
from mlnlab.steps import safe_files
from mlnlab.steps.files.checkpoint import (
    Checkpointer,
    CheckpointWarning,
    load_checkpoint,
    previous_path,
    save_checkpoint,
)
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.stopping import AfterSteps
from mlnlab.steps.step import notify_observers, number_states, run
from mlnlab.steps.values.randomness import generator_from, generator_state
from mlnlab.steps.values.sameness import differing_parts, same_state
from tests.steps.toys import Count, counting, first_state, frozen, histories, walk

GENERATORS = [
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
]


@pytest.mark.parametrize("path", ["a\0b", "", None, 5])
def test_what_is_no_path_is_told(path):
    with pytest.raises(OutputError, match="The path of a file is needed"):
        save_checkpoint(path, Count(1))
    with pytest.raises(OutputError, match="The path of a file is needed"):
        load_checkpoint(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without this device")
def test_a_device_is_not_read_to_find_a_previous_checkpoint():
    with pytest.raises(OutputError, match="No space left on device"):
        save_checkpoint("/dev/full", Count(1))


class TestResuming:
    @pytest.mark.parametrize("kind", GENERATORS)
    @pytest.mark.parametrize("stopped", [1, 2, 17])
    def test_a_resumed_run_is_bit_identical(self, tmp_path, kind, stopped):
        whole, before, after = Trace(), Trace(), Trace()
        run(walk(7, kind=kind), observers=[whole], stop=AfterSteps(40))
        writer = Checkpointer(tmp_path / "run.npz", steps=5)
        run(walk(7, kind=kind), observers=[before, writer], stop=AfterSteps(stopped))
        found = load_checkpoint(tmp_path / "run.npz")
        assert (found.first, found.seconds) == (stopped, before[-1].seconds)
        resumed = walk(start=found.state)
        run(resumed, observers=[after], stop=AfterSteps(40), first=found.first, seconds=found.seconds)
        steps = [*before, *after]
        assert [step.index for step in steps] == list(range(40))
        for ours, theirs in zip(steps, whole, strict=True):
            assert differing_parts(ours.state, theirs.state) == ()
        assert after[0].seconds >= found.seconds

    @given(histories(most=4))
    def test_states_of_every_kind_come_back_the_same(self, tmp_path_factory, states):
        path = tmp_path_factory.getbasetemp() / "any.npz"
        save_checkpoint(path, tuple(states), {"shape": (1, 2), "$": None})
        found = load_checkpoint(path)
        assert differing_parts(found.state, tuple(states)) == ()
        assert found.meta == {"shape": (1, 2), "$": None}

    def test_arrays_of_every_kind_come_back_the_same(self, tmp_path):
        shared = frozen(np.arange(5))
        state = {
            "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            "empty": np.zeros((0, 4)),
            "none": np.array(3, np.uint8),
            "texts": np.array(["Anna", "Bo"]),
            "times": np.array(["2024-01-01"], "M8[s]"),
            "big": np.array([1.5], ">f8"),
            "view": np.arange(10)[::2],
            "shared": (shared, shared),
        }
        save_checkpoint(tmp_path / "a.npz", state)
        found = load_checkpoint(tmp_path / "a.npz").state
        assert differing_parts(found, state) == ()
        assert found["fortran"].flags.f_contiguous
        assert found["shared"][0] is found["shared"][1]
        assert not found["view"].flags.writeable

    def test_any_program_can_read_the_arrays(self, tmp_path):
        save_checkpoint(tmp_path / "a.npz", first_state())
        with np.load(tmp_path / "a.npz", allow_pickle=False) as archive:
            assert archive["array_0"].shape == (40,)
            assert json.loads(archive["header.json"])["format"] == "mlnlab-checkpoint"

    def test_the_same_state_gives_the_same_file(self, tmp_path):
        for name in "ab":
            save_checkpoint(tmp_path / name, next(walk(3)))
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class TestRandomness:
    @pytest.mark.parametrize("kind", GENERATORS)
    def test_a_generator_goes_on_where_it_was(self, kind):
        rng = np.random.Generator(kind(5))
        rng.normal(size=11)
        rng.integers(0, 7, 3, dtype=np.uint32)
        state = generator_state(rng)
        expected = rng.random(100).tolist(), rng.integers(0, 9, 5).tolist()
        for _ in range(2):
            again = generator_from(state)
            assert (again.random(100).tolist(), again.integers(0, 9, 5).tolist()) == expected

    def test_a_state_cannot_be_changed(self):
        state = generator_state(np.random.Generator(np.random.MT19937(1)))
        with pytest.raises(TypeError):
            state["state"]["pos"] = 1
        with pytest.raises(ValueError, match="read-only"):
            state["state"]["key"][0] = 1

    @pytest.mark.parametrize(
        "state",
        [
            {},
            {"bit_generator": "Generator"},
            {"bit_generator": "PCG64"},
            {"bit_generator": "PCG64", "state": 3},
        ],
    )
    def test_what_is_no_state_gets_a_sentence(self, state):
        with pytest.raises(ArgumentError, match=r"generator's state|not the state of a PCG64"):
            generator_from(state)


class TestKeeping:
    def test_the_previous_checkpoint_is_kept(self, tmp_path):
        path = tmp_path / "a.npz"
        for value in range(3):
            save_checkpoint(path, Count(value))
        assert load_checkpoint(path).state == Count(2)
        assert load_checkpoint(previous_path(path)).state == Count(1)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "a.npz.previous"]

    @pytest.mark.parametrize(
        ("damage", "sentence"),
        [
            (lambda data: data[: len(data) // 2], "its end is not there"),
            (lambda data: data[:-1], "its end is not there"),
            (lambda data: b"", "its end is not there"),
            (lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:], "its checksum is wrong"),
            (lambda data: data[:-1] + b"x", "its checksum is wrong"),
            (lambda data: data[:100] + data[120:], "its checksum is wrong"),
            (None, "does not exist"),
        ],
    )
    def test_a_damaged_one_is_passed_over_with_a_warning(self, tmp_path, damage, sentence):
        path = tmp_path / "a.npz"
        save_checkpoint(path, Count(1))
        save_checkpoint(path, Count(2))
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage(path.read_bytes()))
        with pytest.warns(CheckpointWarning, match=rf"^a\.npz .*{sentence}; the previous checkpoint is used"):
            found = load_checkpoint(path)
        assert (found.state, found.path) == (Count(1), previous_path(path))
        # The damaged one does not push out the sound one.
        save_checkpoint(path, Count(3))
        assert load_checkpoint(path).state == Count(3)
        assert load_checkpoint(previous_path(path)).state == Count(1)

    def test_two_damaged_ones_get_a_sentence(self, tmp_path):
        path = tmp_path / "a.npz"
        with pytest.raises(InputError, match=r"a\.npz does not exist, and a\.npz\.previous does not exist"):
            load_checkpoint(path)
        save_checkpoint(path, Count(1))
        path.write_bytes(path.read_bytes()[:-5])
        previous_path(path).write_bytes(b"junk")
        with pytest.raises(InputError, match=r"no checkpoint to load: .* and a\.npz\.previous is damaged"):
            load_checkpoint(path)

    @given(st.data())
    def test_every_damaged_bit_is_noticed(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("bits") / "a.npz"
        save_checkpoint(path, Count(1))
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        with pytest.raises(InputError, match="no checkpoint to load"):
            load_checkpoint(path)

    def test_where_nothing_can_be_written_the_old_one_stays(self, tmp_path, monkeypatch):
        path = tmp_path / "a.npz"
        save_checkpoint(path, Count(1))

        def full(handle):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(safe_files.os, "fsync", full)
        with pytest.raises(OutputError, match=r"a\.npz cannot be written: No space left on device\.$"):
            save_checkpoint(path, Count(2))
        assert load_checkpoint(path).state == Count(1)
        assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]
        with pytest.raises(ArgumentError, match="is not registered"):
            save_checkpoint(path, object())

    def test_without_links_the_old_one_is_renamed(self, tmp_path, monkeypatch):
        def refuse(*names):
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(safe_files.os, "link", refuse)
        for value in range(3):
            save_checkpoint(tmp_path / "a", Count(value))
        assert load_checkpoint(tmp_path / "a").state == Count(2)
        assert load_checkpoint(tmp_path / "a.previous").state == Count(1)

    def test_a_link_is_followed(self, tmp_path):
        (tmp_path / "disk").mkdir()
        (tmp_path / "a").symlink_to(tmp_path / "disk" / "a")
        for value in range(2):
            save_checkpoint(tmp_path / "a", Count(value))
        assert (tmp_path / "a").is_symlink()
        assert load_checkpoint(tmp_path / "a").state == Count(1)
        assert sorted(file.name for file in (tmp_path / "disk").iterdir()) == ["a", "a.previous"]


WRITER = """
    import sys
    import numpy as np
    from mlnlab.steps.files.checkpoint import save_checkpoint

    for turn in range(100_000):
        save_checkpoint(sys.argv[1], {"turn": turn, "table": np.full(200_000, turn)}, {"turn": turn})
        print(turn, flush=True)
"""


@pytest.mark.parametrize("after", [0.0, 0.001, 0.002, 0.003, 0.005, 0.008])
def test_a_killed_writer_leaves_a_whole_checkpoint(tmp_path, repository, after):
    path = tmp_path / "a.npz"
    program = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=repository) as writer:
        written = int(list(islice(writer.stdout, 3))[-1])
        time.sleep(after)  # into the next writing, at one moment or another
        os.kill(writer.pid, signal.SIGKILL)
        written = max([written, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    found = load_checkpoint(path)
    assert found.path == path
    assert found.meta["turn"] in {written, written + 1}
    assert (found.state["table"] == found.meta["turn"]).all()
    before = load_checkpoint(previous_path(path))
    assert before.meta["turn"] in {found.meta["turn"] - 1, found.meta["turn"]}
    # What was half written is in nobody's way.
    save_checkpoint(path, Count(1))
    assert load_checkpoint(path).state == Count(1)
    parts = list(tmp_path.glob(".a.npz.*.part"))
    for part in parts:
        os.utime(part, (0, 0))  # as if long ago: then it is nobody's who still writes
    save_checkpoint(path, Count(2))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "a.npz.previous"]


class TestHostileFiles:
    """Files that were made to do harm, with a right checksum."""

    def refused(self, path, header, arrays=(), sentence="", **options):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", **options) as archive:
            if header is not None:
                text = header if isinstance(header, str) else json.dumps(header)
                archive.writestr("header.json", text)
            for number, data in enumerate(arrays):
                archive.writestr(f"array_{number}.npy", data)
            archive.comment = b"sha256=" + b"0" * 64
        content = buffer.getvalue()[:-64]
        path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
        with pytest.raises(InputError, match=sentence) as caught:
            load_checkpoint(path)
        assert str(caught.value).startswith("evil.npz cannot be used: ")
        assert str(caught.value).isprintable()

    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "evil.npz"

    @pytest.fixture
    def header(self):
        return {"format": "mlnlab-checkpoint", "version": 1, "state": None, "meta": {}}

    def array(self, array):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, allow_pickle=array.dtype.hasobject)
        return buffer.getvalue()

    def test_headers(self, path, header):
        self.refused(path, None, sentence="header.json")
        self.refused(path, "[" * 100_000, sentence="nested too deeply")
        self.refused(path, "{", sentence="not a checkpoint")
        self.refused(path, [], sentence="not a JSON object")
        self.refused(path, {}, sentence="not a checkpoint")
        self.refused(path, header | {"version": 9}, sentence="version 9; version 1 can be read")
        self.refused(path, header | {"meta": 3}, sentence="notes")

    def test_values(self, path, header):
        self.refused(path, header | {"state": {"$": "os.system", "fields": {}}}, sentence="'os.system'")
        for member in (0, -1, "0", None, [0]):
            state = {"$": "array", "member": member}
            self.refused(path, header | {"state": state}, sentence="an array is missing")

    def test_pickles_are_never_opened(self, path, header):
        class Evil:
            def __reduce__(self):
                return (pytest.fail, ("unpickled",))

        state = {"$": "array", "member": 0}
        objects = self.array(np.array([Evil()], object))
        self.refused(path, header | {"state": state}, [objects], "cannot be read: numbers")

    def test_arrays(self, path, header):
        good = self.array(np.zeros(3))
        huge = good.replace(b"(3,), }" + b" " * 12, b"(999999999999,), }" + b" ")
        assert huge != good
        self.refused(path, header, [huge], "24 bytes, which is not what its shape needs")
        self.refused(path, header, [good[:-1]], "23 bytes")
        self.refused(path, header, [good[:20]], "not a checkpoint")
        self.refused(path, header, [b"junk"], "not a checkpoint")
        self.refused(path, header, [good.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x03")], "newer format")
        self.refused(path, header, [self.array(np.zeros(2, [("a", "f8")]))], "cannot be read")
        self.refused(path, header, [good.replace(b"'<f8'", b"'<X8'")], "not a checkpoint")

    def test_nothing_unpacks_to_more_than_it_is(self, path, header):
        bomb = self.array(np.zeros(1_000_000))
        self.refused(path, header, [bomb], "unpack to more", compression=zipfile.ZIP_DEFLATED)


class TestCheckpointer:
    def test_it_writes_every_so_many_steps_and_at_the_end(self, tmp_path):
        writer, seen = Checkpointer(tmp_path / "a", steps=4, seconds=None, meta={"seed": 3}), []
        for step in islice(number_states(counting()), 10):
            writer.on_step(step)
            if (tmp_path / "a").exists():
                seen.append(load_checkpoint(tmp_path / "a").meta["index"])
        assert seen == [3, 3, 3, 3, 7, 7, 7]
        writer.on_end(step)
        found = load_checkpoint(tmp_path / "a")
        assert found.meta == {"seed": 3, "index": 9, "seconds": step.seconds}
        written = (tmp_path / "a").stat().st_mtime_ns
        writer.on_end(step)
        assert (tmp_path / "a").stat().st_mtime_ns == written

    def test_it_writes_every_so_many_seconds(self, tmp_path):
        now = [0.0]
        writer = Checkpointer(tmp_path / "a", seconds=10.0, clock=lambda: now[0])
        written = []
        for step in islice(number_states(counting()), 50):
            now[0] += 3.0
            writer.on_step(step)
            if (tmp_path / "a").exists():
                written.append(load_checkpoint(tmp_path / "a").meta["index"])
        assert list(dict.fromkeys(written)) == [3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47]

    def test_odd_arguments_are_refused(self, tmp_path):
        for options in ({"seconds": None}, {"steps": 0}):
            with pytest.raises(ArgumentError, match="A checkpointer needs"):
                Checkpointer(tmp_path / "a", **options)

    def test_where_it_could_never_write_that_is_said_before_the_run(self, tmp_path):
        with pytest.raises(OutputError, match=r"there is no folder .*no\.$"):
            Checkpointer(tmp_path / "no" / "folder", steps=1)
        with pytest.raises(OutputError, match="it is a folder"):
            Checkpointer(tmp_path, steps=1)

    def test_it_never_gives_up(self, tmp_path, full_disk):
        """The disk is full from step 2 to step 6; the run is at its end at step 9."""
        path, seen = tmp_path / "a", []
        writer = Checkpointer(path, steps=1, seconds=None)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for step in notify_observers(number_states(counting(10)), [writer]):
                seen.append(load_checkpoint(path).meta["index"])
                full_disk.is_full = 1 <= step.index < 6
        assert seen == [0, 1, 1, 1, 1, 1, 1, 7, 8, 9]
        reason = f"{path} cannot be written: No space left on device."
        said = [str(one.message) for one in told]
        assert said == [f"No checkpoint of step 2: {reason} The run goes on and tries again."]
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "a.previous"]

    def steps_on(self, disk, writer, is_full):
        """Run five steps; behind each the disk is full or not."""
        for step in notify_observers(number_states(counting(5)), [writer]):
            disk.is_full = is_full(step.index)

    def test_it_writes_the_last_step_after_failing(self, tmp_path, full_disk):
        path = tmp_path / "a"
        writer = Checkpointer(path, steps=3, seconds=None)
        full_disk.is_full = True
        with pytest.warns(CheckpointWarning, match="No checkpoint of step 2"):
            self.steps_on(full_disk, writer, lambda index: index < 3)
        assert load_checkpoint(path).meta["index"] == 4

    def test_a_last_step_that_cannot_be_written_is_said(self, tmp_path, full_disk):
        writer = Checkpointer(tmp_path / "a", steps=3, seconds=None)
        with pytest.warns(CheckpointWarning, match=r"last step, 4: .* The newest one is that of step 2\.$"):
            self.steps_on(full_disk, writer, lambda index: index >= 2)

    def test_it_tries_again_when_it_is_due_and_not_at_each_step(self, tmp_path, full_disk):
        writer = Checkpointer(tmp_path / "a", steps=4, seconds=None)
        full_disk.is_full, full_disk.tried = True, 0
        with pytest.warns(CheckpointWarning):
            run(counting(12), observers=[writer])
        assert full_disk.tried == 3 + 1  # steps 3, 7, 11, and 11 once more as the last one

    def test_two_runs_that_share_a_path_leave_whole_files_and_say_so(self, tmp_path):
        path = tmp_path / "a"
        first, second = (Checkpointer(path, steps=1, seconds=None) for _ in range(2))
        steps = list(islice(number_states(counting()), 4))
        first.on_step(steps[0])
        second.on_step(steps[1])
        with pytest.warns(CheckpointWarning, match="Another run writes to"):
            first.on_step(steps[2])
        first.on_step(steps[3])  # said once
        assert load_checkpoint(path).meta["index"] == 3
        assert load_checkpoint(previous_path(path)).meta["index"] == 2

    def test_a_checkpoint_of_other_origin_does_not_say_where_to_go_on(self, tmp_path):
        save_checkpoint(tmp_path / "a", Count(1))
        found = load_checkpoint(tmp_path / "a")
        assert found.seconds == 0
        with pytest.raises(InputError, match="does not say which step"):
            assert found.first
        assert same_state(found.state, Count(1))
