"""The pictures of compilation: theory and rule on the left, the circuit so far on the right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import Body, calls_of
from mlnlab.display.lifted.circuits.circuit_details import note_of
from mlnlab.display.lifted.circuits.circuit_nodes import PRIMES, joined_bodies, legend_lines, sign_lines
from mlnlab.display.lifted.circuits.circuit_scenes import circuit_items, draw_bodies
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.lifted.compile.why_not import why_not
from mlnlab.lifted.theory.symbol_names import subdomain_names, with_names
from mlnlab.lifted.theory.theory_text import clause_parts, clause_text

if TYPE_CHECKING:
    from mlnlab.lifted.ask.lift import Lift
    from mlnlab.lifted.compile.compiling import Compiled, CompileState
    from mlnlab.lifted.theory.theory import Clause, Theory
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_ROWS = 300
WIDTH, LINE = 430.0, 16.0
_LEFT, _INDENT = 8.0, 18.0
_MOST_CLAUSES, _MOST_LEGEND = 14, 20
_SIGNS = {"made": "✓", "refused": "✗", "later": "·", "left out": "·"}


def compile_picture(source: Lift, asked: str = "") -> RunPicture:
    """Return the pictures of a compilation; a rule that is ``asked`` for tells why it did not apply."""
    return RunPicture(
        title="Compilation to a first-order circuit",
        parts={"compilation": lambda step, _trace: compile_scene(source, step, asked=asked)},
        caption=lambda step: caption(source, step),
        remarks=lambda step: _remarks(source, step.state),
        table=lambda step: _table(source, step.state),
        choose=lambda name: _ask_for_rule(source, asked, name),
    )


def _ask_for_rule(source: Lift, before: str, name: str) -> RunPicture | None:
    """Return the pictures with another rule asked for; the same one again is asked for no more."""
    word, _, number = name.partition("-")
    rules = source.compilation.params.rules
    if word != "rule" or not number.isdigit() or int(number) >= len(rules):
        return None
    rule = rules[int(number)].name
    return compile_picture(source, "" if rule == before else rule)


def compile_scene(
    source: Lift, step: Step[Any], _trace: Trace[Any] | None = None, *, asked: str = ""
) -> Scene:
    """Return a step: the compiled theory and its rule, why no earlier rule applied, and the circuit."""
    state: CompileState = step.state
    bodies = bodies_of(state)
    symbols = source.weighted.shattered.symbols
    newest = state.newest
    joined = joined_bodies(bodies, range(state.named))  # each step adds a box
    drawn = draw_bodies(joined, symbols)
    signs = sign_lines(list(bodies.values()), recursive=any(node.kind == "again" for node in drawn.nodes))
    words = beginning(source) if newest is None else definition_panel(source, newest, asked, signs)
    circuit = circuit_items(drawn, joined, symbols, -1 if newest is None else newest.number)
    right = Group(id="circuit", x=WIDTH + 28, y=4, children=circuit)
    height = max(words.end, drawn.layout.size[1] + 8, 200.0)
    layers = (Layer("drawn", (right,)), Layer("words", words.items, zooms=False))
    return Scene(
        WIDTH + 40 + drawn.layout.size[0], height, layers, "Compilation", f"{caption(source, step)}."
    )


def bodies_of(state: CompileState) -> dict[int, Body | None]:
    """Return the definitions so far; those that are only named have no body."""
    bodies: dict[int, Body | None] = {one.number: one.body for one in state.list_definitions()}
    for body in list(bodies.values()):
        for call in () if body is None else calls_of(body):
            bodies.setdefault(call.definition, None)
    return bodies or {0: None}


def caption(source: Lift, step: Step[Any]) -> str:
    """Say a step in one line."""
    state: CompileState = step.state
    newest = state.newest
    left = state.named - state.done
    if newest is None:
        clauses = len(source.compilation.theory.clauses)
        return f"step {step.index:,}: a theory of {clauses:,} clauses"
    waiting = "the circuit is complete" if state.ended else f"{left:,} left to compile"
    return f"step {step.index:,}: {newest.rule} makes definition {newest.number:,}; {waiting}"


def _remarks(source: Lift, state: CompileState) -> Sequence[str]:
    found = []
    if state.shared:
        found.append(f"{state.shared:,} calls found a definition that was there already.")
    if any(one.fired is None for one in state.list_definitions()):
        found += [one.sentence for one in source.unlifted_formulas]
        found.append("Constants are taken out one by one when sizes are known.")
    return found


def _table(source: Lift, state: CompileState) -> Table:
    rows = tuple(
        (one.number, one.rule, len(one.theory.clauses), len(one.theory.pieces), one.theory.subdomains,
         source.text(one.theory)[:300])
        for one in list(state.list_definitions())[:_MOST_ROWS]
    )  # fmt: skip
    names = ("definition", "rule", "clauses", "kinds of atoms", "subdomains", "theory")
    return Table("Definitions", columns_of(names, (0, 2, 3, 4)), rows)


# --- panel ----------------------------------------------------------------------------------------


class Written(NamedTuple):
    """Items, and where the next line begins."""

    items: tuple[Item, ...]
    end: float


def beginning(source: Lift) -> Written:
    """Return the theory before anything is compiled."""
    theory = source.compilation.theory
    head = Text(x=_LEFT, y=22, text="The theory", look="words strong")
    listed = _list_clauses(source, theory, theory.clauses, (), (), 44.0)
    where = _legend(source, listed.end + 6)
    return Written((head, *listed.items, *where.items), where.end)


def definition_panel(source: Lift, one: Compiled, asked: str, signs: Sequence[str] = ()) -> Written:
    """Return a definition: rule, note, its theory, all rules in their order, and the meanings of signs."""
    symbols = source.weighted.shattered.symbols
    head = f"Definition {one.number}: {one.rule}"
    items: list[Item] = [Text(id="rule", x=_LEFT, y=22, text=head, look="words strong")]
    y = 40.0
    for number, line in enumerate(fitted_lines(note_of(one, symbols), WIDTH, 3, "small")):
        items.append(Text(id=numbered_id("note", number), x=_LEFT, y=y, text=line, look="words small"))
        y += LINE
    matched = (one.fired.clauses, one.fired.pieces) if one.fired is not None else ((), ())
    listed = _list_clauses(source, one.theory, one.theory.clauses, *matched, y + 8)
    rules = _rules(source, one, asked, listed.end + 10)
    primes = (PRIMES,) if any("′" in name for name in subdomain_names(one.theory, symbols)) else ()
    where = _legend(source, rules.end + 8, (*signs, *primes))
    return Written((*items, *listed.items, *rules.items, *where.items), where.end)


# --- clauses --------------------------------------------------------------------------------------


def _list_clauses(
    source: Lift, theory: Theory, clauses: Sequence[Clause], matched: Collection[int],
    pieces: Collection[int], y: float,
) -> Written:  # fmt: skip
    """Return clauses as lines; of those that the rule matched, the literals of its atoms are lit."""
    symbols = source.weighted.shattered.symbols
    shown = sorted(range(len(clauses)), key=lambda n: (n not in matched, n))[:_MOST_CLAUSES]
    items: list[Item] = []
    for number in sorted(shown):
        if number in matched:
            items.append(
                Rectangle(
                    id=numbered_id("matched", number), x=_LEFT, y=y - 11, width=4, height=14,
                    look="bar orange",
                )
            )  # fmt: skip
        lit = pieces if number in matched else ()
        line = _clause_line(clauses[number], theory, source, lit, y)
        items.append(
            Group(
                id=numbered_id("clause", number), children=tuple(line),
                tooltip=tooltip(clause_text(clauses[number], theory, symbols)),
            )
        )  # fmt: skip
        y += LINE
    if len(clauses) > len(shown):
        more = f"and {len(clauses) - len(shown):,} more clauses"
        items.append(Text(x=_INDENT, y=y, text=more, look="quiet small"))
        y += LINE
    return Written(tuple(items), y)


def _clause_line(clause: Clause, theory: Theory, source: Lift, lit: Collection[int], y: float) -> list[Item]:
    literals, where = clause_parts(clause, theory, source.weighted.shattered.symbols)
    items: list[Item] = []
    x = _INDENT
    for place, (text, piece) in enumerate(literals or [("false", -1)]):
        if place:
            items.append(Text(x=x, y=y, text="v", look="quiet small"))
            x += text_width("v ", "small") + 2
        room = WIDTH - x
        if room < 40:
            items.append(Text(x=x, y=y, text="…", look="quiet small"))
            return items
        is_lit = piece in lit
        look = "small strong" if is_lit else "small"
        words = fit_text(text, room, look)
        width = text_width(words, look) + 2
        if is_lit:
            items.append(
                Rectangle(x=x - 2, y=y - 11, width=width + 3, height=14, corner=3, look="bar orange washed")
            )
        items.append(Text(x=x, y=y, text=words, look=f"words {look}"))
        x += width + 4
    said = fit_text(where.strip(), max(WIDTH - x - 6, 0.0), "small") if WIDTH - x > 60 else ""
    if said:
        items.append(Text(x=x + 6, y=y, text=said, look="quiet small"))
    return items


# --- rules ----------------------------------------------------------------------------------------


def _rules(source: Lift, one: Compiled, asked: str, y: float) -> Written:
    """Return the rules in their order: why those before did not apply; those behind are asked on a click."""
    params = source.compilation.params
    names = [rule.name for rule in params.rules]
    said = dict(one.refused)
    items: list[Item] = [
        Text(x=_LEFT, y=y, text="Rules in the order of trying; click one: why not?", look="quiet small")
    ]
    y += LINE
    for number, name in enumerate(names):
        answer = why_not(name, one, params) if name == asked else None
        verdict = "made" if name == one.rule else "refused" if name in said else "later"
        text = f"{_SIGNS[answer.verdict if answer else verdict]} {name}"
        if name in said and answer is None:
            text += f": {said[name]}"
        look = (
            "words small strong" if name == one.rule else "quiet small" if answer is None else "words small"
        )
        rule = next(rule for rule in params.rules if rule.name == name)
        items.append(
            Group(
                id=numbered_id("rule", number), press=True,
                tooltip=tooltip(name, f"needs {rule.needs}", rule.citation, "click: why not here?"),
                children=(
                    Rectangle(x=_LEFT - 2, y=y - 11, width=WIDTH, height=15, look="plate"),
                    Text(x=_LEFT, y=y, text=fit_text(text, WIDTH - 4, "small"), look=look),
                ),
            )
        )  # fmt: skip
        y += LINE
        if answer is not None:
            reason = with_names(answer.reason, one.theory, source.weighted.shattered.symbols)
            lines = _answer_lines(reason, y)
            items += lines
            y += LINE * len(lines)
    return Written(tuple(items), y)


def _answer_lines(reason: str, y: float) -> list[Item]:
    lines = fitted_lines(reason, WIDTH - 24, 4, "small")
    return [
        Text(
            id=numbered_id("why", place), x=_LEFT + 14, y=y + LINE * place, text=line,
            look="words small", tooltip=tooltip(reason),
        )
        for place, line in enumerate(lines)
    ]  # fmt: skip


def _legend(source: Lift, y: float, signs: Sequence[str] = ()) -> Written:
    found = (*legend_lines(source.weighted), *signs)
    items: list[Item] = [
        Text(x=_LEFT, y=y, text="Different variables stand for different constants.", look="quiet small")
    ]
    y += LINE
    for text in found[:_MOST_LEGEND]:
        for line in fitted_lines(text, WIDTH, 2, "small"):
            items.append(Text(x=_LEFT, y=y, text=line, look="quiet small", tooltip=tooltip(text)))
            y += LINE
    return Written(tuple(items), y)
