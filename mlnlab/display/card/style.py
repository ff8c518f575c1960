"""The look of all displays: one small style sheet, scoped by class, that follows the reader's theme.

Colours come from VS Code's variables, else from Jupyter's, else from the system. What has no variable
there is a pair for light and dark; ``color-scheme`` picks one, also inside pictures. The hues are those of
Okabe and Ito, which colour-blind readers can tell apart, and nothing is said by colour alone.
"""

from __future__ import annotations

from mlnlab.display.card.markup import Element, Node, element

# Lab typesets $...$ even in escaped text, unless an element above it bears one of these classes.
ROOT_CLASSES = "mlnlab tex2jax_ignore mathjax_ignore"
# Said at the element itself: in untrusted notebooks Lab drops the style sheet below, and lets no other
# value through than this one.
BREAKING = "overflow-wrap:break-word"

STYLE = """
.mlnlab{--m-text:var(--vscode-editor-foreground,var(--jp-content-font-color1,CanvasText));
--m-back:var(--vscode-editor-background,var(--jp-layout-color1,Canvas));
--m-soft:var(--vscode-descriptionForeground,var(--jp-content-font-color2,GrayText));
--m-line:var(--vscode-widget-border,var(--jp-border-color2,#8884));
--m-shade:var(--vscode-textCodeBlock-background,var(--jp-layout-color2,#8882));
--m-mono:var(--vscode-editor-font-family,var(--jp-code-font-family,monospace));
--m-blue:light-dark(#0067a3,#6cc0f0);--m-red:light-dark(#b34700,#f0a04b);--m-green:light-dark(#007355,#3fcfa0);
--m-purple:light-dark(#9a4a7d,#e3a6cb);color:var(--m-text);font-size:13px;line-height:1.5;max-width:100%}
[data-jp-theme-light=true] .mlnlab{color-scheme:light}
[data-jp-theme-light=false] .mlnlab,.vscode-dark .mlnlab,.vscode-high-contrast .mlnlab{color-scheme:dark}
.vscode-light .mlnlab,.vscode-high-contrast-light .mlnlab{color-scheme:light}
.mlnlab.mlnlab table{border-collapse:collapse;margin:4px 0 8px;table-layout:auto;width:auto;max-width:100%;
border:0;font-size:13px;color:inherit;display:table}
.mlnlab.mlnlab th,.mlnlab.mlnlab td{padding:3px 10px 3px 0;text-align:left;vertical-align:baseline;border:0;
border-bottom:1px solid var(--m-line);background:transparent;color:inherit;white-space:normal;
overflow-wrap:anywhere;min-width:2em;max-width:44em}
.mlnlab.mlnlab thead th{font-weight:600;color:var(--m-soft);border-bottom:1px solid var(--m-soft);
overflow-wrap:normal}
.mlnlab.mlnlab tbody tr,.mlnlab.mlnlab tbody tr:hover{background:transparent;color:inherit}
.mlnlab.mlnlab .mlnlab-number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;
overflow-wrap:normal}
.mlnlab .mlnlab-title{font-weight:600;margin:0 0 2px}
.mlnlab .mlnlab-quiet{color:var(--m-soft);font-weight:400;margin:0}
.mlnlab li,.mlnlab p,.mlnlab .mlnlab-title,.mlnlab .mlnlab-quiet,.mlnlab .mlnlab-finding{
overflow-wrap:anywhere}
.mlnlab p{margin:2px 0 4px}.mlnlab.mlnlab ul{margin:2px 0 6px;padding-left:1.4em}
.mlnlab details{margin:2px 0}.mlnlab summary{cursor:pointer;color:var(--m-soft)}
.mlnlab summary:hover{color:var(--m-text)}
.mlnlab .mlnlab-formula{font-family:var(--jp-content-font-family,system-ui,sans-serif);font-size:14px}
.mlnlab .mlnlab-predicate{color:var(--m-blue)}
.mlnlab .mlnlab-variable{font-style:italic;color:var(--m-red)}
.mlnlab .mlnlab-constant{color:var(--m-green)}
.mlnlab .mlnlab-quantifier,.mlnlab .mlnlab-mark{font-weight:600;color:var(--m-purple)}
.mlnlab .mlnlab-badge{font-size:11px;padding:0 5px;border-radius:3px;border:1px solid var(--m-soft);
white-space:nowrap}
.mlnlab .mlnlab-hard{background:var(--m-text);color:var(--m-back);border-color:var(--m-text);font-weight:600}
.mlnlab .mlnlab-open{border-style:dashed}
.mlnlab .mlnlab-picture{display:block;max-width:100%;height:auto;margin:4px 0;background:none}
.mlnlab.mlnlab pre,.mlnlab.mlnlab code{font-family:var(--m-mono);font-size:12px;color:inherit;
background:transparent}
.mlnlab.mlnlab pre{margin:2px 0;padding:4px 8px;background:var(--m-shade);overflow-x:auto;white-space:pre}
.mlnlab .mlnlab-finding{margin:4px 0;padding:1px 0 1px 9px;border-left:3px solid var(--m-soft)}
.mlnlab .mlnlab-error{border-left-color:var(--m-red)}
.mlnlab .mlnlab-warning{border-left-style:dashed;border-left-color:var(--m-purple)}
.mlnlab .mlnlab-note{border-left-style:dotted}
.mlnlab u{text-decoration:underline wavy var(--m-red);text-underline-offset:3px;font-weight:600}
.mlnlab .mlnlab-warning u,.mlnlab .mlnlab-note u{
text-decoration:underline dotted var(--m-purple);font-weight:400}
.mlnlab .mlnlab-note u{text-decoration-color:var(--m-soft)}
.mlnlab .mlnlab-added{color:var(--m-blue)}.mlnlab .mlnlab-removed{color:var(--m-red)}
""".replace("\n", "")


def card(*children: Node | None) -> Element:
    """Return the root of a display: a block with our style, whose text nobody typesets."""
    return Element(
        "div",
        (("class", ROOT_CLASSES),),
        (element("style", STYLE), *(child for child in children if child is not None)),
    )


def title(text: str, remark: str = "") -> Element:
    """Return the headline of a display, with a quieter remark behind it."""
    quiet = element("span", f" · {remark}", kind="quiet") if remark else None
    return element("div", text, quiet, kind="title", style=BREAKING)


def quiet(text: str) -> Element:
    """Return a sentence that stands back."""
    return element("div", text, kind="quiet", style=BREAKING)


def fold_away(headline: str, *children: Node | None) -> Element:
    """Return a part that opens on a click."""
    return element("details", element("summary", headline), *children)
