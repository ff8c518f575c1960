"""One JupyterLab for all browser tests of a worker."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab


@pytest.fixture(scope="module")
def plain_lab(browser, tmp_path_factory):
    """A running JupyterLab that does not use our extension."""
    running = Lab(browser, tmp_path_factory.mktemp("plain_lab"), extension=False)
    yield running
    running.close()


@pytest.fixture(scope="session")
def lab(browser, tmp_path_factory):
    """A running JupyterLab; see :mod:`tests.browser.lab`."""
    running = Lab(browser, tmp_path_factory.mktemp("lab"))
    yield running
    running.close()
