"""``mlnlab lab``: local, behind its token, without popups, gone after Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mlnlab.cli import main
from mlnlab.cli.commands import lab

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stops the server with a POSIX signal")


@pytest.fixture
def running_lab(write_notebook, tmp_path):
    """A server on a small notebook, started with the first port taken: its words until the last line."""
    write_notebook("1 + 1")
    environment = os.environ | {
        f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        environment.pop(name, None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [
            sys.executable,
            "-m",
            "mlnlab",
            "lab",
            "lesson.ipynb",
            "--port",
            str(taken.getsockname()[1]),
        ]
        server = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        yield server, "".join(lines), taken.getsockname()[1]
        server.kill()
        server.communicate()


def fetch(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_lab_serves_the_notebook_and_ends_on_interrupt(running_lab):
    server, words, taken_port = running_lab
    address = re.search(r"http://127\.0\.0\.1:(\d+)/lab/tree/lesson\.ipynb\?token=(\w+)", words)
    assert address, words
    assert int(address[1]) != taken_port
    assert "mlnlab run lesson.ipynb" in words
    assert "JupyterLab" in fetch(address[0])
    root = f"http://127.0.0.1:{address[1]}"
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(f"{root}/api/contents")
    assert refused.value.code == 403
    refused.value.close()
    settings = json.loads(fetch(f"{root}/lab/api/settings?token={address[2]}"))["settings"]
    defaults = {
        (setting["id"], name): value.get("default")
        for setting in settings
        for name, value in setting["schema"].get("properties", {}).items()
    }
    assert defaults["@jupyterlab/apputils-extension:notification", "fetchNews"] == "false"
    assert defaults["@jupyterlab/apputils-extension:sanitizer", "allowCommandLinker"] is False
    server.send_signal(signal.SIGINT)
    rest, _ = server.communicate(timeout=30)
    assert server.returncode == 0
    assert "Traceback" not in rest


def test_a_missing_notebook_gets_a_sentence(capsys, tmp_path):
    assert main(["lab", str(tmp_path / "none.ipynb")]) == 1
    assert capsys.readouterr().err.rstrip().endswith("none.ipynb: there is no such file or folder.")


def test_what_is_opened(monkeypatch, tmp_path):
    (tmp_path / "notebooks").mkdir()
    tour = tmp_path / "notebooks" / "00_tour.ipynb"
    tour.write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert lab._what_to_open(None) == (tmp_path, Path("notebooks/00_tour.ipynb"))
    assert lab._what_to_open("notebooks/00_tour.ipynb") == (tmp_path, Path("notebooks/00_tour.ipynb"))
    assert lab._what_to_open("notebooks") == (tmp_path / "notebooks", None)
    monkeypatch.chdir(tmp_path / "notebooks")
    assert lab._what_to_open(str(tour)) == (tmp_path / "notebooks", Path("00_tour.ipynb"))


def test_no_window_no_browser(monkeypatch):
    monkeypatch.setattr(lab.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not lab._has_browser()
