"""Draws an executed notebook as one HTML page that loads nothing by itself.

Two things see to that: :mod:`mlnlab.cli.page.safe_markup` keeps of the notebook's markup what shows
something, and the page's policy lets a browser run our two scripts, by their hashes, and load nothing.
"""

from __future__ import annotations

import copy
import html
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import jinja2
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from mlnlab.cli.page.safe_markup import keep_what_shows
from mlnlab.display.card.markup import fit
from mlnlab.display.scene.export import as_page_data, policy_hash

if TYPE_CHECKING:
    from pathlib import Path

    from bs4.element import NavigableString
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


def render(notebook: NotebookNode, path: Path) -> str:
    """Return the page of a notebook read from ``path`` (which its images are relative to)."""
    notebook = copy.deepcopy(notebook)
    figures = _write_out_figures(notebook)
    exporter = _PageExporter(  # type: ignore[no-untyped-call]
        template_name="basic", embed_images=True, exclude_anchor_links=True, config=_exporter_settings()
    )
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"path": str(path.parent)}})
    return _page(_title(notebook, path), keep_what_shows(body), figures)


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


def _write_out_figures(notebook: NotebookNode) -> list[dict[str, Any]]:
    """Turn outputs in place into HTML: LaTeX, and places for plotly figures; return these figures."""
    figures: list[dict[str, Any]] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if _PLOTLY in data:
                data["text/html"] = figure_place(len(figures))
                figures.append(data[_PLOTLY])
            elif "text/html" in data:
                data["text/html"] = _typeset_html("".join(data["text/html"]))
            elif "text/latex" in data:
                typeset_latex = typeset_text("".join(data["text/latex"]))
                if typeset_latex is not None:
                    data["text/html"] = typeset_latex
    return figures


def _typeset_html(markup: str) -> str:
    if "$" not in markup and "\\(" not in markup and "\\[" not in markup:
        return markup
    fragment = BeautifulSoup(markup, "html.parser")
    typeset(fragment)
    return str(fragment)


def _title(notebook: NotebookNode, path: Path) -> str:
    """Return the first heading, else the file's name."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"^#\s+(.+?)\s*#*$", cell.source, re.MULTILINE)
            if heading:
                return re.sub(r"[*_`$]", "", heading[1])
    return path.stem


def _page(title: str, body: str, figures: list[dict[str, Any]]) -> str:
    library, drawing = (drawing_library(), drawing_script()) if figures else ("", "")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(library, drawing)}">',
            # What a policy does not cover: looking up the hosts of links before anybody follows them.
            '<meta http-equiv="x-dns-prefetch-control" content="off">',
            '<meta name="referrer" content="no-referrer">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            # Without an icon of its own a browser asks the server for one.
            '<link rel="icon" href="data:,">',
            f"<title>{html.escape(fit(title))}</title>",
            f"<style>\n{_style()}\n</style>",
            *([f"<script>{library}</script>", figure_data(figures)] if figures else []),
            "</head>",
            f"<body>\n<main>\n{body}\n</main>",
            *([f"<script>{drawing}</script>"] if figures else []),
            "</body>",
            "</html>\n",
        ]
    )


def _policy(*scripts: str) -> str:
    """Return the policy by which a browser runs exactly these scripts, and loads nothing."""
    allowed = " ".join(policy_hash(script) for script in scripts if script) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "media-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )


def _style() -> str:
    """Return the page's own style and the colours of code in light and dark."""
    own = resources.files("mlnlab.cli.page").joinpath("page.css").read_text(encoding="utf-8")
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"


# --- plotly figures -----------------------------------------------------------------------------

# One copy of the drawing script serves all, in the reader's light or dark.

_DRAW = """
const templates = %s;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const figures = JSON.parse(document.getElementById("mlnlab-figures").textContent);
const drawn = [];
const template = (figure) => (dark.matches ? templates.dark : figure.light);
const follow = () => drawn.forEach((figure) => Plotly.relayout(figure.place, {template: template(figure)}));
figures.forEach(async ({data, layout, frames, config}, number) => {
  const place = document.getElementById(`mlnlab-figure-${number}`);
  const figure = {place, light: layout?.template ?? templates.light};
  try {
    await Plotly.newPlot(place, data, {...layout, template: template(figure)}, {...config, responsive: true});
    if (frames?.length) await Plotly.addFrames(place, frames);
    drawn.push(figure);
  } catch (problem) {
    place.textContent = `This figure cannot be drawn here: ${problem.message ?? problem}`;
  }
});
dark.addEventListener("change", follow);
"""


def figure_place(number: int) -> str:
    """Return the markup of the place where a figure is drawn."""
    return f'<div id="mlnlab-figure-{number}" class="plotly-graph-div"></div>'


def figure_data(figures: list[dict[str, Any]]) -> str:
    """Return the element that holds figures given as plotly's own JSON: data, which no browser runs."""
    return f'<script type="application/json" id="mlnlab-figures">{as_page_data(figures)}</script>'


