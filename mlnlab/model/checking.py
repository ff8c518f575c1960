"""Everything that can be said against a text without computing with it: a linter for models and facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database import vocabulary_of
from mlnlab.model.mln import MLN
from mlnlab.model.remarks import remarks
from mlnlab.syntax.analysis import analyse
from mlnlab.syntax.facts import analyse_facts
from mlnlab.syntax.sources import decoded, read_bytes

if TYPE_CHECKING:
    from mlnlab.model.mln import Semantics

__all__ = ["check"]

Kind = Literal["model", "facts"]

_FACT_FILES = frozenset({".db", ".func"})
_FILES = _FACT_FILES | {".mln"}


def check(
    source: str | bytes | Path,
    vocabulary: MLN | Vocabulary | None = None,
    *,
    kind: Kind | None = None,
    name: str | None = None,
    folder: str | Path | None = None,
    semantics: Semantics = "textbook",
) -> tuple[Diagnostic, ...]:
    r"""Return all problems of a text or file, by place; it never raises on bad text.

    A ``Path``, or a string of one line that ends in ``.mln``, ``.db`` or ``.func``, is a file. Text is a
    model, or facts where a ``vocabulary`` (or a model) is given that they must fit; ``kind`` says so
    explicitly. Models also get remarks: formulas that Alchemy reads differently, that are repeated, that are
    always true or always false, and predicates that no formula mentions.

    >>> import mlnlab as ml
    >>> for diagnostic in ml.check("Smokes(person)\n1.5 Smoke(x)"):
    ...     print(diagnostic.message)
    there is no predicate Smoke; did you mean Smokes?
    """
    path = _as_path(source)
    file = name or (str(path) if path else "<text>")
    if path is not None:
        try:
            content: str | bytes = read_bytes(path)
        except InputError as problem:
            return (Diagnostic("unreadable", Severity.ERROR, str(problem), Span(file, 1, 1, 1, 2)),)
    else:
        content = source  # type: ignore[assignment]  # a path would have been found
    if _is_of_facts(path, vocabulary, kind):
        return _check_facts(content, file, vocabulary)
    place = folder if folder is not None or path is None else path.parent
    return _check_model(content, file, place, vocabulary, semantics)


def _as_path(source: object) -> Path | None:
    """Return the path where the source names a file, ``None`` where it is a text."""
    match source:
        case Path():
            return source
        case bytes():
            return None
        case str():
            is_file = len(source) < 4096 and "\n" not in source and Path(source).suffix.lower() in _FILES
            return Path(source) if is_file else None
    raise ArgumentError(f"A text or a path is needed here, not {type(source).__name__}.")


def _is_of_facts(path: Path | None, vocabulary: object, kind: Kind | None) -> bool:
    if kind is not None:
        return kind == "facts"
    return path.suffix.lower() in _FACT_FILES if path else vocabulary is not None


def _check_facts(content: str | bytes, file: str, source: MLN | Vocabulary | None) -> tuple[Diagnostic, ...]:
    if source is not None:
        return tuple(analyse_facts(content, vocabulary_of(source), file=file).diagnostics)
    found = analyse_facts(content, Vocabulary(), file=file, complete=False).diagnostics
    note = Diagnostic(
        "no-model",
        Severity.NOTE,
        "only the form of the facts was checked, because no model was given",
        Span(file, 1, 1, 1, 2),
    )
    return (note, *_about_the_form(found))


def _about_the_form(found: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    """Leave out what only says that the empty vocabulary knows no names."""
    for diagnostic in found:
        if diagnostic.code not in {"unknown-predicate", "unknown-type"}:
            yield diagnostic


def _check_model(
    content: str | bytes,
    file: str,
    folder: str | Path | None,
    source: MLN | Vocabulary | None,
    semantics: Semantics,
) -> tuple[Diagnostic, ...]:
    base = None if source is None else vocabulary_of(source)
    analysis = analyse(content, file=file, folder=folder, vocabulary=base)
    if analysis.errors:
        # Formulas are missing now, so nothing can be said about the model as a whole.
        return analysis.diagnostics
    mln = MLN(analysis.vocabulary, analysis.formulas, semantics, places=analysis.places)
    text, _ = decoded(content, file)
    found = (*analysis.diagnostics, *remarks(mln, text, file))
    return tuple(sorted(found, key=lambda diagnostic: (diagnostic.span.file, diagnostic.span)))
