"""Check the installation on this machine and suggest repairs: ``mlnlab doctor``."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.arguments.manual import Subparsers, add_command

if TYPE_CHECKING:
    import argparse

_MANUAL = """
Checks this installation and reports, line by line, what is in order (ok), what is
missing but optional (warn), and what does not work (fail), with a remedy. The exit
code is 1 if anything failed. Include its output in every problem report."""

_EXAMPLES = """
  mlnlab doctor
  mlnlab doctor --json | python -m json.tool"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "doctor", summary="say what works on this machine", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Make all checks and report them."""
    found = list(all_checks())
    failed = any(check.status is Status.FAIL for check in found)
    if arguments.json:
        report = {"ok": not failed, "checks": [check.as_record() for check in found]}
        print(json.dumps(report, indent=2))
    else:
        _print_table(found)
    return int(failed)


def _print_table(found: list[Check]) -> None:
    width = max(len(check.name) for check in found)
    for check in found:
        print(f"{check.status:<4}  {check.name:<{width}}  {check.detail}")
        if check.remedy:
            print(f"{'':<{width + 8}}-> {check.remedy}")


# --- checks -------------------------------------------------------------------------------------

# Each looks at one thing and returns findings; none of them raises.

_PACKAGE = Path(__file__).resolve().parents[1]
_REINSTALL = f'"{sys.executable}" -m pip install --force-reinstall --no-deps mlnlab'
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Status(StrEnum):
    """How a check came out: ``WARN`` is something that can be done without."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; ``remedy`` describes the repair unless all is well."""

    name: str
    status: Status
    detail: str
    remedy: str = ""

    def as_record(self) -> dict[str, str]:
        """Return the finding as plain data."""
        return asdict(self) | {"status": str(self.status)}


def all_checks() -> Iterator[Check]:
    """Yield all findings; a check that itself breaks is a finding too."""
    checks: list[Callable[[], Iterator[Check]]] = [
        _check_python,
        _check_package,
        _check_dependencies,
        _check_kernel,
        _check_lab_extension,
        _check_caches,
        _check_browser,
        _check_data,
    ]
    for check in checks:
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - the doctor is run where things are broken
            name = check.__name__.removeprefix("_check_")
            yield Check(name, Status.FAIL, f"could not be checked: {type(error).__name__}: {error}")


def _check_python() -> Iterator[Check]:
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()} ({sys.executable})"
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        yield Check("python", Status.OK, detail)
    else:
        yield Check("python", Status.FAIL, detail, "use Python 3.11, 3.12 or 3.13")


