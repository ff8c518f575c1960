"""No command loses its result: the place is tried before the work, and another one is found behind it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mlnlab.cli import main
from mlnlab.steps import safe_files
from mlnlab.steps.files import checkpoint

MODEL = "Smokes(person)\nCancer(person)\n1 Smokes(x) => Cancer(x)\n0.5 Cancer(x)\n"
FACTS = "\n".join(f"Smokes(P{n})\nCancer(P{n})" for n in range(5)) + "\nSmokes(Q)\nCancer(R)\n"
SMALL = "MARKOV 2  2 3  1  2 0 1  6  1 2 3 0 5 6"
SHORT = ("--longest", "2", "--fewest", "0", "--fraction", "1", "--sampled", "None")
# What is written, by which command, and a word that is in it.
COMMANDS = {
    "learn": ("out.mln", ("learn", "m.mln", "d.db"), "Cancer(x)"),
    "structure": ("out.mln", ("structure", "m.mln", "d.db", *SHORT), "Cancer"),
    "infer": ("out.csv", ("infer", "m.mln", "d.db", "-q", "Cancer"), "Cancer(Q)"),
    "infer a network": ("out.MAR", ("infer", "small.uai", "-q", "*"), "MAR"),
    "evaluate": ("out.json", ("evaluate", "m.mln", "d.db", "-q", "Cancer"), "Cancer"),
    "run": ("out.html", ("run", "lesson.ipynb", "--no-execute"), "<!DOCTYPE html>"),
}


@pytest.fixture
def here(tmp_path, monkeypatch, write_notebook):
    """The current folder, with what the commands read."""
    for name, text in (("m.mln", MODEL), ("d.db", FACTS), ("small.uai", SMALL), ("file", "")):
        (tmp_path / name).write_text(text)
    write_notebook("#md text")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def spoil(monkeypatch):
    """Have something done while a command works: between trying the place and writing to it."""
    tried = safe_files.try_to_write

    def put(action):
        def try_and_spoil(path):
            tried(path)
            action()

        monkeypatch.setattr(safe_files, "try_to_write", try_and_spoil)

    return put


@pytest.mark.parametrize(("name", "words", "_"), COMMANDS.values(), ids=COMMANDS)
def test_an_impossible_place_is_told_before_the_work(here, capsys, name, words, _):
    ending = Path(name).suffix
    (here / f"folder{ending}").mkdir()
    (here / f"folder{ending}" / "lesson.html").mkdir()  # where run writes that is given a folder
    for place, sentence in (
        (f"folder{ending}", "it is a folder; name a file in it."),
        (f"none/out{ending}", "there is no folder none."),
        (f"file/out{ending}", "file is a file."),
    ):
        assert main([*words, "-o", place]) == 1
        said = capsys.readouterr()
        assert not said.out
        assert said.err.startswith(f"mlnlab {words[0]}: ")
        assert said.err.endswith(f"cannot be written: {sentence}\n")
        assert said.err.count("\n") == 1  # no word of any work


@pytest.mark.parametrize(("name", "words", "word"), COMMANDS.values(), ids=COMMANDS)
def test_a_place_that_is_lost_during_the_work_has_another_one_beside(here, capsys, spoil, name, words, word):
    spoil((here / name).mkdir)
    assert main([*words, "-o", name]) == 1
    said = capsys.readouterr()
    assert not said.out
    (kept,) = here.glob(f"out-*{Path(name).suffix}")
    assert word in kept.read_text()
    assert f"{name} cannot be written: it is a folder; name a file in it." in said.err
    assert said.err.endswith(f" The result is in {kept} instead.\n")


def test_where_nothing_can_be_written_near_there_is_a_temporary_folder(
    here, capsys, monkeypatch, spoil, full_disk
):
    name, words, word = COMMANDS["learn"]
    (here / "temporary").mkdir()
    (here / "work").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here / "temporary"))
    monkeypatch.chdir(here / "work")
    full_disk.within = "work"
    spoil(lambda: setattr(full_disk, "is_full", True))
    assert main([words[0], *(str(here / file) for file in words[1:]), "-o", name]) == 1
    (kept,) = (here / "temporary").glob("*/out-*.mln")
    assert word in kept.read_text()
    assert capsys.readouterr().err.endswith(f" The result is in {kept} instead.\n")


@pytest.mark.parametrize(("name", "words", "word"), COMMANDS.values(), ids=COMMANDS)
def test_on_a_full_disk_the_result_is_printed(here, capsys, spoil, full_disk, name, words, word):
    (here / name).write_text("old")
    before = sorted(here.iterdir())
    spoil(lambda: setattr(full_disk, "is_full", True))
    assert main([*words, "-o", name]) == 1
    said = capsys.readouterr()
    assert word in said.out
    assert said.err.endswith("No space left on device. The result is printed instead.\n")
    assert (here / name).read_text() == "old"
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("name", "words", "word"), COMMANDS.values(), ids=COMMANDS)
def test_a_link_stays_a_link(here, capsys, name, words, word):
    (here / "elsewhere").mkdir()
    (here / name).symlink_to(Path("elsewhere") / name)
    assert main([*words, "-o", name]) == 0
    assert capsys.readouterr().out == f"{name}\n"
    assert (here / name).is_symlink()
    assert word in (here / "elsewhere" / name).read_text()


@pytest.mark.parametrize(("name", "words", "word"), COMMANDS.values(), ids=COMMANDS)
def test_an_input_is_overwritten_only_by_force(here, capsys, name, words, word):
    """By its own name, or through a link; an output of a former run is no input."""
    source = here / words[1]
    before = source.read_bytes()
    (here / name).symlink_to(source)
    assert main([*words, "-o", name]) == 1
    said = capsys.readouterr()
    assert not said.out
    assert said.err == f"mlnlab {words[0]}: {name}: the command reads this file; --force overwrites it.\n"
    assert source.read_bytes() == before
    assert main([*words, "-o", name, "--force"]) == 0
    assert word in source.read_text()


def test_every_input_is_kept(here, capsys):
    learn, structure = COMMANDS["learn"][1], COMMANDS["structure"][1]
    (here / "facts.mln").write_text(FACTS)
    (here / "parts").mkdir()
    (here / "parts" / "part.mln").write_text(MODEL)
    (here / "whole.mln").write_text('#include "parts/part.mln"\n2 Smokes(x)\n')
    for words in (
        ["learn", "whole.mln", "d.db", "-o", "parts/part.mln"],
        [*learn, "-o", "m.mln"], [*learn, "-o", str(here / "m.mln")],
        [*learn, "facts.mln", "-o", "facts.mln"],
        [*structure, "--checkpoint", "new.mln", "-o", "./new.mln"],
        ["convert", "m.mln", "m.mln"], ["convert", "d.db", "d.db", "--model", "m.mln"],
    ):  # fmt: skip
        assert main(words) == 1
        assert "--force overwrites it." in capsys.readouterr().err
    assert (here / "m.mln").read_text() == (here / "parts" / "part.mln").read_text() == MODEL
    assert (here / "facts.mln").read_text() == (here / "d.db").read_text() == FACTS
    assert main(["convert", "m.mln", "m.mln", "--force"]) == 0  # in one layout
    assert "Cancer(x)" in (here / "m.mln").read_text()


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
@pytest.mark.parametrize(("name", "words", "_"), COMMANDS.values(), ids=COMMANDS)
def test_a_pipe_that_nobody_reads_is_told_before_the_work(here, capsys, monkeypatch, name, words, _):
    monkeypatch.setattr(safe_files, "_READER_COMES", 0.0)
    os.mkfifo(name)
    assert main([*words, "-o", name]) == 1
    said = capsys.readouterr()
    assert not said.out
    assert said.err.endswith(
        f"{name} cannot be written: it is a pipe that no program reads; start the reader first.\n"
    )


def test_a_page_may_be_standard_output(here, repository):
    """The device is written to, and not replaced; its name is no part of the page."""
    command = [sys.executable, "-m", "mlnlab", "run", str(here / "lesson.ipynb"), "--no-execute"]
    for stream in (subprocess.PIPE, (here / "page.html").open("w")):
        found = subprocess.run(
            [*command, "-o", "/dev/stdout"], check=True, cwd=repository, text=True,
            stdout=stream, stderr=subprocess.PIPE,
        )  # fmt: skip
        if stream != subprocess.PIPE:
            stream.close()
        page = found.stdout or (here / "page.html").read_text()
        assert page.startswith("<!DOCTYPE html>")
        assert page.rstrip().endswith("</html>")
        assert found.stderr == "/dev/stdout\n"
    assert Path("/dev/stdout").is_symlink()


def test_a_notebook_whose_folder_is_lost_names_the_option(here, capsys):
    (here / "lesson.html").mkdir()
    assert main(["run", "lesson.ipynb"]) == 1
    assert capsys.readouterr().err.endswith("name a file in it. Name another place with -o.\n")


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_converting_tells_an_impossible_place_before_it_reads(here, capsys, force):
    (here / "m.mln").write_text("this is no model")
    for words in (["m.mln", "file/out.tex"], ["d.db", "none/out.sqlite", "--model", "m.mln"]):
        assert main(["convert", *words, *force]) == 1
        assert "cannot be written" in capsys.readouterr().err


def test_converting_keeps_the_old_tables_where_new_ones_cannot_be_written(here, capsys, full_disk):
    words = ["convert", "d.db", "tables", "--model", "m.mln", "--force"]
    assert main(words) == 0
    before = {file: file.read_bytes() for file in (here / "tables").iterdir()}
    full_disk.is_full = True
    for kind in ("csv", "parquet"):
        assert main([*words, "--tables", kind]) == 1
        assert "No space left on device" in capsys.readouterr().err
        assert {file: file.read_bytes() for file in (here / "tables").iterdir()} == before
    full_disk.is_full = False
    assert main([*words, "--tables", "parquet"]) == 0
    assert {file.suffix for file in (here / "tables").iterdir()} == {".parquet"}


def test_a_checkpoint_that_cannot_be_written_is_said_while_it_learns(here, capsys, monkeypatch, full_disk):
    """Only the checkpoint's disk is full; what is learned is written."""
    (here / "disk").mkdir()
    words = [*COMMANDS["structure"][1], "--checkpoint", "disk/run.npz", "-o", "out.mln"]
    full_disk.within = "disk"
    monkeypatch.setattr(checkpoint, "try_to_write", lambda path: setattr(full_disk, "is_full", True))
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err.count("warning: No checkpoint of ") == 1
    assert "run.npz cannot be written: No space left on device." in said.err
    assert "Cancer" in (here / "out.mln").read_text()
