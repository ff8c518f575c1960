"""A whole text to a vocabulary and weighted formulas, with every problem found in one pass.

The same analyser serves files, notebook cells and editors: it never raises on bad text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span
from mlnlab.logic.formulas.formulas import And, Constant
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import Domain, NamedDomain, Vocabulary, not_in_domain
from mlnlab.syntax.formulas.declarations import Declarations
from mlnlab.syntax.formulas.elaboration import Elaborated, elaborate
from mlnlab.syntax.formulas.statements import (
    LONGEST,
    REPAIRS,
    Statement,
    foreign_symbols,
    parse_statement,
    statements,
    unreadable,
)
from mlnlab.syntax.formulas.tokens import Source, SyntaxTree, end_of, start_of, tokens
from mlnlab.syntax.formulas.weight_reading import WeightText, split_weight
from mlnlab.syntax.sources import decode_bytes, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lark import Token


Includes = Literal["below", "anywhere"]  # which files a text may include: those below its own folder, or all
MOST_OF_ONE_KIND = 50  # problems of one kind that are reported one by one
_ABOUT_NAMES = {"unknown-predicate", "unknown-function", "no-such-type"}
MOST_INCLUDES = 500  # files that one text includes, each time counted
MOST_BYTES = 8 << 20  # a model larger than this is surely data under the wrong name


@dataclass(frozen=True)
class Analysis:
    """The contents of a model's text: vocabulary and formulas (as far as they are right), and all problems.

    ``diagnostics`` has a problem for each place, as editors mark them; in ``findings``, for reports, a name
    that is unknown is one problem with all its places.
    """

    vocabulary: Vocabulary
    formulas: tuple[WeightedFormula, ...]
    places: tuple[Span, ...]
    diagnostics: tuple[Diagnostic, ...]
    number_of_errors: int = 0
    findings: tuple[Diagnostic, ...] = ()
    number_of_findings: int = 0  # errors among them
    origins: tuple[int, ...] = ()  # where the text's own statement begins: each formula, or its #include
    included: tuple[Path, ...] = ()  # the files that were read beside the text

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
    root: Path | None = None  # included files lie below it; without it, anywhere
    only_formulas: bool = False
    included: int = 0
    files: list[Path] = field(default_factory=list)  # included ones


def analyse(
    text: str | bytes,
    *,
    file: str = "<text>",
    folder: str | Path | None = None,
    vocabulary: Vocabulary | None = None,
    only_formulas: bool = False,
    includes: Includes = "below",
) -> Analysis:
    """Read the text of a model; ``folder`` is where ``#include`` looks.

    A ``vocabulary`` that is known already is extended. ``only_formulas`` reads every statement as a formula,
    for queries. Included files lie below ``folder``, whatever links say, except with ``includes="anywhere"``:
    what is wrong in a file is quoted, and a text from elsewhere is not to quote any file that it names.
    """
    if includes not in get_args(Includes):
        raise ArgumentError(f'includes is "below" or "anywhere", not {includes!r:.60}.')
    base = vocabulary or Vocabulary()
    reading = _Reading(Declarations(base), only_formulas=only_formulas)
    if folder is None:
        folder = Path(file).parent if Path(file).suffix else Path()
    else:
        reading.opened.append((Path(folder) / Path(file).name).resolve())
    reading.root = Path(folder).resolve() if includes == "below" else None
    _read(text, file, Path(folder), reading)
    return _assemble_analysis(reading, base)


def analyse_file(path: str | Path, *, includes: Includes = "below") -> Analysis:
    """Read the model in a file; raises :class:`InputError` only where the file itself cannot be read."""
    return analyse(read_bytes(path), file=str(path), folder=Path(path).parent, includes=includes)


def _read(text: str | bytes, file: str, folder: Path, reading: _Reading) -> None:
    content, problems = decode_bytes(text, file)
    reading.problems += problems
    if len(content) > MOST_BYTES:
        span = Span(file, 1, 1, 1, 2)
        message = f"a model of more than {MOST_BYTES >> 20} MiB; data belong in a fact file"
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
        reading.problems.append(_report_misplaced_name(statement, split.formula))
    else:
        reading.parsed.append(_Parsed(statement, split.weight, tree, statement.start))


def _report_misplaced_name(statement: Statement, formula: tuple[Token, ...]) -> Diagnostic:
    first, second = formula[0], formula[1]
    return statement.source.problem(
        "unexpected-symbol",
        "two names follow each other",
        start_of(first),
        end_of(second),
        expected="a connective between atoms; a declaration has neither weight nor full stop",
        repair=REPAIRS.get(first.value, ""),
    )


def _include(statement: Statement, token: Token, folder: Path, reading: _Reading) -> None:
    path = folder / (name := token.split('"')[1])

    def report(code: str, message: str, repair: str = "") -> None:
        place = start_of(token), end_of(token)
        reading.problems.append(statement.source.problem(code, message, *place, repair=repair))

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
    if reading.root is not None and not resolved.is_relative_to(reading.root):
        message = f"{name} is not below the folder of the model that includes it"
        outside = 'includes="anywhere" in Python, --includes anywhere on the command line, if it is trusted'
        report("include-outside", message, outside)
        return
    if resolved in reading.opened:
        begin = reading.opened.index(resolved)
        chain = " includes ".join(p.name for p in [*reading.opened[begin:], resolved])
        report("include-cycle", f"files include each other without end: {chain}")
        return
    try:
        content = read_bytes(path)
    except InputError as problem:
        report("missing-include", f"this file cannot be included: {problem}")
        return
    reading.opened.append(resolved)
    reading.files.append(resolved)
    _read(content, str(path), path.parent, reading)
    reading.opened.pop()


def _assemble_analysis(reading: _Reading, base: Vocabulary) -> Analysis:
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
    once = _once_for_each_name(problems)
    errors, findings = (sum(d.severity is Severity.ERROR for d in found) for found in ({*problems}, once))
    own = tuple(one.origin for one in read)
    return Analysis(
        vocabulary, tuple(formulas), places, limit_problems(problems), errors, limit_problems(once), findings,
        own,
        tuple(reading.files),
    )  # fmt: skip


def _once_for_each_name(problems: list[Diagnostic]) -> list[Diagnostic]:
    """Return the problems, those about the same unknown name as one that knows all places."""
    found: dict[object, list[Diagnostic]] = {}
    for problem in sorted(dict.fromkeys(problems), key=lambda d: (d.span.file, d.span)):
        named = problem.code in _ABOUT_NAMES
        found.setdefault((problem.code, problem.message) if named else problem, []).append(problem)
    return [replace(first, again=tuple(one.span for one in rest)) for first, *rest in found.values()]


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
    """Remark on statements that other systems silently read in another way."""
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
        message = "this formula has no weight, while others have one: it is still to be learned"
        return [_remark(o, "missing-weight", message, Severity.WARNING) for o in missing]
    number = f"{len(missing)} formulas have" if len(missing) > 1 else "this formula has"
    return [_remark(o, "missing-weight", f"{number} no weight: still to be learned") for o in missing[:1]]


def _remark(statement: Statement, code: str, message: str, severity: Severity = Severity.NOTE) -> Diagnostic:
    return statement.source.problem(code, message, statement.start, statement.end, severity=severity)


def limit_problems(problems: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the problems by place, at most ``MOST_OF_ONE_KIND`` of each kind, with a count of the rest."""
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


