"""Diagnostics: where, how bad, the line with the culprit underlined, what was expected, the repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of, element, render, shortened
from mlnlab.display.style import BREAKING, card, quiet, title
from mlnlab.errors import Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.errors import Span

MOST_SHOWN = 60
_MOST_CHARACTERS = 60_000  # of markup
_WIDTH = 110  # of the source line that is shown; longer ones are shown around the culprit
_LONGEST_SENTENCE = 400
_SIGNS = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.NOTE: "●"}


def diagnostic_markup(diagnostic: Diagnostic) -> Element:
    """Return one finding as a block."""
    head = element(
        "div",
        element("strong", f"{_SIGNS[diagnostic.severity]} {diagnostic.severity}"),
        f" {shortened(diagnostic.message, _LONGEST_SENTENCE)} ",
        element("span", f"{place_in_words(diagnostic.span)} · {diagnostic.code}", kind="quiet"),
    )
    return element(
        "div",
        head,
        _source_markup(diagnostic),
        _hint("expected: ", diagnostic.expected),
        _hint("try: ", diagnostic.repair),
        kind=f"finding {diagnostic.severity}",
        style=BREAKING,
    )


def place_in_words(span: Span) -> str:
    """Return the place as ``file:line:column``."""
    return f"{shortened(span.file)}:{span.line}:{span.column}"


def _hint(label: str, text: str) -> Element | None:
    if not text:
        return None
    return element("div", element("span", label, kind="quiet"), shortened(text, _LONGEST_SENTENCE))


def _source_markup(diagnostic: Diagnostic) -> Element | None:
    if not diagnostic.source_line.strip():
        return None
    before, culprit, after = culprit_in_line(diagnostic.source_line, diagnostic.span)
    return element("pre", before, element("u", culprit), after)


def culprit_in_line(line: str, span: Span) -> tuple[str, str, str]:
    """Return what stands before the culprit, the culprit, and what stands behind it, at a readable width."""
    start = min(span.column - 1, len(line))
    stop = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line)
    left = max(0, start - _WIDTH // 2) if len(line) > _WIDTH else 0
    right = min(len(line), left + _WIDTH)
    stop = min(max(stop, start + 1), right)
    before = ("…" if left else "") + line[left:start]
    after = line[stop:right] + ("…" if right < len(line) else "")
    return before, line[start:stop] or " ", after


def findings_markup(diagnostics: Sequence[Diagnostic]) -> list[Element]:
    """Return the findings, the worst first where not all can be shown, in the order of the text."""
    order = list(Severity)
    worst = sorted(range(len(diagnostics)), key=lambda i: order.index(diagnostics[i].severity))
    chosen: dict[int, Element] = {}
    size = 0
    for place in worst[:MOST_SHOWN]:
        if size <= _MOST_CHARACTERS:
            chosen[place] = diagnostic_markup(diagnostics[place])
            size += len(render(chosen[place]))
    shown = [chosen[place] for place in sorted(chosen)]
    if len(diagnostics) > len(shown):
        shown.append(quiet(f"The {len(shown)} worst of {len(diagnostics):,} findings are shown."))
    return shown


def summary_of(diagnostics: Sequence[Diagnostic]) -> str:
    """Return ``2 errors, 1 warning``; ``no problems`` where there is nothing to say."""
    parts = []
    for severity in Severity:
        number = sum(diagnostic.severity is severity for diagnostic in diagnostics)
        if number:
            parts.append(count_of(number, str(severity)))
    return ", ".join(parts) or "no problems"


def diagnostic_display(diagnostic: Diagnostic) -> Element:
    """Return the display of one diagnostic."""
    return card(diagnostic_markup(diagnostic))


def findings_display(diagnostics: Sequence[Diagnostic], headline: str = "") -> Element:
    """Return the display of several diagnostics."""
    shown = title(headline, summary_of(diagnostics)) if headline else title(summary_of(diagnostics))
    return card(shown, *findings_markup(diagnostics))


def findings_text(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the diagnostics as a compiler prints them."""
    lines = [str(diagnostic) for diagnostic in diagnostics[:MOST_SHOWN]]
    return "\n".join([*lines, summary_of(diagnostics)])