def drawing_library() -> str:
    """Return the script that draws figures, some megabytes, as it comes with plotly."""
    from plotly.offline import get_plotlyjs

    return _inside_a_page(str(get_plotlyjs()))


def drawing_script() -> str:
    """Return the script that draws this page's figures in light or dark colours; it belongs behind them."""
    from plotly.io import templates

    choices = {
        "light": templates["plotly"].to_plotly_json(),
        "dark": templates["plotly_dark"].to_plotly_json(),
    }
    return _inside_a_page(_DRAW % json.dumps(choices, default=list))


def _inside_a_page(source: str) -> str:
    return source.replace("</script", "<\\/script")


# --- turn LaTeX into MathML ---------------------------------------------------------------------

# Browsers draw it by themselves, so that a page needs no script from a network.

# How many parts each of these must have; with fewer a browser draws an error.
_PARTS = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "msubsup": 3,
    "munderover": 3,
}

# Environments that the converter does not know, and the one it knows that looks the same.
_SAME_LOOK = {"aligned": "align*", "split": "align*", "gathered": "align*", "equation": "", "equation*": ""}

_DOLLARS = re.compile(
    r"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$"
    r"|\\\[(?P<bracket>.+?)\\\]"
    r"|\\\((?P<parenthesis>.+?)\\\)"
    # As in Markdown: no blank just inside, and no digit after, so that "$5 and $6" stays prices.
    r"|(?<![\\$])\$(?![\s$])(?P<inline>[^$]+?)(?<![\s\\])\$(?![\d$])",
    re.DOTALL,
)
_LEFT_ALONE = ["code", "kbd", "math", "pre", "script", "style", "svg", "textarea"]
# What XML, and so a page, cannot hold.
_NO_CHARACTERS = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IGNORED_CLASSES = {"tex2jax_ignore", "mathjax_ignore"}


def to_mathml(latex: str, *, block: bool) -> str | None:
    """Return MathML, or ``None`` where the LaTeX is bad or beyond the converter."""
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(_with_known_environments(latex), display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - the converter raises whatever bad input runs into, IndexError for one
        return None
    for element in root.iter():
        _join_letters(element)
        # Symbols arrive as text like "&#x2211;"; written out as XML they are escaped, once.
        element.text = html.unescape(element.text) if element.text else element.text
        if not _is_sound(element):
            return None
    return ElementTree.tostring(root, encoding="unicode")


def typeset(page: BeautifulSoup) -> None:
    """Replace the LaTeX between dollars in the text of a page, except where it is code or asks to be left."""
    from bs4.element import NavigableString

    for text in page.find_all(string=True):
        # Comments and the like are strings of other types.
        if type(text) is NavigableString and _DOLLARS.search(text) and not _is_left_alone(text):
            replaced = typeset_text(str(text))
            if replaced is not None:
                text.replace_with(_fragment(replaced))


def typeset_text(text: str) -> str | None:
    """Return HTML for plain text with LaTeX in it; ``None`` if nothing in it could be typeset."""
    pieces: list[str] = []
    end, found = 0, False
    for match in _DOLLARS.finditer(text):
        block = match["block"] or match["bracket"]
        mathml = to_mathml(block or match["inline"] or match["parenthesis"], block=bool(block))
        found = found or mathml is not None
        pieces += [html.escape(text[end : match.start()]), mathml or html.escape(match[0])]
        end = match.end()
    return "".join([*pieces, html.escape(text[end:])]) if found else None


def _with_known_environments(latex: str) -> str:
    for name, known in _SAME_LOOK.items():
        for part in ("begin", "end"):
            latex = latex.replace(f"\\{part}{{{name}}}", f"\\{part}{{{known}}}" if known else "")
    return latex.replace("\\operatorname*", "\\operatorname")


def _join_letters(row: ElementTree.Element) -> None:
    """Make one word of upright letters, as in a predicate's name: it is read aloud and copied as a word."""
    letters = list(row)
    if len(letters) > 1 and all(
        letter.tag == "mi" and letter.get("mathvariant") == "normal" for letter in letters
    ):
        word = "".join(letter.text or "" for letter in letters)
        for letter in letters[1:]:
            row.remove(letter)
        letters[0].text = word


def _is_sound(element: ElementTree.Element) -> bool:
    """Tell whether an element has its parts, and holds no leftover LaTeX and nothing unprintable."""
    text = element.text or ""
    if _NO_CHARACTERS.search(text) or (element.tag != "mtext" and ("\\" in text or "&" in text)):
        return False
    return len(element) == _PARTS.get(element.tag, len(element))


def _is_left_alone(text: NavigableString) -> bool:
    if text.find_parent(_LEFT_ALONE) is not None:
        return True
    return any(_IGNORED_CLASSES & set(parent.get("class") or ()) for parent in text.parents)


def _fragment(markup: str) -> BeautifulSoup:
    return BeautifulSoup(markup, "html.parser")
