"""Define the looks of a drawing's classes: one table for SVG files and for drawings in a page.

Colours come from VS Code's variables, else from Jupyter's, else they are a pair for light and dark. The hues
are those of Okabe and Ito, which colour-blind readers can tell apart; shapes and dashes say the same again.
Each colour also has a middle tone that can be read on white and on black, for programs that know nothing of
style sheets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

FONT = "system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
ROOT = "mlnlab-scene"  # the class of every drawing


class Colour(NamedTuple):
    """A colour for light and for dark pages, one for both, and the page's variables that come before."""

    light: str
    dark: str
    middle: str
    variables: tuple[str, ...] = ()

    def on(self, page: str) -> str:
        """Return the colour on a ``light`` or ``dark`` page as CSS."""
        value: str = getattr(self, page)
        for variable in reversed(self.variables):
            value = f"var({variable},{value})"
        return value


COLOURS: Mapping[str, Colour] = {
    "text": Colour("#222", "#e6e6e6", "#767676", ("--vscode-editor-foreground", "--jp-content-font-color1")),
    "soft": Colour(
        "#5c5c5c", "#b0b0b0", "#808080", ("--vscode-descriptionForeground", "--jp-content-font-color2")
    ),
    "line": Colour("#a3a9ae", "#6f767c", "#909090"),
    "shade": Colour("#8080801a", "#80808026", "#80808020"),
    "back": Colour("#fff", "#111", "none", ("--vscode-editor-background", "--jp-layout-color0")),
    "blue": Colour("#0072b2", "#56b4e9", "#2b88c4"),
    "orange": Colour("#d55e00", "#f0983a", "#d9701a"),
    "green": Colour("#008a65", "#3fcfa0", "#109c77"),
    "purple": Colour("#a8508a", "#e3a6cb", "#bd6ba1"),
    "yellow": Colour("#a98600", "#f0e442", "#b59410"),
    "grey": Colour("#6b7075", "#a9afb5", "#858a8f"),
}
HUES = ("blue", "orange", "green", "purple", "yellow", "grey")
# A value that is the name of a colour stands for it; "hue" is that of the nearest word that names one.
LOOKS: Mapping[str, Mapping[str, str]] = {
    **{hue: {"--hue": hue} for hue in HUES},
    "disc": {"fill": "hue", "stroke": "back", "stroke-width": "1.5"},
    "ring": {"fill": "back", "stroke": "hue", "stroke-width": "2"},
    "wash": {
        "fill": "hue",
        "fill-opacity": ".16",
        "stroke": "hue",
        "stroke-opacity": ".8",
        "stroke-width": "1.5",
    },
    "curve": {"fill": "none", "stroke": "hue", "stroke-width": "1.5", "stroke-linejoin": "round"},
    "bar": {"fill": "hue"},
    "link": {"fill": "none", "stroke": "line", "stroke-width": "1.2"},
    "frame": {"fill": "none", "stroke": "line", "stroke-width": "1"},
    "panel": {"fill": "shade", "stroke": "line", "stroke-width": "1"},
    "shaded": {"fill": "shade"},
    "washed": {"fill-opacity": ".16"},
    "plate": {"fill": "back", "stroke": "none"},
    "clear": {"fill": "none", "stroke": "none"},
    "label": {"fill": "text", "stroke": "back", "stroke-width": "3", "paint-order": "stroke"},
    "words": {"fill": "text"},
    "quiet": {"fill": "soft"},
    "number": {"fill": "text", "font-variant-numeric": "tabular-nums"},
    "small": {"font-size": "11px"},
    "large": {"font-size": "15px"},
    "strong": {"font-weight": "600"},
    "slanted": {"font-style": "italic"},
    "thick": {"stroke-width": "3"},
    "thin": {"stroke-width": "1.1", "stroke-opacity": ".75"},
    "dashed": {"stroke-dasharray": "5 3"},
    "dotted": {"stroke-dasharray": "1.5 3"},
    "dotdash": {"stroke-dasharray": "7 3 1.5 3"},
    "faint": {"opacity": ".55"},
    "pixels": {"image-rendering": "pixelated"},
}
WORDS = frozenset(LOOKS)
DASHES = ("", "dashed", "dotted", "dotdash")
SIZES: Mapping[str, float] = {"small": 11, "large": 15}
USUAL_SIZE = 12.5

