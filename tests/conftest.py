"""What every test can ask for: the real data, the reference files, a Chromium, a settled randomness."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import hypothesis
import pytest

from tests.patience import PATIENCE
from tests.shared_data import folder_or_skip

# In continuous integration every run draws the same examples; a failure can then be repeated by anyone.
hypothesis.settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, print_blob=True, max_examples=60
)
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "local")
)

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Mark tests by what they ask for, and by what runs in one worker: a module, but each notebook by itself.

    So what a module makes for its tests, a page or a model, is made once. What takes longest begins first.
    """
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if asked & {"data_folder", "reference_folder"}:
            item.add_marker(pytest.mark.data)
        if asked & {"chromium", "browser"}:
            item.add_marker(pytest.mark.browser)
        if not _is_notebook(item):
            item.add_marker(pytest.mark.xdist_group(_module(item)))
    if getattr(config.option, "loadgroup", False):
        items.sort(key=lambda item: not (_is_notebook(item) or item.get_closest_marker("browser")))


def _is_notebook(item):
    return item.path.parent.name == "notebooks"


def _module(item):
    return item.nodeid.split("::", 1)[0]


def pytest_collection_finish(session):
    """Refuse to run where xdist lost the groups: tests that share a page would be torn apart."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if not _is_notebook(item) and not item.nodeid.endswith(f"@{_module(item)}"):
            versions = f"pytest {pytest.__version__} with this pytest-xdist"
            raise pytest.UsageError(f"{versions} does not keep the group of {item.nodeid} together.")


@pytest.fixture(scope="session", autouse=True)
def _unhurried():
    """Let what gives up after some seconds look longer: what it finds is what a test is about."""
    from mlnlab.grounding import ground_bindings
    from mlnlab.inference import conflict_remedies, conflicts, likelihoods, refutation
    from mlnlab.widgets import session

    ground_bindings.MOST_SECONDS = PATIENCE
    conflict_remedies.SECONDS = likelihoods.SECONDS = refutation.SECONDS_OF_ROUNDS = PATIENCE
    conflicts.MOST_SECONDS = conflicts.SECONDS_TO_DECIDE = conflicts.SECONDS_TO_CONFIRM = PATIENCE
    session.FIRST_STEP_SECONDS = PATIENCE


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
