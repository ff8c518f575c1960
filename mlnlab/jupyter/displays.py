"""Register the displays with IPython by the names of the types, so that nothing is imported before use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from mlnlab.display.doors.display_registry import CARDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from mlnlab.errors import Diagnostic

# Their reprs are those of nested dataclasses, also inside of lists and dictionaries.
_WRITTEN_SHORT = ("mlnlab.errors", "mlnlab.logic.formulas.formulas", "mlnlab.logic.formulas.weights")
_FINDINGS = ("mlnlab.model.checking", "Findings")


class _Printer(Protocol):
    """The part of IPython's pretty printer that is used here."""

    def text(self, text: str) -> None:
        """Write a text."""


def register_displays(shell: InteractiveShell) -> None:
    """Let the shell show our types, and lists of them, by their bundles."""
    bundles = getattr(shell.display_formatter, "mimebundle_formatter", None)
    if bundles is None:
        return
    for name in CARDS:
        bundles.for_type_by_name(*_split_name(name), show_value)
    for sequence in (list, tuple):
        # `mln.formulas` is a tuple; a formatter that somebody else gave to tuples stays.
        if sequence not in bundles.type_printers:
            bundles.for_type(sequence, show_value)
    bundles.for_type_by_name(*_FINDINGS, show_findings)
    plain = getattr(shell.display_formatter, "formatters", {}).get("text/plain")
    if plain is None:
        return
    for module, name in map(_split_name, CARDS):
        if module in _WRITTEN_SHORT:
            plain.for_type_by_name(module, name, write_value)
    # IPython has a printer for tuples, which would come before the bundle's text.
    plain.for_type_by_name(*_FINDINGS, write_findings)


def _split_name(name: str) -> tuple[str, str]:
    """Return the module and the name of a type."""
    module, _, type_name = name.rpartition(".")
    return module, type_name


def write_value(value: object, printer: _Printer, _cycle: bool) -> None:
    """Write an object as plain text, also inside of lists."""
    printer.text((show_value(value) or {}).get("text/plain", repr(value)))


def show_value(value: object) -> dict[str, Any] | None:
    """Return the bundle of an object; ``None`` leaves it to IPython's other formatters."""
    if isinstance(value, list | tuple) and not _may_be_ours(value):
        return None
    from mlnlab.display.doors.bundles import bundle

    return bundle(value)


def show_findings(findings: Sequence[Diagnostic]) -> dict[str, str]:
    """Return the display bundle of the problems from ``check``; where there are none, it says so."""
    from mlnlab.display.card.findings import findings_card
    from mlnlab.display.card.markup import render

    shown = findings_card(findings)
    return {"text/plain": shown.text(), "text/html": render(shown.markup())}


def write_findings(findings: Sequence[Diagnostic], printer: _Printer, _cycle: bool) -> None:
    """Write the problems from ``check`` as plain text."""
    printer.text(show_findings(findings)["text/plain"])


def _may_be_ours(items: list[object] | tuple[object, ...]) -> bool:
    """Tell at once that a list is none of ours: every list that a notebook shows comes by here."""
    return bool(items) and type(items[0]).__module__.startswith("mlnlab.")