def _check_package() -> Iterator[Check]:
    try:
        yield Check("mlnlab", Status.OK, f"{metadata.version('mlnlab')} in {_PACKAGE}")
    except metadata.PackageNotFoundError:
        yield Check(
            "mlnlab", Status.WARN, f"not installed, read from {_PACKAGE}", "python -m pip install -e ."
        )
    folder = next(
        (f for f in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data") if f.is_dir()), None
    )
    if folder:
        yield Check("sample data", Status.OK, str(folder))
    else:
        yield Check("sample data", Status.FAIL, "not found in the package or beside it", _REINSTALL)


def _check_dependencies() -> Iterator[Check]:
    from packaging.requirements import Requirement

    try:
        declared = metadata.requires("mlnlab") or []
    except metadata.PackageNotFoundError:
        return
    for requirement in map(Requirement, declared):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        repair = f'python -m pip install "{requirement.name}{requirement.specifier}"'
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield Check(requirement.name, Status.FAIL, "not installed", repair)
            continue
        if requirement.specifier.contains(version, prereleases=True):
            yield Check(requirement.name, Status.OK, version)
        else:
            yield Check(requirement.name, Status.FAIL, f"{version} is not {requirement.specifier}", repair)


def _check_kernel() -> Iterator[Check]:
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    remedy = f'"{sys.executable}" -m ipykernel install --user  (mlnlab run does without)'
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv
    except NoSuchKernel:
        yield Check("notebook kernel", Status.WARN, "Jupyter has no kernel named python3", remedy)
        return
    program = shutil.which(command[0]) or command[0]
    # Jupyter replaces a bare "python" by the Python that it runs on itself.
    is_ours = command[0] in {"python", "python3"} or Path(program).parent == Path(sys.executable).parent
    if is_ours:
        yield Check("notebook kernel", Status.OK, "python3 is this Python")
    else:
        yield Check("notebook kernel", Status.WARN, f"python3 is another Python: {program}", remedy)


def _check_lab_extension() -> Iterator[Check]:
    """Check that JupyterLab finds the extension that colours our languages and draws saved drawings."""
    from jupyter_core.paths import jupyter_path
    from jupyterlab.commands import AppOptions, get_app_info

    name = "lab extension"
    known = get_app_info(AppOptions(labextensions_path=jupyter_path("labextensions")))
    found = known["federated_extensions"].get("mlnlab")
    if found is None:
        detail = "JupyterLab does not find it: no colours in .mln files, and only pictures of saved views"
        yield Check(name, Status.WARN, detail, _REINSTALL)
        return
    folder = Path(found["ext_path"])
    if known["disabled"].get("mlnlab"):
        remedy = f'"{sys.executable}" -m jupyter labextension enable mlnlab'
        yield Check(name, Status.WARN, f"{folder} is switched off", remedy)
    elif not (folder / found["jupyterlab"]["_build"]["load"]).is_file():
        yield Check(name, Status.WARN, f"{folder} is incomplete", _REINSTALL)
    elif _is_other_build(folder):
        detail = f"{folder} is a different build from the one beside the sources"
        yield Check(name, Status.WARN, detail, "make lab  (links it to the sources)")
    else:
        yield Check(name, Status.OK, f"JupyterLab finds it in {folder}")


def _is_other_build(folder: Path) -> bool:
    """Tell whether a source folder holds another build than the one that is installed."""
    ours, theirs = (place / "sources.sha256" for place in (_PACKAGE / "labextension", folder))
    return ours.is_file() and not (theirs.is_file() and theirs.read_bytes() == ours.read_bytes())


def _check_caches() -> Iterator[Check]:
    yield _check_kernel_cache()
    from jupyter_core.paths import jupyter_runtime_dir

    runtime = Path(jupyter_runtime_dir())
    if _is_writable(runtime):
        yield Check("jupyter runtime", Status.OK, f"{runtime} can be written")
    else:
        remedy = "set JUPYTER_RUNTIME_DIR to a folder of yours"
        yield Check("jupyter runtime", Status.FAIL, f"{runtime} cannot be written", remedy)


def _check_kernel_cache() -> Check:
    from mlnlab.kernels.cache_folder import cache_folder

    remedy = "set NUMBA_CACHE_DIR to a folder of yours, otherwise each session compiles again"
    try:
        folder = cache_folder()
    except RuntimeError:
        return Check("kernel cache", Status.WARN, "the home folder is unknown", remedy)
    if _is_writable(folder):
        return Check("kernel cache", Status.OK, f"{folder} can be written")
    return Check("kernel cache", Status.WARN, f"{folder} cannot be written", remedy)


def _is_writable(folder: Path) -> bool:
    """Tell whether a file can be made in the folder, or the folder itself where it does not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _check_browser() -> Iterator[Check]:
    names = (os.environ.get("MLNLAB_CHROMIUM", ""), *_BROWSERS)
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found:
        yield Check("chromium", Status.OK, found)
    else:
        remedy = "only the browser tests need it: install Chromium or Chrome, or set MLNLAB_CHROMIUM"
        yield Check("chromium", Status.WARN, "not found", remedy)


def _check_data() -> Iterator[Check]:
    name, chosen = "real data sets", os.environ.get("MLNLAB_DATA")
    if not chosen:
        yield Check(name, Status.OK, "MLNLAB_DATA is not set (only tests of the project use it)")
    elif Path(chosen).is_dir():
        yield Check(name, Status.OK, chosen)
    else:
        remedy = "set MLNLAB_DATA to a folder, or unset it: only tests of the project use it"
        yield Check(name, Status.WARN, f"MLNLAB_DATA names no folder: {chosen}", remedy)
