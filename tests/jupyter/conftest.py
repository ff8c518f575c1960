"""A shell of IPython's own, without a terminal, that keeps what it is asked to show."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from mlnlab.jupyter import register
from mlnlab.steps.runs import status_line


class Notebook:
    """Runs cells and returns what they show, as a front end would be told."""

    def __init__(self, shell):
        self.shell = shell
        self.variables = shell.user_ns

    def run(self, cell):
        """Run a cell; return the bundles that it shows and what it prints."""
        with capture_output() as captured:
            self.result = self.shell.run_cell(cell)
        shown = [output.data for output in captured.outputs]
        return shown, captured.stdout + captured.stderr

    def formats(self, value):
        return self.shell.display_formatter.format(value)[0]


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(status_line, "_notebooks", [])  # which registering fills, for good
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config, colors="nocolor")
    shell.display_formatter.active_types = shell.display_formatter.format_types
    register(shell)
    yield Notebook(shell)
    shell.history_manager.end_session() if shell.history_manager else None
    InteractiveShell.clear_instance()
