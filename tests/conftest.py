"""What every test can ask for: the real data, the reference files, a Chromium, a settled randomness."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import hypothesis
import pytest

from tests.support.patience import PATIENCE
from tests.support.shared_data import folder_or_skip
from tests.support.thoroughness import EXAMPLES, IN_PROOF, examples

# `make test` draws the same examples everywhere, so that no change fails by chance; `make proof` draws new
# ones and prints the seed that repeats them. Every failure that it finds is kept as an explicit example.
hypothesis.settings.register_profile(
    "usual",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=examples(EXAMPLES),
)
hypothesis.settings.register_profile(
    "proof", deadline=None, database=None, print_blob=True, max_examples=examples(EXAMPLES)
)
# A display that fails is an error here, in kernels and programs that tests start as well.
os.environ["MLNLAB_RAISE"] = "1"
# The kernels of notebooks compute only what is asked of them, but where their idle hours are tested.
os.environ["MLNLAB_WARM_UP"] = "0"
hypothesis.settings.load_profile("proof" if IN_PROOF else "usual")
# Millions of short-lived values are made, and hardly any cycles: garbage is looked for less often.
gc.set_threshold(100_000, 20, 50)


class FullDisk:
    """Says that there is no space left, while a test wants it so; all that is written passes ``os.fsync``."""

    def __init__(self, sync):
        self.is_full, self.tried, self._sync = False, 0, sync
        self.within = ""  # a folder, where only one disk of several is full

    def __call__(self, handle):
        self.tried += 1
        file = str(Path(f"/proc/self/fd/{handle}").readlink()) if self.within else ""
        if self.is_full and (not self.within or f"/{self.within}/" in file):
            raise OSError(28, "No space left on device")
        self._sync(handle)


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that a test can fill: ``full_disk.is_full = True``."""
    disk = FullDisk(os.fsync)
    monkeypatch.setattr(os, "fsync", disk)
    return disk


_LAB = "tests/browser/"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Mark tests by what they ask for, and by what runs in one worker: a module, but each notebook by itself.

    So what a module makes for its tests, a page or a model, is made once, and JupyterLab is started and
    loaded in one worker. What takes longest begins first.
    """
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if asked & {"data_folder", "reference_folder"}:
            item.add_marker(pytest.mark.data)
        if asked & {"chromium", "browser"}:
            item.add_marker(pytest.mark.browser)
        if not _is_notebook(item):
            item.add_marker(pytest.mark.xdist_group(_group(item)))
    if getattr(config.option, "loadgroup", False):
        items.sort(key=lambda item: not (_is_notebook(item) or item.get_closest_marker("browser")))


def pytest_make_parametrize_id(val):
    """Name a test by the length of a text that would be no name itself: some have a million letters."""
    if isinstance(val, str | bytes) and len(val) > 80:
        return f"{type(val).__name__} of {len(val)}"
    return None


def _is_notebook(item):
    return item.path.parent.name == "notebooks"


def _group(item):
    return _LAB if item.nodeid.startswith(_LAB) else item.nodeid.split("::", 1)[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let what is collected stay to the end: nobody who looks for garbage needs to look through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session):
    """Refuse to run where xdist lost the groups: tests that share a page would be torn apart."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if not _is_notebook(item) and not item.nodeid.endswith(f"@{_group(item)}"):
            versions = f"pytest {pytest.__version__} with this pytest-xdist"
            raise pytest.UsageError(f"{versions} does not keep the group of {item.nodeid} together.")


@pytest.fixture(scope="session", autouse=True)
def _unhurried():
    """Let what gives up after some seconds look longer: what it finds is what a test is about."""
    from mlnlab.grounding.networks import ground_bindings
    from mlnlab.inference.ask import likelihoods
    from mlnlab.inference.sat import conflicts, refutation
    from mlnlab.widgets.edit.edited_model import EditedModel
    from mlnlab.widgets.explore.exploration import Exploration
    from mlnlab.widgets.learn import learning_session, lift_view
    from mlnlab.widgets.run import run_view, session

    ground_bindings.MOST_SECONDS = PATIENCE
    conflicts.SECONDS = likelihoods.SECONDS = refutation.SECONDS_OF_ROUNDS = PATIENCE
    conflicts.MOST_SECONDS = conflicts.SECONDS_TO_DECIDE = conflicts.SECONDS_TO_CONFIRM = PATIENCE
    session.FIRST_STEP_SECONDS = run_view.STEP_SECONDS = PATIENCE
    learning_session.RESTING_SECONDS = lift_view.RESTING_SECONDS = PATIENCE
    EditedModel.wait.__defaults__ = Exploration.wait.__defaults__ = (PATIENCE,)


@pytest.fixture(scope="session")
def repository():
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_folder():
    """The real data sets."""
    return folder_or_skip("data")


@pytest.fixture(scope="session")
def reference_folder():
    """The reference files: published numbers, syntax samples, other programs' outputs."""
    return folder_or_skip("reference")


@pytest.fixture(scope="session")
def chromium():
    """The path of a Chromium or Chrome."""
    names = [os.environ.get("MLNLAB_CHROMIUM", ""), *_BROWSERS]
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        sentence = "no Chromium here: install Chromium or Chrome, or set MLNLAB_CHROMIUM to its path"
        if os.environ.get("MLNLAB_REQUIRE_BROWSER") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    """A running headless Chromium; make a context of your own from it, and close it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=chromium,
            headless=True,
            # The sandbox needs rights that containers lack, and their shared memory is small.
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        running.new_context = _patient(running.new_context)
        running.new_page = _patient(running.new_page)
        yield running
        running.close()


def _patient(make):
    """Let pages wait longer than the half minute that is usual: a slow machine is no fault of ours.

    With MLNLAB_SLOWER_BROWSER=6 pages have a sixth of the processor, to find what only a slow machine shows.
    """
    slower = float(os.environ.get("MLNLAB_SLOWER_BROWSER", "1"))

    def slow_down(page):
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})

    def patient(**options):
        made = make(**options)
        made.set_default_timeout(PATIENCE * 1000)
        made.set_default_navigation_timeout(PATIENCE * 1000)
        if slower != 1:
            if hasattr(made, "pages"):  # a context; a page is given otherwise
                made.on("page", slow_down)
            else:
                slow_down(made)
        return made

    return patient
