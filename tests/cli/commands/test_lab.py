"""``mlnlab lab``: local, behind its token, without popups, gone after Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from mlnlab.cli import main
from mlnlab.cli.commands import lab
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stops the server with a POSIX signal")


@pytest.fixture
def running_lab(write_notebook, tmp_path):
    """A server on a small notebook, started with the first port taken: its words until the last line."""
    write_notebook("1 + 1")
    yield from started(tmp_path, {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in JUPYTERS})


@pytest.fixture
def homeless_lab(write_notebook, tmp_path):
    """The same where no folder of the user's can be made: its home is a file, which stops root as well."""
    write_notebook("1 + 1")
    (tmp_path / "home").touch()
    home = str(tmp_path / "home")
    yield from started(tmp_path, {"HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home})


JUPYTERS = ("CONFIG", "DATA", "RUNTIME")


def started(tmp_path, variables):
    """Start a server in a folder, and yield it, its words, and the port that was taken."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    environment |= variables
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
        server.folder = tmp_path
        yield server, "".join(lines), taken.getsockname()[1]
        server.kill()
        server.communicate()


def fetch(address):
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_lab_serves_the_notebook_and_ends_on_interrupt(running_lab):
    server, words, taken_port = running_lab
    address = re.search(r"http://127\.0\.0\.1:(\d+)/lab/tree/lesson\.ipynb\?token=(\w+)", words)
    assert address, words
    assert int(address[1]) != taken_port
    (command,) = re.findall(r"Without a browser: (.*?)   \(", words)
    assert command.endswith(" run lesson.ipynb")
    assert subprocess.run(f"{command} --help", shell=True, cwd=server.folder, check=False).returncode == 0
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
    rest, _ = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert "Traceback" not in rest


def test_lab_serves_where_jupyter_can_write_nothing_at_home(homeless_lab):
    """With a kernel: its files, too, go to the temporary folder, which is gone with the server."""
    server, words, _ = homeless_lab
    address = re.search(r"(http://127\.0\.0\.1:\d+)/lab/tree/lesson\.ipynb\?token=(\w+)", words)
    assert address, words
    assert f"{server.folder / 'home' / '.jupyter'} cannot be written" in words
    (spare,) = set(re.findall(r"keeps such files in (.*)\.$", words, re.MULTILINE))
    kernels, rights = f"{address[1]}/api/kernels", {"Authorization": f"token {address[2]}"}
    asked = urllib.request.Request(kernels, data=b"{}", headers=rights)
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        name = json.load(answer)["id"]
    assert list(Path(spare).rglob("kernel-*.json"))
    # A kernel that is only starting would write its file once more, behind the server's end.
    asked = urllib.request.Request(f"{kernels}/{name}", method="DELETE", headers=rights)
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        assert answer.status == 204
    server.send_signal(signal.SIGINT)
    rest, _ = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0, rest
    assert not Path(spare).exists()


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


@pytest.mark.parametrize("port", ["70000", "65536", "-1", "8888.5", "abc", "٣"])
def test_a_strange_port_gets_a_sentence(port, capsys):
    assert main(["lab", f"--port={port}"]) == 2
    assert f"a port must be a whole number from 0 to 65535, not '{port}'" in capsys.readouterr().err


class StandIn:
    """A server whose loop runs what was added to it; it listens where ``port`` says."""

    def __init__(self, port, ended_by=None):
        self.ip, self.port, self.connection_url = "127.0.0.1", port, "http://127.0.0.1/"
        self.identity_provider = SimpleNamespace(token="token")
        self.io_loop = SimpleNamespace(add_callback=lambda callback: setattr(self, "callback", callback))
        self.ended_by, self.stopped = ended_by, False

    def start(self):
        if self.ended_by is not None:
            raise self.ended_by
        self.callback()

    def stop(self):
        self.stopped = True


@pytest.fixture
def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize("ended_by", [None, SystemExit(1)])
def test_a_server_that_does_not_listen_is_not_announced(ended_by, free_port, monkeypatch, tmp_path, capsys):
    server = StandIn(free_port, ended_by)
    monkeypatch.setattr("jupyterlab.labapp.LabApp.initialize_server", lambda _: server)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    assert main(["lab", str(tmp_path), "--no-browser", "--port", str(free_port)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "JupyterLab ended before it served anything" in shown.err
    assert server.stopped == (ended_by is None)


def test_an_installed_package_brings_its_notebooks_along(monkeypatch, tmp_path, capsys, repository):
    package = tmp_path / "site-packages" / "mlnlab"
    (package / "notebooks").mkdir(parents=True)
    for name in ("00_tour.ipynb", "01_language.ipynb"):
        (package / "notebooks" / name).write_text(f"new {name}")
    here = tmp_path / "here"
    (here / "notebooks").mkdir(parents=True)
    (here / "notebooks" / "01_language.ipynb").write_text("mine")
    monkeypatch.setattr(lab, "_PACKAGE", package)
    monkeypatch.setattr(lab, "__file__", str(package / "cli" / "commands" / "lab.py"))
    monkeypatch.chdir(here)
    assert lab._what_to_open(None) == (here, Path("notebooks/00_tour.ipynb"))
    assert capsys.readouterr().out == "Copied 00_tour.ipynb to notebooks.\n"
    assert (here / "notebooks" / "00_tour.ipynb").read_text() == "new 00_tour.ipynb"
    assert (here / "notebooks" / "01_language.ipynb").read_text() == "mine"


class TestReadOnly:
    """Folders that nobody can write, root neither: their disk is full."""

    @pytest.fixture
    def here(self, tmp_path, monkeypatch, full_disk):
        (tmp_path / "here" / "notebooks").mkdir(parents=True)
        (tmp_path / "temporary").mkdir()
        monkeypatch.setattr(lab.tempfile, "tempdir", str(tmp_path / "temporary"))
        monkeypatch.chdir(tmp_path / "here")
        full_disk.within, full_disk.is_full = "here", True
        return tmp_path / "here"

    def assert_copied(self, capsys, here):
        root, target = lab._what_to_open(None)
        assert target == Path("notebooks/00_tour.ipynb")
        assert root.parent == here.parent / "temporary"
        assert (root / target).read_text() == "the tour"
        said = capsys.readouterr().out
        assert said.startswith("Notebooks cannot be saved here.")
        assert str(root) in said.splitlines()[0]

    def test_notebooks_that_are_there_are_copied(self, here, capsys):
        (here / "notebooks" / "00_tour.ipynb").write_text("the tour")
        self.assert_copied(capsys, here)

    def test_notebooks_of_the_package_are_copied(self, here, capsys, monkeypatch):
        package = here.parent / "site-packages" / "mlnlab"
        (package / "notebooks").mkdir(parents=True)
        (package / "notebooks" / "00_tour.ipynb").write_text("the tour")
        monkeypatch.setattr(lab, "_PACKAGE", package)
        monkeypatch.setattr(lab, "__file__", str(package / "cli" / "commands" / "lab.py"))
        self.assert_copied(capsys, here)

    def test_a_notebook_that_is_named_is_opened_where_it_is(self, here, capsys):
        (here / "lesson.ipynb").write_text("{}")
        for path, opened in (("lesson.ipynb", (here, Path("lesson.ipynb"))), (".", (here, None))):
            assert lab._what_to_open(path) == opened
            assert capsys.readouterr().out.startswith(f"{here} cannot be written: what you change there")


def test_every_notebook_is_shipped(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for notebook in (repository / "notebooks").rglob("*.ipynb"):
        name = notebook.relative_to(repository).as_posix()
        assert shipped.get(name) == f"mlnlab/{name}"
