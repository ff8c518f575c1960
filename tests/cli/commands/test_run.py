"""``mlnlab run``: the page, the report of a failing cell, and every kind of bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from bs4 import BeautifulSoup

from mlnlab.cli import main
from tests.support.patience import PATIENCE


def test_a_page_shows_text_formulas_and_results(write_notebook, capsys):
    notebook = write_notebook(
        "#md # A lesson\n\nThe weight $w_i$ counts.", "print(6 * 7)", "import sys; print(sys.executable)"
    )
    before = notebook.read_bytes()
    assert main(["run", str(notebook)]) == 0
    page = notebook.with_suffix(".html").read_text(encoding="utf-8")
    assert "<title>A lesson</title>" in page
    assert "<math" in page
    assert "42" in page
    assert sys.executable in page
    assert notebook.read_bytes() == before
    shown = capsys.readouterr()
    assert shown.out.strip() == str(notebook.with_suffix(".html"))
    assert "[1/2] print(6 * 7)" in shown.err


def test_the_kernel_is_this_python_whatever_is_registered(write_notebook, monkeypatch, tmp_path):
    wrong = tmp_path / "jupyter" / "kernels" / "python3"
    wrong.mkdir(parents=True)
    spec = {
        "argv": ["/nonexistent/python", "{connection_file}"],
        "display_name": "Wrong",
        "language": "python",
    }
    (wrong / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    kernelspec = {"name": "python3", "display_name": "Wrong", "language": "python"}
    assert main(["run", str(write_notebook("1 + 1", kernelspec=kernelspec))]) == 0


def test_a_failing_cell_is_named_and_the_page_still_written(write_notebook, capsys):
    notebook = write_notebook("#md text", "print('before')", "1 / 0", "print('after')")
    assert main(["run", str(notebook)]) == 1
    assert "code cell 2 failed with ZeroDivisionError: division by zero." in capsys.readouterr().err
    page = notebook.with_suffix(".html").read_text(encoding="utf-8")
    assert "before" in page
    assert "ZeroDivisionError" in page


def test_a_slow_cell_is_stopped(write_notebook, capsys):
    notebook = write_notebook("import time; time.sleep(600)")
    assert main(["run", str(notebook), "--timeout", "1"]) == 1
    assert "code cell 1 took longer than 1 s" in capsys.readouterr().err


def test_a_dying_kernel_is_told(write_notebook, capsys):
    assert main(["run", str(write_notebook("import os; os._exit(3)"))]) == 1
    assert "the kernel died in code cell 1." in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_interrupting_stops_quietly(write_notebook):
    notebook = write_notebook("x = 1", "import time; time.sleep(600)")
    command = [sys.executable, "-m", "mlnlab", "run", str(notebook)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert "[1/2]" in running.stderr.readline()
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    _, rest = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert rest.strip() == "stopped"
    assert not notebook.with_suffix(".html").exists()


def test_without_execution_saved_outputs_are_shown(write_notebook):
    notebook = write_notebook("1 / 0")
    assert main(["run", str(notebook), "--no-execute"]) == 0
    assert "ZeroDivisionError" not in notebook.with_suffix(".html").read_text(encoding="utf-8")


def test_the_page_goes_where_it_is_told(write_notebook, tmp_path):
    notebook = write_notebook("#md text")
    assert main(["run", str(notebook), "-o", str(tmp_path / "page.html")]) == 0
    (tmp_path / "pages").mkdir()
    assert main(["run", str(notebook), "-o", str(tmp_path / "pages")]) == 0
    assert (tmp_path / "page.html").is_file()
    assert (tmp_path / "pages" / "lesson.html").is_file()
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]


BAD_FILES = {
    "empty.ipynb": b"",
    "binary.ipynb": bytes(range(256)),
    "latin-1.ipynb": '{"nbformat": 4, "cells": ["café"]}'.encode("latin-1"),
    "text.ipynb": b"hello",
    "list.ipynb": b"[1, 2]",
    "object.ipynb": b'{"a": 1}',
    "deep.ipynb": b"[" * 100_000,
    "deep-with-name.ipynb": b'{"nbformat":' + b"[" * 100_000,
    "cell.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": 3}]}',
    "number.ipynb": b'{"nbformat": "x", "cells": 7}',
    "other-language.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata":'
    b' {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}}',
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_what_is_no_notebook_gets_a_sentence(name, tmp_path, capsys):
    path = tmp_path / name
    path.write_bytes(BAD_FILES[name])
    assert main(["run", str(path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"mlnlab run: {path}: is ")
    assert len(message.splitlines()) == 1
    assert not path.with_suffix(".html").exists()


def test_missing_files_and_folders_get_a_sentence(write_notebook, tmp_path, capsys):
    notebook = write_notebook("#md text")
    for arguments, sentence in [
        ([str(tmp_path / "none.ipynb")], "there is no such file."),
        ([str(tmp_path)], "is a folder; name a notebook in it."),
        (
            [str(notebook), "-o", str(tmp_path / "none" / "page.html")],
            f"there is no folder {tmp_path / 'none'}.",
        ),
        ([str(notebook), "-o", str(notebook)], "the command reads this file; --force overwrites it."),
    ]:
        assert main(["run", *arguments]) == 1
        message = capsys.readouterr().err
        assert message.rstrip().endswith(sentence)
        assert len(message.splitlines()) == 1


def test_a_page_holds_no_address_that_is_fetched(write_notebook):
    notebook = write_notebook(
        "#md ![far](https://example.org/a.png) <img src='//example.org/b.png'>",
        "from IPython.display import HTML, display\n"
        "display(HTML('<script src=\"https://example.org/x.js\"></script><p>kept</p>'))\n"
        "import ipywidgets\nipywidgets.IntSlider()",
    )
    assert main(["run", str(notebook)]) == 0
    page = notebook.with_suffix(".html").read_text(encoding="utf-8")
    assert "kept" in page
    addresses = [
        tag.get("src") or tag.get("href") or "" for tag in BeautifulSoup(page, "html.parser").find_all()
    ]
    assert not [address for address in addresses if "//" in address]
    assert "Content-Security-Policy" in page
    assert len(page) < 100_000


def test_a_page_opens_without_a_network(browser, write_notebook):
    notebook = write_notebook(
        "#md # Tour\n\n$$\\frac{1}{Z}$$\n\n![far](https://example.org/a.png)",
        "import plotly.graph_objects as go\ngo.Figure(go.Scatter(x=[1, 2], y=[3, 4]))",
    )
    assert main(["run", str(notebook)]) == 0
    for scheme in ("light", "dark"):
        assert_a_page_opens_alone(browser, notebook, scheme)


def assert_a_page_opens_alone(browser, notebook, scheme):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(notebook.with_suffix(".html").as_uri())
    page.wait_for_selector(".plotly-graph-div .scatterlayer")
    assert page.locator("mfrac").bounding_box()["height"] > 10
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    context.close()
    assert not [address for address in requests if not address.startswith(("file:", "data:", "blob:"))]
    assert complaints == []


def test_a_folder_that_cannot_be_written_gets_a_sentence(write_notebook, tmp_path, capsys):
    notebook = write_notebook("#md text")
    tmp_path.chmod(0o555)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("this user may write anywhere; test_output.py has places that nobody can write")
    assert main(["run", str(notebook)]) == 1
    assert "Permission denied" in capsys.readouterr().err
    tmp_path.chmod(0o755)
