"""Write an editor's messages to a page as plain data: rows, problems, bars and explanations."""

from __future__ import annotations

from itertools import islice
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.findings import place_in_words
from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.inference.probabilities import describe_method, facts_among, probability_in_words
from mlnlab.logic.formulas.formulas import Variable
from mlnlab.logic.formulas.printing import marks_of, unicode_pieces
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula, weight_value
from mlnlab.syntax.formulas.tokens import Source
from mlnlab.widgets.edit.draft_repairs import repairs
from mlnlab.widgets.edit.draft_rows import FILE, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.errors import Diagnostic, Span
    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.widgets.edit.draft import Draft

MOST_ROWS = 300
MOST_FINDINGS = 60
MOST_BARS = 40
MOST_SHARES = 12
_MOST_PIECES = 200
_LONGEST = 400  # letters of a sentence
_KINDS = {"predicate": "p", "variable": "v", "constant": "c", "quantifier": "q", "mark": "q"}

Message = dict[str, Any]


# --- the table of formulas --------------------------------------------------------------------


def table_message(draft: Draft, vocabulary: Vocabulary) -> Message:
    """Return the rows of a draft; ``vocabulary`` knows the constants that ``+x`` is written out over."""
    shown = draft.rows[:MOST_ROWS]
    return {"rows": [row_message(row, vocabulary) for row in shown], "more": len(draft.rows) - len(shown)}


def row_message(row: Row, vocabulary: Vocabulary) -> Message:
    """Return one row."""
    known = row.weighted
    return {
        "text": shorten_text(fit(row.text), 2 * _LONGEST),
        "on": row.enabled,
        "weight": None if known is None else weight_value(known.weight),
        "kind": "unreadable" if known is None else kind_of(known.weight),
        "pieces": [] if known is None else pieces_of(known),
        "count": 1 if known is None else expansions(known, vocabulary),
        "file": shorten_text(row.file),
    }


def kind_of(weight: Weight) -> str:
    """Return the kind of a weight in a word."""
    match weight:
        case Soft():
            return "soft"
        case Fixed():
            return "fixed"
        case Hard():
            return "hard"
        case ToLearn():
            return "open"


def pieces_of(weighted: WeightedFormula) -> list[list[str]]:
    """Return a formula in mathematical symbols, as pairs of a text and a letter for its kind."""
    found = list(islice(unicode_pieces(weighted.formula, marks_of(weighted)), _MOST_PIECES + 1))
    pieces: list[list[str]] = []
    for piece in found[:_MOST_PIECES]:
        text, kind = shorten_text(fit(piece.text)), _KINDS.get(piece.kind, "")
        if pieces and not kind and not pieces[-1][1]:
            pieces[-1][0] += text
        else:
            pieces.append([text, kind])
    return [*pieces, [" …", ""]] if len(found) > _MOST_PIECES else pieces


def expansions(weighted: WeightedFormula, vocabulary: Vocabulary) -> int:
    """Return how many formulas ``+x`` and ``*P`` make of one: each gets a weight of its own."""
    marked = [v for v in free_variables(weighted.formula) if v.name in weighted.per_constant]
    signs: int = 2 ** len(weighted.both_signs)
    return prod(_size(v, vocabulary) for v in marked) * signs


def _size(variable: Variable, vocabulary: Vocabulary) -> int:
    return len(vocabulary.domain(variable.type)) if variable.type in vocabulary.types else 0


# --- problems ---------------------------------------------------------------------------------


def finding_messages(draft: Draft) -> list[Message]:
    """Return the problems of a draft, the worst first where not all are shown, in the order of the text."""
    order = ("error", "warning", "note")
    worst = sorted(draft.diagnostics, key=lambda problem: order.index(problem.severity))[:MOST_FINDINGS]
    shown = [problem for problem in draft.diagnostics if problem in worst]
    mending = repairs(draft)
    source = Source(FILE, draft.text)
    found = []
    for problem in shown:
        message = finding_message(problem, source)
        repair = mending.get(problem)
        if repair is not None:
            message["mend"] = [repair.start, repair.stop, repair.written]
        found.append(message)
    return found