_OF_STROKES = frozenset({"stroke", "stroke-width", "stroke-opacity", "paint-order"})
_DARK_PAGES = ("[data-jp-theme-light=false]", ".vscode-dark", ".vscode-high-contrast", "[theme=dark]")
_LIGHT_PAGES = ("[data-jp-theme-light=true]", ".vscode-light", ".vscode-high-contrast-light", "[theme=light]")
# What only a drawing in a page needs: what is selected, focused or under the pointer, the card, the frame.
_LIVE = (
    ".mlnlab-view{position:relative;max-width:100%;line-height:1.4;font:12.5px " + FONT + "}"
    ".mlnlab-view>svg{display:block;width:100%;height:auto;touch-action:none;user-select:none;outline-offset:2px}"
    ".mlnlab-view .mlnlab-grab{cursor:grab}.mlnlab-view .mlnlab-grabbing{cursor:grabbing}"
    ".mlnlab-scene [data-pick]{cursor:pointer}"
    ".mlnlab-scene [data-pick]:hover{filter:brightness(1.15) saturate(1.2)}"
    ".mlnlab-scene [data-pick]:focus{outline:none}"
    # A button that is only a frame is pressed between its letters too.
    ".mlnlab-scene [data-pick]>.mlnlab-frame{pointer-events:all}"
    # The first part of a group is its shape: its frame, its curve, its hull.
    ".mlnlab-scene .mlnlab-current:not(g),.mlnlab-scene g.mlnlab-current>:first-child{"
    "stroke:var(--s-text);stroke-width:2.5px;stroke-opacity:1;stroke-dasharray:4 2}"
    ".mlnlab-scene .mlnlab-selected:not(g),.mlnlab-scene g.mlnlab-selected>:first-child{"
    "stroke:var(--s-text);stroke-width:3px;stroke-opacity:1;stroke-dasharray:none}"
    ".mlnlab-scene .mlnlab-current{filter:drop-shadow(0 0 2px var(--s-blue))}"
    ".mlnlab-scene text.mlnlab-selected{stroke:none}"
    ".mlnlab-scene text.mlnlab-selected,.mlnlab-scene .mlnlab-selected>text{font-weight:700}"
    ".mlnlab-card{position:absolute;z-index:5;pointer-events:none;max-width:22em;padding:5px 9px;"
    "border-radius:5px;border:1px solid var(--s-line);background:var(--s-back);color:var(--s-text);"
    "white-space:pre-line;overflow-wrap:anywhere;box-shadow:0 2px 8px #0003;font:12px " + FONT + "}"
    ".mlnlab-card[hidden]{display:none}.mlnlab-card::first-line{font-weight:600}"
    ".mlnlab-said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}"
    ".mlnlab-problem{padding:6px 10px;border-left:3px solid var(--s-orange);color:var(--s-text)}"
)


def sheet(*, live: bool = False) -> str:
    """Return the style sheet of drawings, scoped by class; ``live`` adds the rules of a browser's view."""
    places = f".{ROOT}" + (",.mlnlab-view" if live else "")
    rules = [
        _variables(places, "light"),
        f"@media(prefers-color-scheme:dark){{{_variables(places, 'dark')}}}",
        *(_variables(_inside(pages, live), page) for page, pages in _pages()),
        f".{ROOT} text{{font:{USUAL_SIZE}px {FONT};stroke-linejoin:round}}",
        *(_rule(word, properties) for word, properties in LOOKS.items()),
    ]
    return "".join(rules) + (_LIVE if live else "")


def _pages() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("dark", _DARK_PAGES), ("light", _LIGHT_PAGES)


def _inside(pages: tuple[str, ...], live: bool) -> str:
    names = (ROOT, "mlnlab-view") if live else (ROOT,)
    return ",".join(f"{page} .{name}" for page in pages for name in names)


def _variables(places: str, page: str) -> str:
    values = ";".join(f"--s-{name}:{colour.on(page)}" for name, colour in COLOURS.items())
    return f"{places}{{{values};--hue:var(--s-soft)}}"


def _rule(word: str, properties: Mapping[str, str]) -> str:
    shown = ";".join(f"{name}:{_value(value)}" for name, value in properties.items())
    # `text` has a rule of its own above, so a word must weigh more than it.
    return f".{ROOT} .mlnlab-{word}{{{shown}}}"


def _value(value: str) -> str:
    if value == "hue":
        return "var(--hue)"
    return f"var(--s-{value})" if value in COLOURS else value


def hue_of(look: str, otherwise: str) -> str:
    """Return the hue that the words of a look name, or that of the group around."""
    return next((word for word in reversed(look.split()) if word in HUES), otherwise)


def plain_attributes(look: str, hue: str) -> dict[str, str]:
    """Return a look as attributes, in middle tones, for readers that take no notice of style sheets."""
    found: dict[str, str] = {}
    for word in look.split():
        for name, value in LOOKS[word].items():
            if name == "--hue":
                continue
            colour = COLOURS.get(hue if value == "hue" else value)
            found[name] = colour.middle if colour else value
    found.pop("font-variant-numeric", "")  # no attribute of that name exists
    if found.get("stroke") == "none":
        found = {name: value for name, value in found.items() if name not in _OF_STROKES}
    return found
