"""``mlnlab lab``: JupyterLab on the tour, reachable from this machine only."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import shutil
import socket
import sys
import tempfile
import webbrowser
from pathlib import Path
from urllib.parse import quote

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.errors import InputError, MlnlabError, OutputError

_MANUAL = """
Starts JupyterLab on a notebook or folder and opens it in the browser. Without PATH
it opens notebooks/00_tour.ipynb below the current folder, else the tour of the
source folder that mlnlab was installed from. Where there is neither, it copies the
notebooks that come with mlnlab to notebooks/ in the current folder, and says so.
Where that folder cannot be written, it works on a copy in a temporary one; and where
Jupyter cannot write below your home, it keeps its own files in a temporary folder, too.

The server listens on 127.0.0.1 only and asks for its token. Where there is no
browser the address is printed, together with the command that runs the notebook
without one. Ctrl-C ends the server and its kernels."""

_EXAMPLES = """
  mlnlab lab                              the tour
  mlnlab lab notebooks/01_language.ipynb  another notebook
  mlnlab lab --no-browser --port 9000     only print the address"""

_TOUR = Path("notebooks") / "00_tour.ipynb"
_PACKAGE = Path(__file__).resolve().parents[2]
_SETTINGS = Path(__file__).parent.parent / "lab_settings"
_LAST_PORT = 65_535
_TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "lab", summary="start JupyterLab on the tour", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help="notebook, file or folder to open")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    parser.add_argument(
        "--port", type=_port, default=8888, help="first port to try, 0 for any (default: %(default)s)"
    )
    return parser


def _port(text: str) -> int:
    """Return the number of a port; the sentence for another one is argparse's to show."""
    if not (text.isascii() and text.isdecimal() and int(text) <= _LAST_PORT):
        raise argparse.ArgumentTypeError(
            f"a port must be a whole number from 0 to {_LAST_PORT}, not {text!r}"
        )
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Start the server, say where it is, and serve until Ctrl-C."""
    root, target = _what_to_open(arguments.path)
    with tempfile.TemporaryDirectory(prefix="mlnlab-jupyter-", ignore_cleanup_errors=True) as spare:
        return _serve(arguments, root, target, Path(spare))


def _serve(arguments: argparse.Namespace, root: Path, target: Path | None, spare: Path) -> int:
    """Serve a folder; Jupyter's own files go to a spare one where they cannot be written at home."""
    opens_browser = not arguments.no_browser and _has_browser()
    _use_settings(_SETTINGS)
    _use_spare_folders(spare)
    from jupyterlab.labapp import LabApp

    announced = False

    def announce() -> None:
        nonlocal announced
        # The port is the server's own word: the first one tried may have been taken.
        announced = _is_listening(server.ip, server.port)
        if announced:
            token = server.identity_provider.token
            address = f"{server.connection_url.rstrip('/')}{_lab_page(target)}?token={token}"
            _announce(address, root, target, opens_browser)
        else:
            server.stop()

    try:
        server = LabApp.initialize_server(_server_options(root, target, arguments.port, opens_browser))
        # The loop begins with opening the port, and goes on with what was added after that.
        server.io_loop.add_callback(announce)
        server.start()
    except SystemExit as ended:  # Jupyter's way to give up; it has logged why
        if ended.code:
            raise _not_serving(arguments.port) from None
    if not announced:
        raise _not_serving(arguments.port)
    return 0


def _not_serving(port: int) -> MlnlabError:
    return MlnlabError(
        f"JupyterLab ended before it served anything: it could not listen on port {port} of 127.0.0.1 "
        "or on one near it, or an extension stopped it. Try another one with --port."
    )


def _is_listening(ip: str, port: int) -> bool:
    """Tell whether a server answers there; the system accepts for a server that is still busy."""
    try:
        with socket.create_connection((ip, port), timeout=5):
            return True
    except (OSError, OverflowError):
        return False


def _what_to_open(path: str | None) -> tuple[Path, Path | None]:
    """Return the folder to serve and the file in it to open, if any."""
    here = Path.cwd()
    if path is None:
        source = Path(__file__).resolve().parents[3]  # of an editable installation
        for root in (here, source):
            if (root / _TOUR).is_file():
                return (root if _is_writable(root / _TOUR.parent) else _temporary_copy(root)), _TOUR
        root = here if _is_writable(here) else _temporary_copy(_PACKAGE)
        return root, _TOUR if _copy_notebooks(_PACKAGE, root) else None
    chosen = Path(path).expanduser().resolve()
    if not chosen.exists():
        raise InputError(f"{path}: there is no such file or folder.")
    folder = chosen if chosen.is_dir() else chosen.parent
    if not _is_writable(folder):
        print(f"{folder} cannot be written: what you change there can be run and downloaded, but not saved.")
    if chosen.is_dir():
        return chosen, None
    root = here if chosen.is_relative_to(here) else chosen.parent
    return root, chosen.relative_to(root)


