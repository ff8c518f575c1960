"""Draw diagnostics: position, severity, the line with the culprit underlined, the expectation, the repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlnlab.display.card.cards import Card
from mlnlab.display.card.markup import Element, count_of, element, render, shorten_text
from mlnlab.display.card.style import BREAKING, quiet
from mlnlab.errors import Diagnostic, Severity, Span

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
        f" {shorten_text(diagnostic.message, _LONGEST_SENTENCE)} ",
        element("span", f"{place_in_words(diagnostic.span)} · {diagnostic.code}", kind="quiet"),
    )
    return element(
        "div",
        head,
        _source_markup(diagnostic),
        _hint("also on ", diagnostic.elsewhere),
        _hint("expected: ", diagnostic.expected),
        _hint("try: ", diagnostic.repair),
        kind=f"finding {diagnostic.severity}",
        style=BREAKING,
    )


def place_in_words(span: Span) -> str:
    """Return the place as ``file:line:column``."""
    return f"{shorten_text(span.file)}:{span.line}:{span.column}"


def _hint(label: str, text: str) -> Element | None:
    if not text:
        return None
    return element("div", element("span", label, kind="quiet"), shorten_text(text, _LONGEST_SENTENCE))


def _source_markup(diagnostic: Diagnostic) -> Element | None:
    if not diagnostic.source_line.strip():
        return None
    before, culprit, after = culprit_in_line(diagnostic.source_line, diagnostic.span)
    return element("pre", before, element("u", culprit), after)


def culprit_in_line(line: str, span: Span) -> tuple[str, str, str]:
    """Split a line at its culprit into the text before, the culprit and the text behind, cut to fit."""
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


def diagnostic_card(diagnostic: Diagnostic) -> Card:
    """Return the card of one diagnostic."""
    return Card(lead=(diagnostic_markup(diagnostic),), plain=str(diagnostic))


@dataclass(frozen=True, slots=True)
class Findings:
    """Diagnostics as a part of a card: in a terminal, as a compiler prints them."""

    diagnostics: tuple[Diagnostic, ...]
    headline: str = ""

    def markup(self) -> Element:
        """Return the findings as blocks below their headline."""
        headline = element("div", self.headline, kind="title") if self.headline else None
        return element("div", headline, *findings_markup(self.diagnostics))

    def lines(self) -> list[str]:
        """Return the findings as lines."""
        lines = [line for found in self.diagnostics[:MOST_SHOWN] for line in str(found).splitlines()]
        return [*lines, summary_of(self.diagnostics)]


def found_while_reading(diagnostics: Sequence[Diagnostic]) -> tuple[Findings, ...]:
    """Return the part of a card that says which problems a text had, if it had any."""
    headline = f"Found while reading: {summary_of(diagnostics)}"
    return (Findings(tuple(diagnostics), headline),) if diagnostics else ()


def findings_card(diagnostics: Sequence[Diagnostic], headline: str = "") -> Card:
    """Return the card of several diagnostics."""
    summary, found = summary_of(diagnostics), Findings(tuple(diagnostics))
    head = (headline, summary) if headline else (summary, "")
    return Card(*head, lead=(found,) if diagnostics else (), plain="\n".join(found.lines()))
