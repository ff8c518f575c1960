"""A whole text to a vocabulary and weighted formulas, with every problem found in one pass.

The same analyser serves files, notebook cells and editors: it never raises on bad text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import Diagnostic, InputError, Severity, Span
from mlnlab.logic.formulas import And
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.logic.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula
from mlnlab.syntax.declarations import Declarations
from mlnlab.syntax.elaboration import Elaborated, elaborate
from mlnlab.syntax.sources import decoded, read_bytes
from mlnlab.syntax.statement_parser import REPAIRS, foreign_symbols, parse_statement
from mlnlab.syntax.statements import LONGEST, Statement, statements, unreadable
from mlnlab.syntax.tokens import Source, end_of, start_of, tokens
from mlnlab.syntax.vocabulary_checks import Mentioned, unused_types, with_constants
from mlnlab.syntax.weights import WeightText, split_weight

if TYPE_CHECKING:
    from lark import Token

    from mlnlab.syntax.tokens import SyntaxTree

MOST_OF_ONE_KIND = 50  # problems of one kind that are reported one by one
MOST_INCLUDES = 500  # files that one text includes, each time counted
MOST_BYTES = 8 << 20  # a model larger than this is surely data under the wrong name


@dataclass(frozen=True)
class Analysis:
    """What a text says: vocabulary and formulas (as far as they are right), and all problems."""

    vocabulary: Vocabulary
    formulas: tuple[WeightedFormula, ...]
    places: tuple[Span, ...]
    diagnostics: tuple[Diagnostic, ...]
    number_of_errors: int = 0
    origins: tuple[int, ...] = ()  # where the text's own statement begins: each formula, or its #include

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The problems that make the text unusable."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)


@dataclass(frozen=True)
class _Parsed:
    """A statement that is no declaration: its weight and the tree of its formula."""

    statement: Statement
    weight: WeightText | None
    tree: SyntaxTree
    origin: int


@dataclass
class _Reading:
    """The state of reading one text with its includes."""

    declarations: Declarations
    parsed: list[_Parsed] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    opened: list[Path] = field(default_factory=list)
    only_formulas: bool = False
    included: int = 0


def analyse(
    text: str | bytes,
    *,
    file: str = "<text>",
    folder: str | Path | None = None,
    vocabulary: Vocabulary | None = None,
    only_formulas: bool = False,
) -> Analysis:
    """Read the text of a model; ``folder`` is where ``#include`` looks.

    A ``vocabulary`` that is known already is extended. ``only_formulas`` reads every statement as a formula,
    for queries.
    """
    base = vocabulary or Vocabulary()
    reading = _Reading(Declarations(base), only_formulas=only_formulas)
    if folder is None:
        folder = Path(file).parent if Path(file).suffix else Path()
    else:
        reading.opened.append((Path(folder) / Path(file).name).resolve())
    _read(text, file, Path(folder), reading)
    return _assembled(reading, base)


def analyse_file(path: str | Path, vocabulary: Vocabulary | None = None) -> Analysis:
    """Read the model in a file; raises :class:`InputError` only where the file itself cannot be read."""
    return analyse(read_bytes(path), file=str(path), folder=Path(path).parent, vocabulary=vocabulary)


def _read(text: str | bytes, file: str, folder: Path, reading: _Reading) -> None:
    content, problems = decoded(text, file)
    reading.problems += problems
    if len(content) > MOST_BYTES:
        span = Span(file, 1, 1, 1, 2)
        message = f"a model of more than {MOST_BYTES >> 20} MiB; data belong into a fact file"
        reading.problems.append(Diagnostic("too-long", Severity.ERROR, message, span))
        return
    source = Source(file, _without_endless_lines(Source(file, content), reading))
    found = tokens(source.text)
    reading.problems += unreadable(source, found)
    cut = next((start_of(t) for t in found if t.type == "OPEN_COMMENT"), len(source.text) + 1)
    found = [token for token in found if start_of(token) < cut]
    parts, broken = statements(source, found)
    reading.problems += broken
    for statement in parts:
        _take(statement, folder, reading)


def _without_endless_lines(source: Source, reading: _Reading) -> str:
    """Blank lines that no person wrote: reading one would take minutes."""
    if len(source.text) <= LONGEST:
        return source.text
    lines = source.text.split("\n")
    for number, line in enumerate(lines):
        if len(line) > LONGEST:
            start = source.line_starts[number] if "\r" not in source.text else 0
            message = f"a line of more than {LONGEST:,} characters"
            reading.problems.append(source.problem("too-long", message, start, start + 1))
            lines[number] = ""
    return "\n".join(lines)


def _take(statement: Statement, folder: Path, reading: _Reading) -> None:
    split = split_weight(statement)
    if split.problem is not None:
        reading.problems.append(split.problem)
        return
    strange = foreign_symbols(statement.source, split.formula)
    if strange:
        reading.problems += strange
        return
    tree = parse_statement(statement.source, split.formula, statement.end)
    if isinstance(tree, Diagnostic):
        reading.problems.append(tree)
    elif tree.data == "include":
        first = len(reading.parsed)
        _include(statement, split.formula[0], folder, reading)
        reading.parsed[first:] = [replace(one, origin=statement.start) for one in reading.parsed[first:]]
    elif not reading.only_formulas and split.weight is None and reading.declarations.take(statement, tree):
        return
    elif tree.data == "function_declaration":
        reading.problems.append(_misplaced(statement, split.formula))
    else:
        reading.parsed.append(_Parsed(statement, split.weight, tree, statement.start))


def _misplaced(statement: Statement, formula: tuple[Token, ...]) -> Diagnostic:
    first, second = formula[0], formula[1]
    return statement.source.problem(
        "unexpected-symbol",
        "two names stand side by side",
        start_of(first),
        end_of(second),
        expected="a connective between atoms; a declaration has neither weight nor full stop",
        repair=REPAIRS.get(first.value, ""),
    )


def _include(statement: Statement, token: Token, folder: Path, reading: _Reading) -> None:
    name = token.split('"')[1]
    path = folder / name

    def report(code: str, message: str) -> None:
        reading.problems.append(statement.source.problem(code, message, start_of(token), end_of(token)))

    reading.included += 1
    if reading.included > MOST_INCLUDES:
        if reading.included == MOST_INCLUDES + 1:
            report("too-many-includes", f"more than {MOST_INCLUDES} files are included")
        return
    if len(statement.tokens) > 1:
        report("unexpected-symbol", "an #include has no weight")
        return
    if not name.isprintable():
        report("missing-include", "the name of this file holds control characters")
        return
    if Path(name).suffix in {".cpp", ".c", ".h", ".so"}:
        report("linked-in-code", f"{name} is program code; functions linked in from C++ have no meaning here")
        return
    resolved = path.resolve()
    if resolved in reading.opened:
        chain = " includes ".join(
            p.name for p in [*reading.opened[reading.opened.index(resolved) :], resolved]
        )
        report("include-cycle", f"files include each other without end: {chain}")
        return
    try:
        content = read_bytes(path)
    except InputError as problem:
        report("missing-include", f"this file cannot be included: {problem}")
        return
    reading.opened.append(resolved)
    _read(content, str(path), path.parent, reading)
    reading.opened.pop()


def _assembled(reading: _Reading, base: Vocabulary) -> Analysis:
    vocabulary = reading.declarations.vocabulary
    formulas: list[WeightedFormula] = []
    read: list[_Parsed] = []
    problems = [*reading.problems, *reading.declarations.problems]
    mentioned: list[Mentioned] = []
    for parsed in reading.parsed:
        source = parsed.statement.source
        result = elaborate(parsed.tree, source, vocabulary)
        problems += result.problems
        weight = _weight(parsed, problems)
        if weight is None or any(p.severity is Severity.ERROR for p in result.problems):
            continue
        problems += _remarks(parsed.statement, result, weight)
        named = parsed.weight.name if parsed.weight else ""
        free_mark = (named,) if named and named in {v.name for v in free_variables(result.formula)} else ()
        marks = tuple(dict.fromkeys((*result.per_constant, *free_mark)))
        formulas.append(WeightedFormula(result.formula, weight, marks, result.both_signs))
        read.append(parsed)
        mentioned += [Mentioned(constant, token, source) for constant, token in result.constants]
    problems += [] if reading.only_formulas else _missing_weights(formulas, read)
    vocabulary, more = with_constants(vocabulary, mentioned)
    problems += more + unused_types(reading.declarations, vocabulary, base)
    places = tuple(one.statement.source.place(one.statement.start, one.statement.end) for one in read)
    errors = sum(d.severity is Severity.ERROR for d in dict.fromkeys(problems))
    own = tuple(one.origin for one in read)
    return Analysis(vocabulary, tuple(formulas), places, limited(problems), errors, own)


def _weight(parsed: _Parsed, problems: list[Diagnostic]) -> Weight | None:
    statement, given = parsed.statement, parsed.weight
    if given is not None and statement.full_stop is not None:
        stop = statement.full_stop
        problems.append(
            statement.source.problem(
                "weight-and-full-stop",
                "a formula has a weight or a full stop, not both",
                start_of(stop),
                end_of(stop),
                repair="drop the full stop, or drop the weight",
            )
        )
        return None
    if statement.full_stop is not None:
        return Hard()
    if given is None or given.value is None:
        return ToLearn()
    return Fixed(given.value) if given.fixed else Soft(given.value)


def _remarks(statement: Statement, result: Elaborated, weight: Weight) -> list[Diagnostic]:
    """Say what other systems are known to read otherwise, without a word."""
    if isinstance(weight, Hard) and isinstance(result.formula, And):
        message = (
            "every part of this hard conjunction must hold in every world (Alchemy gives it probabilities"
            " far from 1)"
        )
        return [_remark(statement, "hard-conjunction", message)]
    return []


def _missing_weights(formulas: list[WeightedFormula], read: list[_Parsed]) -> list[Diagnostic]:
    """Warn of formulas without a weight among others that have one; say it once where none has."""
    missing = [p.statement for f, p in zip(formulas, read, strict=True) if isinstance(f.weight, ToLearn)]
    if any(isinstance(f.weight, Soft | Fixed) for f in formulas):
        message = "no weight stands in front, while other formulas have one: it is still to be learned"
        return [_remark(o, "missing-weight", message, Severity.WARNING) for o in missing]
    number = f"{len(missing)} formulas have" if len(missing) > 1 else "this formula has"
    return [_remark(o, "missing-weight", f"{number} no weight: still to be learned") for o in missing[:1]]


def _remark(statement: Statement, code: str, message: str, severity: Severity = Severity.NOTE) -> Diagnostic:
    return statement.source.problem(code, message, statement.start, statement.end, severity=severity)


def limited(problems: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the problems by place, with at most so many of one kind and a line that counts the rest."""
    ordered = sorted(dict.fromkeys(problems), key=lambda d: (d.span.file, d.span))
    seen: Counter[str] = Counter()
    shown: list[Diagnostic] = []
    for problem in ordered:
        seen[problem.code] += 1
        if seen[problem.code] <= MOST_OF_ONE_KIND:
            shown.append(problem)
    for code, number in seen.items():
        if number > MOST_OF_ONE_KIND:
            last = [p for p in ordered if p.code == code][-1]
            message = f"and {number - MOST_OF_ONE_KIND:,} more problems of the kind {code}"
            shown.append(Diagnostic(code, last.severity, message, last.span))
    return tuple(shown)
