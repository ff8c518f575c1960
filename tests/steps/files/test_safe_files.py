"""Files are the old one or the new one, never destroyed, and never in the way of another process."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from mlnlab.errors import InputError, OutputError
from mlnlab.steps import safe_files
from mlnlab.steps.safe_files import make_folder, replacing, replacing_file, try_to_write, write_text


def fill(path):
    with replacing(path) as file:
        file.write(b"new")


def fill_by_name(path, spoil=None):
    with replacing_file(path) as unfinished:
        unfinished.write_bytes(b"new")
        if spoil is not None:
            spoil(unfinished)


WRITERS = {
    "write_text": lambda path: write_text(path, "new"),
    "replacing": fill,
    "replacing_file": fill_by_name,
    "try_to_write": try_to_write,
}


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
class TestRefusing:
    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("", "it is a folder; name a file in it"),
            ("none/a", "there is no folder .*none"),
            ("taken/a", "taken is a file"),
            ("taken/none/a", "there is no folder .*none"),
            ("n" * 300, "File name too long"),
            ("a\0b", "The path of a file is needed"),
        ],
    )
    def test_impossible_places_get_a_sentence(self, tmp_path, write, name, sentence):
        (tmp_path / "taken").write_text("old")
        with pytest.raises(OutputError, match=sentence) as caught:
            write(f"{tmp_path}/{name}")
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
        assert names(tmp_path) == ["taken"]

    @pytest.mark.parametrize("odd", [None, 3, b"a", ""])
    def test_what_is_no_path_gets_a_sentence(self, write, odd):
        with pytest.raises(OutputError, match="path of a file is needed"):
            write(odd)

    def test_a_full_disk_keeps_what_was_there(self, tmp_path, full_disk, write):
        (tmp_path / "a").write_text("old")
        full_disk.is_full = True
        for name in ("a", "b"):
            with pytest.raises(OutputError, match=f"{name} cannot be written: No space left on device"):
                write(tmp_path / name)
        assert names(tmp_path) == ["a"]
        assert (tmp_path / "a").read_text() == "old"

    def test_what_is_protected_stays(self, tmp_path, write):
        (tmp_path / "a").write_text("old")
        (tmp_path / "a").chmod(0o444)
        if os.access(tmp_path / "a", os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(OutputError, match="write-protected"):
            write(tmp_path / "a")
        tmp_path.chmod(0o555)
        with pytest.raises(OutputError, match="Permission denied"):
            write(tmp_path / "b")
        tmp_path.chmod(0o755)


def test_its_errors_are_input_errors_and_errors_of_the_system(tmp_path):
    with pytest.raises(InputError):
        write_text(tmp_path, "")
    with pytest.raises(OSError, match="folder"):
        write_text(tmp_path, "")
    with pytest.raises(OutputError, match="lone surrogate"):
        write_text(tmp_path / "a", "\ud800")
    assert not names(tmp_path)


def test_trying_changes_nothing(tmp_path):
    (tmp_path / "a").write_text("old")
    before = (tmp_path / "a").stat()
    for name in ("a", "b"):
        try_to_write(tmp_path / name)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").stat() == before


def test_a_failing_writer_leaves_the_old_file_and_its_own_error(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(KeyError):
        fill_by_name(tmp_path / "a", spoil={}.__getitem__)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_rights_are_kept_and_new_files_have_the_usual_ones(tmp_path):
    (tmp_path / "usual").touch()
    write_text(tmp_path / "new", "x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write_text(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "a").symlink_to("b")
    for text in ("one", "two"):  # the first time it leads to nothing
        write_text(tmp_path / "a", text)
        assert (tmp_path / "a").is_symlink()
        assert (tmp_path / "b").read_text() == text
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="it is a link that leads to itself"):
        write_text(tmp_path / "loop", "x")


def test_two_writers_of_a_path_do_not_meet(tmp_path):
    """The last one that is ready wins, with a whole file."""
    with replacing(tmp_path / "a") as first:
        first.write(b"first" * 1000)
        with replacing(tmp_path / "a") as second:
            second.write(b"second")
        assert (tmp_path / "a").read_bytes() == b"second"
    assert (tmp_path / "a").read_bytes() == b"first" * 1000
    assert names(tmp_path) == ["a"]


def test_a_previous_file_may_be_shared_too(tmp_path):
    previous = tmp_path / "a.previous"

    def write(value):
        for _ in range(30):
            with replacing(tmp_path / "a", previous=previous) as file:
                file.write(value * 10_000)

    write(b"0")
    threads = [threading.Thread(target=write, args=(value,)) for value in (b"1", b"2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for file in (tmp_path / "a", previous):
        content = file.read_bytes()
        assert len(content) == 10_000
        assert len(set(content)) == 1
    assert names(tmp_path) == ["a", "a.previous"]


def test_a_link_into_nothing_names_the_folder_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lost.mln").symlink_to(tmp_path / "gone" / "a.mln")
    Path("lost").symlink_to(tmp_path / "away")
    for name, target in (("lost.mln", Path("gone/a.mln")), ("lost/a.mln", Path("away/a.mln"))):
        with pytest.raises(OutputError) as caught:
            try_to_write(name)
        leads = f"it is a link to {tmp_path / target}, and there is no folder {tmp_path / target.parent}"
        assert str(caught.value) == f"{name} cannot be written: {leads}."


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_pipe_that_nobody_reads_is_refused(tmp_path, monkeypatch, write):
    monkeypatch.setattr(safe_files, "_READER_COMES", 0.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="pipe that no program reads; start the reader first"):
        write(tmp_path / "pipe")


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, heard = tmp_path / "pipe.mln", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    try_to_write(pipe)  # which sends nothing, and does not end the reader
    time.sleep(0.1)  # work
    write_text(pipe, "P(x)\n" * 30_000)
    reader.join()
    assert heard == ["P(x)\n" * 30_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe.mln"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_devices_are_written_to_and_stay(tmp_path):
    write_text("/dev/null", "x")
    with pytest.raises(OutputError, match="/dev/full cannot be written: No space left"):
        write_text("/dev/full", "x")
    for device in ("/dev/null", "/dev/full"):
        assert stat.S_ISCHR(Path(device).stat().st_mode)


STREAM = """
    import sys
    from pathlib import Path
    from mlnlab.steps.safe_files import write_text
    print("before", flush=True)
    write_text(sys.argv[1], "result\\n")
    print("after")
