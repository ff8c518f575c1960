"""Plotly figures in a page of their own: one copy of the drawing script, and the reader's light or dark."""

from __future__ import annotations

import json
from typing import Any

# The figures are drawn by then; only what a figure left to its template changes.
_FOLLOW_THEME = """
const templates = %s;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.querySelectorAll(".plotly-graph-div").forEach(
  (figure) => Plotly.relayout(figure, {template: dark.matches ? templates.dark : figure.lightTemplate}));
document.querySelectorAll(".plotly-graph-div").forEach(
  (figure) => { figure.lightTemplate = figure.layout.template || templates.light; });
dark.addEventListener("change", follow);
if (dark.matches) follow();
"""


def figure_markup(figure: dict[str, Any]) -> str:
    """Return the markup of a figure given as plotly's own JSON."""
    from plotly.io import to_html

    return str(to_html(figure, include_plotlyjs=False, full_html=False, validate=False))


def drawing_script() -> str:
    """Return the script that draws figures, some megabytes, as it comes with plotly."""
    from plotly.offline import get_plotlyjs

    return f"<script>{_inside_a_page(str(get_plotlyjs()))}</script>"


def theme_script() -> str:
    """Return the script that gives the figures light or dark colours; it belongs after the last figure."""
    from plotly.io import templates

    choices = {
        "light": templates["plotly"].to_plotly_json(),
        "dark": templates["plotly_dark"].to_plotly_json(),
    }
    return f"<script>{_inside_a_page(_FOLLOW_THEME % json.dumps(choices, default=list))}</script>"


def _inside_a_page(source: str) -> str:
    return source.replace("</script", "<\\/script")