def finding_message(problem: Diagnostic, source: Source) -> Message:
    """Return one problem; columns count as a page counts letters, from 0."""
    own = problem.span.file == source.name
    return {
        "severity": str(problem.severity),
        "message": shorten_text(fit(problem.message), _LONGEST),
        "expected": shorten_text(fit(problem.expected), _LONGEST),
        "repair": shorten_text(fit(problem.repair), _LONGEST),
        "line": problem.span.line if own else 0,
        "place": place_in_words(problem.span).removeprefix(f"{source.name}:"),
        "from": _letters(source, problem.span.line, problem.span.column) if own else 0,
        "to": _end_on_line(source, problem.span) if own else 0,
    }


def _end_on_line(source: Source, span: Span) -> int:
    """Return where the culprit ends on its first line."""
    if span.end_line == span.line:
        return _letters(source, span.line, span.end_column)
    return _letters(source, span.line, len(source.line(span.line)) + 1)


def _letters(source: Source, line: int, column: int) -> int:
    """Return how many units of UTF-16 stand before a column."""
    return len(source.line(line)[: column - 1].encode("utf-16-le", "surrogatepass")) // 2


# --- probabilities ----------------------------------------------------------------------------


def bars_message(
    marginals: Marginals,
    before: Mapping[str, float],
    assumed: Mapping[str, bool | None],
    names: Sequence[str],
) -> Message:
    """Return some probabilities with their values before the last edit."""
    known = facts_among(marginals)
    return {
        "bars": [_bar(name, marginals, before, assumed, name in known) for name in names],
        "how": shorten_text(describe_method(marginals).split(" Warning:")[0], _LONGEST),
        "warnings": [shorten_text(fit(warning), _LONGEST) for warning in marginals.warnings],
        "sampled": bool(marginals.estimates),
    }


def _bar(
    name: str,
    marginals: Marginals,
    before: Mapping[str, float],
    assumed: Mapping[str, bool | None],
    is_known: bool,
) -> Message:
    value = marginals.probabilities[name]
    estimate = marginals.estimates.get(name)
    message: Message = {
        "name": name,
        "shown": shorten_text(fit(in_symbols(name)), 60),
        "p": round(value, 6) if isfinite(value) else None,
        "words": f"{value:.0f} · fact" if is_known else probability_in_words(value),
    }
    if estimate is not None and not is_known:
        message["error"] = round(estimate.error, 6) if isfinite(estimate.error) else 0.5
    if name in before:
        message["before"] = round(before[name], 6)
    if is_known:
        message["fact"] = bool(value)
    if name in assumed:
        message["assumed"] = {True: "true", False: "false", None: "unknown"}[assumed[name]]
    return message


def chosen_names(
    marginals: Marginals, before: Mapping[str, float], search: str, order: str
) -> tuple[list[str], int]:
    """Return the names of the bars to show, and how many fit the search."""
    wanted = search.casefold().split()
    names = [name for name in marginals.probabilities if all(word in name.casefold() for word in wanted)]
    if order == "probable":
        names.sort(key=lambda name: -marginals.probabilities[name])
    elif order == "moved":
        names.sort(key=lambda name: -abs(marginals.probabilities[name] - before.get(name, 0.0)))
    return names[:MOST_BARS], len(names)


def why_message(explanation: Explanation) -> Message:
    """Return an explanation: a sentence of each share, and the shares as numbers."""
    strongest = sorted(explanation.shares, key=lambda share: -abs(share.log_odds))
    return {
        "atom": explanation.atom,
        "shown": shorten_text(fit(in_symbols(explanation.atom)), 80),
        "words": probability_in_words(explanation.probability),
        "sentences": [shorten_text(fit(text), _LONGEST) for text in _first_sentences(explanation)],
        "base": round(explanation.base, 4) if isfinite(explanation.base) else None,
        "total": round(explanation.log_odds, 4) if isfinite(explanation.log_odds) else None,
        "shares": [
            {
                "shown": shorten_text(fit(in_symbols(share.formula)), 120),
                "weight": share.weight,
                "share": round(share.log_odds, 4),
                "without": probability_in_words(share.without),
            }
            for share in strongest[:MOST_SHARES]
        ],
        "more": max(0, len(strongest) - MOST_SHARES),
    }


def _first_sentences(explanation: Explanation) -> Iterable[str]:
    """Return the sentences that are not about single formulas."""
    return explanation.sentences()[: 2 if explanation.shares else None]