"""


@pytest.mark.skipif(os.name != "posix", reason="names of the standard streams")
@pytest.mark.parametrize("kind", ["file", "appended", "pipe", "the file's own name", "a link"])
def test_standard_output_is_written_in_its_order(tmp_path, repository, kind):
    """Also where it is a file: it is not replaced, and nothing in it is written over."""
    log, name = tmp_path / "log.txt", "/dev/stdout"
    log.write_text("old\n")
    if kind == "a link":
        (tmp_path / "link.mln").symlink_to("/dev/stdout")
        name = str(tmp_path / "link.mln")
    elif kind == "the file's own name":
        name = str(log)
    with log.open("a" if kind == "appended" else "w") as stream:
        found = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(STREAM), name],
            check=True, cwd=repository, text=True, stdout=subprocess.PIPE if kind == "pipe" else stream,
        )  # fmt: skip
    whole = found.stdout if kind == "pipe" else log.read_text()
    assert whole == ("old\n" if kind == "appended" else "") + "before\nresult\nafter\n"


class TestFolders:
    def test_they_are_made_with_those_above(self, tmp_path):
        assert make_folder(tmp_path / "a" / "b").is_dir()
        assert make_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
        assert not names(tmp_path / "a" / "b")

    def test_impossible_ones_get_a_sentence(self, tmp_path, full_disk):
        (tmp_path / "taken").touch()
        for folder in (tmp_path / "taken", tmp_path / "taken" / "a", "/proc/none", "/dev/null/a"):
            with pytest.raises(OutputError, match=r"folder .* cannot be made"):
                make_folder(folder)
        full_disk.is_full = True
        with pytest.raises(OutputError, match="No space left"):
            make_folder(tmp_path)

    @pytest.mark.parametrize("name", ["lost", "lost/deeper/still"])
    def test_a_link_into_nothing_is_named(self, tmp_path, name):
        (tmp_path / "lost").symlink_to(tmp_path / "gone")
        with pytest.raises(OutputError) as caught:
            make_folder(tmp_path / name)
        trouble = f"{tmp_path / 'lost'} is a link to {tmp_path / 'gone'}, which does not exist"
        assert str(caught.value) == f"The folder {tmp_path / name} cannot be made: {trouble}."

    def test_a_folder_that_is_gone_is_said(self, tmp_path):
        gone = tmp_path / "gone"
        gone.mkdir()
        writing = replacing_file(gone / "a")
        with (
            pytest.raises(OutputError, match="gone/a cannot be written: No such file"),
            writing as unfinished,
        ):
            unfinished.parent.rmdir()
        assert not gone.exists()
