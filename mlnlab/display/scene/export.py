"""Drawings as files: SVG, PNG, and one HTML page with a scrubber that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from mlnlab.display.scene.items import Scene
from mlnlab.display.scene.look import FONT
from mlnlab.display.scene.scripts import STATIC, join_modules, look_sheet
from mlnlab.display.scene.svg import svg_text
from mlnlab.errors import MlnlabError
from mlnlab.errors import visible as fit
from mlnlab.steps.safe_files import replacing_file, write_text

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS = 60
_PAGE_LOOK = (
    ":root{color-scheme:light dark}body{margin:24px auto;max-width:1100px;padding:0 16px;"
    f"font:14px {FONT};background:Canvas;color:CanvasText}}"
    "h1{font-size:18px;font-weight:600;margin:0 0 12px}"
    ".player{display:flex;gap:8px;align-items:center;margin-top:10px}.player input{flex:1;max-width:480px}"
    ".player button{font:inherit;min-width:2.6em;padding:3px 8px}.player span{color:GrayText}"
)


class ExportError(MlnlabError):
    """A drawing cannot be written as asked; the message names a remedy."""


def to_svg(scene: Scene, path: str | Path | None = None) -> str:
    """Return a drawing as SVG, and write it where a path is given."""
    text = svg_text(scene)
    if path is not None:
        write_text(path, text)
    return text


def to_html(
    scenes: Scene | Sequence[Scene], path: str | Path | None = None, *, title: str = "",
    steps: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return drawings as one page with a scrubber; ``steps`` names them.

    The page asks for nothing: its policy allows exactly our script and styles, by their hashes.
    """
    shown = [scenes] if isinstance(scenes, Scene) else list(scenes)
    if not shown:
        raise ExportError("There is no drawing to write.")
    names = [fit(name) for name in steps]
    data = as_page_data({"scenes": [scene.to_json() for scene in shown], "steps": names})
    script = join_modules(STATIC / "player.js").replace("export { play };", _START)
    text = _page(title or shown[0].title, data, script)
    if path is not None:
        write_text(path, text)
    return text


_START = """const data = JSON.parse(document.getElementById("mlnlab-data").textContent);
play(document.getElementById("mlnlab-view"), data.scenes, data.steps);"""


def as_page_data(value: object) -> str:
    """Return JSON in which nothing can end the element around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _page(title: str, data: str, script: str) -> str:
    styles = " ".join(map(policy_hash, (_PAGE_LOOK, look_sheet())))
    policy = (
        f"default-src 'none'; script-src {policy_hash(script)}; style-src {styles}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    heading = escape(fit(title))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><title>{heading}</title>'
        # Without an icon of its own a browser asks the server for one.
        f'<link rel="icon" href="data:,">'
        f"<style>{_PAGE_LOOK}</style></head><body><h1>{heading}</h1>"
        f'<div id="mlnlab-view"></div><script type="application/json" id="mlnlab-data">{data}</script>'
        f'<script type="module">{script}</script></body></html>\n'
    )


def policy_hash(text: str) -> str:
    """Return the source by which a page's policy allows exactly this script or style."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def to_png(scene: Scene, path: str | Path, *, scale: float = 2.0, dark: bool = False) -> Path:
    """Write a drawing as PNG, drawn by a Chromium of this machine; return the path."""
    browser = _browser()
    background = "111111" if dark else "ffffff"
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder, "page.html"), Path(folder, "picture.png")
        page.write_text(_picture_page(scene, background, dark), encoding="utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync",
            "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={folder}/profile",
            f"--force-device-scale-factor={scale:g}", f"--window-size={_size(scene)}",
            f"--default-background-color={background}ff", f"--screenshot={picture}", page.as_uri(),
        ]  # fmt: skip
        _run(command)
        if not picture.exists():
            raise ExportError(f"{Path(browser).name} drew nothing; to_svg() needs no browser.")
        with replacing_file(path) as unfinished:
            shutil.copyfile(picture, unfinished)
        return Path(path)


def _picture_page(scene: Scene, background: str, dark: bool) -> str:
    scheme = "dark" if dark else "light"
    return (
        f'<!DOCTYPE html><meta charset="utf-8"><style>html{{color-scheme:{scheme};background:#{background}}}'
        f'body{{margin:0}}img{{display:block}}</style><img alt="" src="{_svg_address(scene)}">'
    )


def _svg_address(scene: Scene) -> str:
    data = base64.b64encode(svg_text(scene, tooltips=False).encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{data}"


def _size(scene: Scene) -> str:
    return f"{round(scene.width + 0.5)},{round(scene.height + 0.5)}"


def _browser() -> str:
    """Return the path of a browser that can draw."""
    names = (os.environ.get("MLNLAB_CHROMIUM", ""), *_BROWSERS)
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        raise ExportError(
            "A PNG is drawn by Chromium or Chrome, and there is none here: install one, set MLNLAB_CHROMIUM"
            " to its path, or write the drawing with to_svg()."
        )
    return found


def _run(command: list[str]) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command = [command[0], "--no-sandbox", *command[1:]]  # its sandbox does not run for root
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)  # noqa: S603 - our words
    except (subprocess.SubprocessError, OSError) as problem:
        name = Path(command[0]).name
        raise ExportError(
            f"{name} could not draw ({type(problem).__name__}); to_svg() needs none."
        ) from problem