def _temporary_copy(source: Path) -> Path:
    """Copy notebooks that cannot be saved where they are, and say so."""
    folder = Path(tempfile.mkdtemp(prefix="mlnlab-notebooks-"))
    print(f"Notebooks cannot be saved here. This is a copy, which your system may remove one day: {folder}")
    _copy_notebooks(source, folder)
    return folder


def _is_writable(folder: Path) -> bool:
    """Make a folder if it is missing, and tell whether files can be written in it."""
    from mlnlab.steps.safe_files import make_folder

    try:
        make_folder(folder)
    except OutputError:
        return False
    return True


def _copy_notebooks(source: Path, folder: Path) -> bool:
    """Copy the notebooks of a package or another folder; never replace existing ones."""
    brought = sorted((source / _TOUR.parent).glob("*.ipynb"))
    place = folder / _TOUR.parent
    copied = [notebook for notebook in brought if not (place / notebook.name).exists()]
    if copied:
        place.mkdir(exist_ok=True)
        for notebook in copied:
            shutil.copyfile(notebook, place / notebook.name)
        print(f"Copied {', '.join(notebook.name for notebook in copied)} to {from_here(place)}.")
    return (folder / _TOUR).is_file()


def _has_browser() -> bool:
    """Tell whether a browser with windows can be opened here."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    ):
        return False
    try:
        return getattr(webbrowser.get(), "name", "") not in _TEXT_BROWSERS
    except webbrowser.Error:
        return False


def _use_settings(folder: Path) -> None:
    """Put our defaults (no news popup, no links that run commands) before Jupyter's; users' own still win."""
    before = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join([str(folder), *([before] if before else [])])


def _use_spare_folders(spare: Path) -> None:
    """Keep Jupyter's files in a spare folder where its own cannot be written; these are still read."""
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

    for kind, own, read in (
        ("CONFIG", jupyter_config_dir, "JUPYTER_CONFIG_PATH"),
        ("DATA", jupyter_data_dir, "JUPYTER_PATH"),
        ("RUNTIME", jupyter_runtime_dir, None),
    ):
        folder = Path(own())
        if _is_writable(folder):
            continue
        os.environ[f"JUPYTER_{kind}_DIR"] = str(spare / kind.lower())
        if read is not None:
            os.environ[read] = os.pathsep.join(filter(None, [os.environ.get(read), str(folder)]))
        print(f"{folder} cannot be written; until the server ends, Jupyter keeps such files in {spare}.")


def _server_options(root: Path, target: Path | None, port: int, opens_browser: bool) -> list[str]:
    options = [
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.open_browser={opens_browser}",
        f"--LabApp.default_url={_lab_page(target)}",
        f"--IdentityProvider.token={secrets.token_hex(24)}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--Application.log_level=ERROR",
        "-y",  # Ctrl-C ends the server without a question
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return options


def _lab_page(target: Path | None) -> str:
    return f"/lab/tree/{quote(target.as_posix())}" if target else "/lab"


def _announce(address: str, root: Path, target: Path | None, opens_browser: bool) -> None:
    print(f"JupyterLab serves {root}\n\n    {address}\n")
    if not opens_browser:
        print("Open this address in a browser on this machine.")
        if target is not None and target.suffix == ".ipynb":
            command = format_command("run", root / target)
            print(f"Without a browser: {command}   (writes one self-contained HTML page)")
    print("Ctrl-C stops it.", flush=True)


# --- type our commands as a person has to -------------------------------------------------------

# Where nothing was activated, plain ``mlnlab`` is not found.


def format_command(*arguments: str | Path) -> str:
    """Return a command line of ours that works in the current folder; paths are shown from there."""
    words = [from_here(argument) if isinstance(argument, Path) else argument for argument in arguments]
    return " ".join(map(_quote_word, [*_program(), *words]))


def from_here(path: Path) -> str:
    """Return a path from the current folder where that is shorter, else the whole path."""
    whole = os.path.abspath(path)  # noqa: PTH100 - resolving would follow .venv/bin/python out of .venv
    try:
        short = os.path.relpath(whole)
    except ValueError:  # another drive of Windows
        return whole
    return short if len(short) < len(whole) else whole


def _program() -> list[str]:
    """Return the words that start this very installation."""
    name = "mlnlab.exe" if sys.platform == "win32" else "mlnlab"
    script = Path(sys.executable).with_name(name)
    if not script.is_file():
        return [_command(Path(sys.executable)), "-m", "mlnlab"]
    return [_command(script)]


def _command(program: Path) -> str:
    """Return a program as a shell takes it; one without a folder would be looked for on the path."""
    shown = from_here(program)
    return shown if os.path.dirname(shown) else os.path.join(".", shown)  # noqa: PTH118, PTH120 - keeps "./"


def _quote_word(word: str) -> str:
    if sys.platform == "win32":
        return f'"{word}"' if " " in word else word
    return shlex.quote(word)