# --- check constants and types once all formulas are known --------------------------------------


class Mentioned(NamedTuple):
    """A constant that a formula mentions, and where."""

    constant: Constant
    token: Token
    source: Source


def with_constants(vocabulary: Vocabulary, mentioned: list[Mentioned]) -> tuple[Vocabulary, list[Diagnostic]]:
    """Add the constants that formulas mention to their types."""
    problems: list[Diagnostic] = []
    new: dict[str, dict[str, None]] = {}
    homes: dict[str, str] | None = None
    for constant, token, source in mentioned:
        domain = vocabulary.types.get(constant.type)
        if domain is None or constant.name in domain or constant.name in new.get(constant.type, ()):
            continue
        homes = _homes_of_constants(vocabulary) if homes is None else homes
        problem = _strange_constant(constant, token, source, domain, homes)
        if problem is not None:
            problems.append(problem)
        if problem is None or problem.severity is not Severity.ERROR:
            new.setdefault(constant.type, {})[constant.name] = None
    named = {type_: domain for type_ in new if isinstance(domain := vocabulary.types[type_], NamedDomain)}
    grown: dict[str, Domain] = {type_: domain.add_names(tuple(new[type_])) for type_, domain in named.items()}
    return vocabulary.with_domains(grown), problems


def _homes_of_constants(vocabulary: Vocabulary) -> dict[str, str]:
    """Return the first type that lists a constant; numbers stand for a time and a distance alike."""
    homes: dict[str, str] = {}
    for type_, domain in vocabulary.types.items():
        if isinstance(domain, NamedDomain) and domain.listed:
            for name in domain:
                homes.setdefault(name, type_)
    return homes


def _strange_constant(
    constant: Constant, token: Token, source: Source, domain: Domain, homes: Mapping[str, str]
) -> Diagnostic | None:
    name, type_ = constant.name, constant.type
    start, stop = start_of(token), end_of(token)
    if not isinstance(domain, NamedDomain):
        return source.problem("constant-outside-range", not_in_domain(name, type_, domain), start, stop)
    numeric = name.lstrip("-").isdigit()  # the same number may stand for a time and for a distance
    if name in homes and not numeric:
        return source.problem(
            "wrong-type", f"{name} is a {homes[name]}; a {type_} is expected here", start, stop
        )
    if domain.listed:
        hint = did_you_mean(name, domain)
        return source.problem(
            "constant-not-listed",
            f"{name} is not in the list of {type_}; it is added{hint}",
            start,
            stop,
            severity=Severity.WARNING,
        )
    return None


def unused_types(declarations: Declarations, vocabulary: Vocabulary, base: Vocabulary) -> list[Diagnostic]:
    """Report listed types that no predicate uses: often a misspelt name."""
    used = {type_ for predicate in vocabulary.predicates.values() for type_ in predicate.types}
    return [
        Diagnostic(
            "unused-type",
            Severity.WARNING,
            f"no predicate uses the type {type_}" + did_you_mean(type_, used),
            place,
        )
        for type_ in vocabulary.types
        if used and type_ not in used and type_ not in base.types
        for place in [declarations.places.get(f"type {type_}")]
        if place is not None
    ]
