"""A real JupyterLab on 127.0.0.1 with settings of its own, and a Chromium that looks at it.

In a test::

    def test_something(lab):
        with lab.open("lesson.ipynb") as page:
            page.run_all()
            assert page.output(3).locator("table").is_visible()

Everything is asked of Lab's own model and of what stands on the screen; each page records the requests
that would leave the machine (they are refused) and what the browser complains of.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import TimeoutError as PatienceOverError

from tests.support.patience import PATIENCE

REPOSITORY = Path(__file__).resolve().parents[2]
_TOKEN = "for-tests-only"
_SETTINGS = {
    # All cells stand on the page, so that a test can ask for any of them.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}
_KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


class Lab:
    """A server in a folder; ends with the test session. ``extension``: whether it may use ours."""

    def __init__(self, browser, home, *, extension=True):
        self.browser = browser
        self.folder = home / "notebooks"
        self.folder.mkdir(parents=True)
        self._tabs = []  # in which a notebook was open
        self.port = _free_port()
        for name, content in _SETTINGS.items():
            file = home / "settings" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content))
        if not extension:
            switches = home / "config" / "labconfig" / "page_config.json"
            switches.parent.mkdir(parents=True, exist_ok=True)
            switches.write_text(json.dumps({"disabledExtensions": {"mlnlab": True}}))
        self._log = (home / "server.log").open("w")
        self._server = subprocess.Popen(
            self._command(), env=self._environment(home), stdout=self._log, stderr=subprocess.STDOUT
        )
        self._wait_until_ready(home)

    def _command(self):
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.root_dir": self.folder,
            "IdentityProvider.token": _TOKEN,
            "LabApp.expose_app_in_browser": True,
            "LabApp.extension_manager": "readonly",
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        }
        return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]

    def _environment(self, home):
        own = {
            "JUPYTERLAB_SETTINGS_DIR": home / "settings",
            "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
            "JUPYTER_CONFIG_DIR": home / "config",
            "JUPYTER_RUNTIME_DIR": home / "runtime",
            "JUPYTER_DATA_DIR": home / "data",
            "IPYTHONDIR": home / "ipython",
            "JUPYTER_CONFIG_PATH": REPOSITORY / "mlnlab" / "cli" / "lab_settings",
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
        }
        return os.environ | {name: str(value) for name, value in own.items()}

    def _wait_until_ready(self, home):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._server.poll() is not None:
                break
            try:
                address = f"http://127.0.0.1:{self.port}/api/status?token={_TOKEN}"
                with urllib.request.urlopen(address, timeout=20):
                    return
            except OSError:
                time.sleep(0.2)
        self.close()
        raise RuntimeError("JupyterLab did not start:\n" + (home / "server.log").read_text()[-2000:])

    def write(self, name, *cells):
        """Write a notebook: texts are code, those that begin with ``#md`` are Markdown."""
        made = [
            new_markdown_cell(text.removeprefix("#md").strip())
            if text.startswith("#md")
            else new_code_cell(text)
            for text in cells
        ]
        notebook = new_notebook(cells=made, metadata={"kernelspec": _KERNELSPEC})
        nbformat.write(notebook, self.folder / name)
        return name

    def open(self, name, *, width=1280, height=900, kernel=True, motion=True):
        """Open a notebook, alone in its tab; without ``kernel`` it is only looked at.

        Without ``motion``, drawings change at once, as for a reader who wishes so. A tab that is free takes
        the next notebook, for loading Lab costs more than most tests.
        """
        page = LabPage(self, width, height, kernel=kernel, motion=motion)
        page.open(name)
        return page

    def take_tab(self):
        """Return a tab without a notebook, or a new one."""
        return self._tabs.pop() if self._tabs else Tab(self)

    def give_back(self, tab):
        """Take a tab whose notebook is closed."""
        self._tabs.append(tab)

    @property
    def address(self):
        """Where it serves."""
        return f"http://127.0.0.1:{self.port}/"

    def close(self):
        """End the server with its kernels."""
        self._server.terminate()
        try:
            self._server.wait(20)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._log.close()


class Tab:
    """A tab of the browser; what happens in it is told to the page that has it."""

    def __init__(self, lab):
        self.owner, self.place = None, ""
        self.context = lab.browser.new_context()
        self.page = self.context.new_page()
        own = lab.address
        self.context.route(lambda address: not address.startswith((own, "data:", "blob:")), self._refuse)
        self.page.on("pageerror", self._complain)

    def _complain(self, error):
        # Lab takes its splash screen away twice where it was shown twice in a row.
        known = "'removeChild' on 'Node'" in str(error) and "/jlab_core." in (error.stack or "")
        if self.owner is not None and not known:
            self.owner.complaints.append(str(error))

    def _refuse(self, route):
        if self.owner is not None:
            self.owner.foreign.append(route.request.url)
        route.abort()


