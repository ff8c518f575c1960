"""Everything that can be said against a text without computing with it: a linter for models and facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database.database import vocabulary_of
from mlnlab.model.mln.mln import MLN, Semantics
from mlnlab.model.remarks import remarks
from mlnlab.syntax.facts.fact_files import analyse_facts
from mlnlab.syntax.formulas.analysis import Includes, analyse
from mlnlab.syntax.sources import decode_bytes, read_bytes

__all__ = ["Findings", "check", "checked_model"]

Kind = Literal["model", "facts"]

_FACT_FILES = frozenset({".db", ".func"})
_FILES = _FACT_FILES | {".mln"}


class Findings(tuple[Diagnostic, ...]):
    """All problems of a text, by place: a tuple that says ``no problems`` where there are none."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the problems one below the other, as a compiler prints them."""
        return "\n".join(map(str, self)) or "no problems"


def check(
    source: str | bytes | Path,
    vocabulary: MLN | Vocabulary | None = None,
    *,
    kind: Kind | None = None,
    name: str | None = None,
    folder: str | Path | None = None,
    semantics: Semantics = "textbook",
    includes: Includes = "below",
) -> Findings:
    r"""Return all problems of a text or file, by place; it never raises on bad text.

    A ``Path``, or a string of one line that ends in ``.mln``, ``.db`` or ``.func``, is a file. Text is a
    model, or facts where a ``vocabulary`` (or a model) is given that they must fit; ``kind`` says so
    explicitly. Models also get remarks: formulas that Alchemy reads differently, that are repeated, that are
    always true or always false, and predicates that no formula mentions. ``folder`` is where ``#include``
    looks; files elsewhere are read with ``includes="anywhere"`` only.

    >>> import mlnlab as ml
    >>> for diagnostic in ml.check("Smokes(person)\n1.5 Smoke(x)"):
    ...     print(diagnostic.message)
    there is no predicate Smoke; did you mean Smokes?
    >>> print(ml.check("Smokes(person)\n1.5 Smokes(x)"))
    no problems
    """
    path = _as_path(source)
    file = name or (str(path) if path else "<text>")
    # Where there is no path, the source is a text: mypy cannot know.
    content: str | bytes | Diagnostic = source if path is None else _content(path, file)  # type: ignore[assignment]
    if isinstance(content, Diagnostic):
        return Findings((content,))
    if _is_of_facts(path, vocabulary, kind):
        return Findings(_check_facts(content, file, vocabulary))
    place = folder if folder is not None or path is None else path.parent
    return _check_model(content, file, place, vocabulary, semantics, includes)[0]


def checked_model(path: Path, includes: Includes = "below") -> tuple[Findings, Vocabulary | None]:
    """Return the problems of a model file, and its vocabulary as far as it could be read."""
    content = _content(path, str(path))
    if isinstance(content, Diagnostic):
        return Findings((content,)), None
    return _check_model(content, str(path), path.parent, None, "textbook", includes)


def _content(path: Path, file: str) -> bytes | Diagnostic:
    """Return the bytes of a file, or a diagnostic if it cannot be read."""
    try:
        return read_bytes(path)
    except InputError as problem:
        return Diagnostic("unreadable", Severity.ERROR, str(problem), _start_of(file))


def _start_of(file: str) -> Span:
    return Span(file, 1, 1, 1, 2)


def _says_nothing(file: str) -> Diagnostic:
    what = "text" if file.startswith("<") else "file"
    return Diagnostic("says-nothing", Severity.NOTE, f"this {what} says nothing", _start_of(file))


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


def _check_facts(content: str | bytes, file: str, source: MLN | Vocabulary | None) -> Iterator[Diagnostic]:
    base = Vocabulary() if source is None else vocabulary_of(source)
    analysis = analyse_facts(content, base, file=file, complete=source is not None)
    if source is None:
        message = "only the form of the facts was checked, because no model was given"
        yield Diagnostic("no-model", Severity.NOTE, message, _start_of(file))
    found = analysis.diagnostics
    if not found and not analysis.relations and analysis.vocabulary == base:
        yield _says_nothing(file)
    yield from found if source is not None else _about_the_form(found)


def _about_the_form(found: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    """Leave out diagnostics of unknown names, as the vocabulary is empty."""
    for diagnostic in found:
        if diagnostic.code not in {"unknown-predicate", "unknown-type"}:
            yield diagnostic


def _check_model(
    content: str | bytes,
    file: str,
    folder: str | Path | None,
    source: MLN | Vocabulary | None,
    semantics: Semantics,
    includes: Includes,
) -> tuple[Findings, Vocabulary]:
    base = Vocabulary() if source is None else vocabulary_of(source)
    analysis = analyse(content, file=file, folder=folder, vocabulary=base, includes=includes)
    if analysis.errors:
        # Formulas are missing now, so nothing can be said about the model as a whole.
        return Findings(analysis.findings), analysis.vocabulary
    if not analysis.diagnostics and not analysis.formulas and analysis.vocabulary == base:
        return Findings((_says_nothing(file),)), analysis.vocabulary
    mln = MLN(analysis.vocabulary, analysis.formulas, semantics, places=analysis.places)
    text, _ = decode_bytes(content, file)
    found = (*analysis.diagnostics, *remarks(mln, text, file))
    in_order = sorted(found, key=lambda diagnostic: (diagnostic.span.file, diagnostic.span))
    return Findings(in_order), analysis.vocabulary
