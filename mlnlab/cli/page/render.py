"""Draws an executed notebook as one HTML page that asks no network for anything."""

from __future__ import annotations

import copy
import html
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from mlnlab.cli.page.figures import drawing_script, figure_markup, theme_script
from mlnlab.cli.page.mathematics import to_mathml, typeset, typeset_text

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

_PLOTLY = "application/vnd.plotly.v1+json"

# Live widgets and loose scripts need a running kernel or a network; their static neighbours do not.
_SHOWN_TYPES = [
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "text/latex",
    "image/png",
    "image/jpeg",
    "text/plain",
]

# The browser itself then refuses every request, whatever an output or an image in the text asks for.
_NO_NETWORK = (
    "default-src 'none'; img-src data: blob:; media-src data: blob:; font-src data:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
    "frame-src data:"
)


def render(notebook: NotebookNode, path: Path) -> str:
    """Return the page of a notebook read from ``path`` (which its images are relative to)."""
    notebook = copy.deepcopy(notebook)
    draws_figures = _write_out_figures(notebook)
    exporter = _PageExporter(  # type: ignore[no-untyped-call]
        template_name="basic", embed_images=True, exclude_anchor_links=True, config=_exporter_settings()
    )
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"path": str(path.parent)}})
    head, foot = (drawing_script(), theme_script()) if draws_figures else ("", "")
    return _page(_title(notebook, path), head, _without_addresses(body) + foot)


class _PageExporter(HTMLExporter):
    """nbconvert's bare HTML, with the maths of Markdown cells as MathML."""

    @jinja2.pass_context
    def markdown2html(self, context: jinja2.runtime.Context, source: str) -> str:
        """Return the HTML of a Markdown text (the name is nbconvert's)."""
        renderer = _MathematicalRenderer(
            escape=False,
            attachments=context.get("cell", {}).get("attachments", {}),
            embed_images=True,
            exclude_anchor_links=True,
            path=context["resources"]["metadata"]["path"],
        )
        return str(MarkdownWithMath(renderer=renderer).render(source))


class _MathematicalRenderer(IPythonRenderer):
    """Markdown to HTML with MathML; LaTeX that cannot be converted stays as it was written."""

    def inline_math(self, body: str) -> str:
        """Convert ``$...$``."""
        return to_mathml(body, block=False) or str(super().inline_math(body))

    def block_math(self, body: str) -> str:
        """Convert ``$$...$$``."""
        return to_mathml(body, block=True) or str(super().block_math(body))

    def latex_environment(self, name: str, body: str) -> str:
        r"""Convert ``\\begin{...}...\\end{...}``."""
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return to_mathml(whole, block=True) or str(super().latex_environment(name, body))


def _exporter_settings() -> Any:  # noqa: ANN401 - traitlets' Config is untyped here
    from traitlets.config import Config

    return Config({"NbConvertBase": {"display_data_priority": _SHOWN_TYPES}})


def _write_out_figures(notebook: NotebookNode) -> bool:
    """Turn outputs in place into HTML: plotly figures and LaTeX; tell whether there was a figure."""
    draws_figures = False
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if _PLOTLY in data:
                data["text/html"] = figure_markup(data[_PLOTLY])
                draws_figures = True
            elif "text/html" in data:
                data["text/html"] = _typeset_html("".join(data["text/html"]))
            elif "text/latex" in data:
                typeset_latex = typeset_text("".join(data["text/latex"]))
                if typeset_latex is not None:
                    data["text/html"] = typeset_latex
    return draws_figures


def _typeset_html(markup: str) -> str:
    if "$" not in markup and "\\(" not in markup and "\\[" not in markup:
        return markup
    fragment = BeautifulSoup(markup, "html.parser")
    typeset(fragment)
    return str(fragment)


def _without_addresses(body: str) -> str:
    """Take out what would fetch something: what the policy blocks looks like a fault."""
    page = BeautifulSoup(body, "html.parser")
    for tag in page.find_all(["script", "link", "iframe", "embed", "object"]):
        if _is_remote(tag.get("src") or tag.get("href") or tag.get("data")):
            tag.decompose()
    for image in page.find_all(["img", "audio", "video", "source"]):
        if _is_remote(image.get("src")):
            address = image["src"]
            del image["src"]
            image["title"] = f"not shown: {address}"
    return str(page)


def _is_remote(address: object) -> bool:
    return re.match(r"\s*(https?:|//|ftp:)", str(address or ""), re.IGNORECASE) is not None


def _title(notebook: NotebookNode, path: Path) -> str:
    """Return the first heading, else the file's name."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"^#\s+(.+?)\s*#*$", cell.source, re.MULTILINE)
            if heading:
                return re.sub(r"[*_`$]", "", heading[1])
    return path.stem


def _page(title: str, head: str, body: str) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_NO_NETWORK}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            # Without an icon of its own a browser asks the server for one.
            '<link rel="icon" href="data:,">',
            f"<title>{html.escape(title)}</title>",
            f"<style>\n{_style()}\n</style>",
            head,
            "</head>",
            f"<body>\n<main>\n{body}\n</main>\n</body>",
            "</html>\n",
        ]
    )


def _style() -> str:
    """Return the page's own style and the colours of code in light and dark."""
    own = resources.files("mlnlab.cli.page").joinpath("page.css").read_text(encoding="utf-8")
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"