class LabPage:
    """One notebook in one browser tab."""

    def __init__(self, lab, width, height, *, kernel, motion):
        self.foreign, self.complaints, self.motion = [], [], motion
        self.spoiled = False  # whether its tab is left in a state in which no other notebook is opened
        self._lab, self._kernel = lab, kernel
        self._tab = lab.take_tab()
        self._tab.owner = self
        self.page = self._tab.page
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(reduced_motion="no-preference" if motion else "reduce")

    def open(self, name):
        """Open a notebook."""
        if not self._tab.place:
            # In a workspace of its own: a page that is loaded anew shows what any page of its workspace had.
            self._tab.place = f"{self._lab.address}lab/workspaces/{uuid.uuid4().hex}"
            self.page.goto(f"{self._tab.place}?token={_TOKEN}&reset", wait_until="domcontentloaded")
            self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")
        # Without a kernel Lab would ask for one, where the notebook names none.
        kernel = {} if self._kernel else {"kernelPreference": {"shouldStart": False, "canStart": False}}
        in_front = f"name => {_CURRENT}?.context?.path === name && {_CURRENT}.content"
        for patience in (40_000, None):  # another that was just closed may have come to the front behind it
            self.command("docmanager:open", path=name, **kernel)
            self._wait_for_notebook()
            try:
                self.page.wait_for_function(in_front, arg=name, timeout=patience)
            except PatienceOverError:
                if patience is None:
                    raise
            else:
                break
        if self._kernel:
            self.page.wait_for_function(_IS_IDLE)

    def _wait_for_notebook(self):
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        """Close the notebook and its kernel; a tab in which something went wrong is not used again."""
        self._tab.owner = None
        if self.spoiled or any(problem) or self.page.locator(".jp-Dialog").count():
            self._tab.context.close()
            return
        self.page.evaluate(_CLOSE_ALL, self._kernel)
        self.page.wait_for_selector(".jp-Notebook", state="detached")
        if self.page.locator("body[data-jp-theme-light=true]").count() == 0:
            self.theme("Light")
        if self.page.locator("#jp-left-stack").is_hidden():
            self.command("application:toggle-left-area")
        self._lab.give_back(self._tab)

    def command(self, name, **arguments):
        """Start a command of Lab's; it is not waited for, because some never end."""
        self.page.evaluate(
            "([name, given]) => { void window.jupyterapp.commands.execute(name, given) }", [name, arguments]
        )

    def run_all(self):
        """Run all cells and wait until each has been executed, or one has failed."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(_ALL_RUN)

    def run(self, cell):
        """Run one cell, counted from 0 over all cells, and wait until it is done."""
        before = self.page.evaluate(_COUNT, cell)
        self.page.evaluate("n => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = n }", cell)
        self.command("notebook:run-cell")
        self.page.wait_for_function(
            f"([n, before]) => {{ const count = ({_COUNT})(n); return count !== before && count !== null }}",
            arg=[cell, before],
        )

    def text(self, cell):
        """Return what a cell printed or answered, as plain text."""
        return "".join(
            "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
            for output in self.outputs(cell)
        )

    def save(self):
        """Save the notebook."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def reload(self):
        """Load the page anew, as a reader does who presses F5; the kernel goes on."""
        self.spoiled = True
        # Lab writes the notebook into its address now or later.
        notebook = self.page.evaluate(f"() => {_CURRENT}.context.path")
        self.page.goto(f"{self._tab.place}/tree/{notebook}", wait_until="domcontentloaded")
        self._wait_for_notebook()
        self.page.wait_for_function(_IS_IDLE)

    def moment(self):
        """Let the page do what it has to do now, so that what is not there will not come either."""
        self.page.evaluate(_A_MOMENT)

    def theme(self, name):
        """Switch to ``Light`` or ``Dark``."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        light = "true" if name == "Light" else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")
        self.page.wait_for_function(_IS_DRAWN_IN_ITS_THEME, arg=name == "Light")

    def hide_sidebar(self):
        """Leave the width to the notebook."""
        self.command("application:toggle-left-area")
        self.page.wait_for_selector("#jp-left-stack", state="hidden")

    def output(self, cell):
        """Return the output area of a cell, counted from 0 over all cells."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea").first

    def outputs(self, cell):
        """Return the outputs of a cell as they would be saved; none where it is text."""
        return self.page.evaluate(
            "n => window.jupyterapp.shell.currentWidget.content.widgets[n].model.outputs?.toJSON() ?? []",
            cell,
        )


_CURRENT = "window.jupyterapp.shell.currentWidget"
_IS_IDLE = f"() => {_CURRENT}.sessionContext.session?.kernel?.status === 'idle'"
# The sheet of a theme comes behind its name.
_IS_DRAWN_IN_ITS_THEME = """light => {
  const probe = document.createElement("div");
  probe.style.backgroundColor = "var(--jp-layout-color0)";
  document.body.append(probe);
  const parts = getComputedStyle(probe).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return parts.every(part => (part > 128) === light);
}"""
# Tasks that were waiting are done, and what they changed is drawn.
_A_MOMENT = """() => new Promise(done => setTimeout(() =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))))"""
_CLOSE_ALL = """async kernel => {
  const documents = [...window.jupyterapp.shell.widgets("main")].filter(widget => widget.context);
  for (const widget of documents) {
    if (kernel) await widget.sessionContext?.shutdown().catch(() => null);
    widget.dispose();
  }
}"""
_COUNT = """n => {
  const cell = window.jupyterapp.shell.currentWidget.content.widgets[n].model;
  return cell.executionState === "running" ? null : cell.executionCount;
}"""
_ALL_RUN = """() => {
  const code = window.jupyterapp.shell.currentWidget.content.widgets.filter(w => w.model.type === "code");
  const failed = code.some(w => w.model.outputs.toJSON().some(o => o.output_type === "error"));
  const busy = code.some(w => w.model.executionState === "running");
  const done = w => w.model.executionCount !== null || !w.model.sharedModel.getSource().trim();
  return !busy && (failed || code.every(done));
}"""


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
