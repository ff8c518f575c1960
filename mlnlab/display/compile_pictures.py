"""The pictures of compilation: theory and rule on the left, the circuit so far on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.circuits.first_order import calls_of
from mlnlab.display.circuit_scenes import circuit_items, drawn_circuit
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fitted, fitted_lines
from mlnlab.lifted.theory_text import clause_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.circuits.first_order import Body
    from mlnlab.lifted.compiling import Compiled, CompileState
    from mlnlab.lifted.lift import Lift
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace

WIDTH, LINE = 380.0, 16.0
_MOST_CLAUSES, _MOST_ROWS = 14, 300


def compile_picture(source: Lift) -> RunPicture:
    """Return the pictures of a compilation."""
    return RunPicture(
        title="Compilation to a first-order circuit",
        parts={"compilation": lambda step, _trace: compile_scene(source, step)},
        caption=lambda step: caption(source, step),
        remarks=lambda step: _remarks(step.state),
        table=lambda step: _table(source, step.state),
    )


def compile_scene(source: Lift, step: Step[Any], _trace: Trace[Any] | None = None) -> Scene:
    """Return a step: what was compiled by which rule, why no earlier rule applied, and the circuit."""
    state: CompileState = step.state
    bodies = bodies_of(state)
    symbols = source.weighted.shattered.symbols
    newest = state.newest
    words, end = _beginning(source) if newest is None else _panel(source, newest)
    drawn = drawn_circuit(bodies, symbols)
    circuit = circuit_items(drawn, bodies, symbols, -1 if newest is None else newest.number)
    right = Group(id="circuit", x=WIDTH + 28, y=4, children=tuple(circuit))
    height = max(end, drawn.height + 8, 200.0)
    layers = (Layer("drawn", (right,)), Layer("words", tuple(words), zooms=False))
    return Scene(WIDTH + 40 + drawn.width, height, layers, "Compilation", f"{caption(source, step)}.")


def bodies_of(state: CompileState) -> dict[int, Body | None]:
    """Return the definitions so far; those that are only named have no body."""
    bodies: dict[int, Body | None] = {one.number: one.body for one in state.compiled()}
    for body in list(bodies.values()):
        for call in () if body is None else calls_of(body):
            bodies.setdefault(call.definition, None)
    return bodies or {0: None}


def _beginning(source: Lift) -> tuple[list[Item], float]:
    theory = source.compilation.theory
    symbols = source.weighted.shattered.symbols
    items: list[Item] = [Text(x=8, y=22, text="The theory", look="words strong")]
    lines = [clause_text(clause, theory, symbols) for clause in theory.clauses]
    return _listed(items, lines, (), 44.0)


def _panel(source: Lift, one: Compiled) -> tuple[list[Item], float]:
    symbols = source.weighted.shattered.symbols
    items: list[Item] = [
        Text(id="rule", x=8, y=22, text=f"Definition {one.number}: {one.rule}", look="words strong")
    ]
    y = 40.0
    note = one.fired.note if one.fired is not None else "Constants are taken out when their number is known."
    for number, line in enumerate(fitted_lines(note, WIDTH, 3, "small")):
        items.append(Text(id=f"note-{number}", x=8, y=y, text=line, look="words small"))
        y += LINE
    lines = [clause_text(clause, one.theory, symbols) for clause in one.theory.clauses]
    matched = one.fired.clauses if one.fired is not None else ()
    items, y = _listed(items, lines, matched, y + 8)
    items.append(Text(x=8, y=y + 8, text="rules tried before", look="quiet small"))
    y += 8 + LINE
    for number, (name, reason) in enumerate(one.refused):
        text = fitted(f"{name}: {reason}", WIDTH, "small")
        items.append(Text(id=f"refused-{number}", x=8, y=y, text=text, look="quiet small", tooltip=reason))
        y += LINE
    return items, y + 6


def _listed(
    items: list[Item], lines: Sequence[str], matched: Sequence[int], y: float
) -> tuple[list[Item], float]:
    """Return clauses as lines, those that the rule matched with a bar before them."""
    shown = sorted(range(len(lines)), key=lambda n: (n not in matched, n))[:_MOST_CLAUSES]
    for number in sorted(shown):
        if number in matched:
            items.append(
                Rectangle(id=f"matched-{number}", x=8, y=y - 10, width=4, height=13, look="bar orange")
            )
        text = fitted(lines[number], WIDTH - 12, "small")
        look = f"words small{' strong' * (number in matched)}"
        items.append(Text(id=f"clause-{number}", x=18, y=y, text=text, look=look, tooltip=lines[number]))
        y += LINE
    if len(lines) > len(shown):
        items.append(Text(x=18, y=y, text=f"and {len(lines) - len(shown)} more clauses", look="quiet small"))
        y += LINE
    return items, y


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


def _remarks(state: CompileState) -> Sequence[str]:
    found = []
    if state.shared:
        found.append(f"{state.shared:,} calls found a definition that was there already.")
    if any(one.fired is None for one in state.compiled()):
        found.append("No rule lifts all of it: constants are taken out one by one when sizes are known.")
    return found


def _table(source: Lift, state: CompileState) -> Table:
    rows = tuple(
        (one.number, one.rule, len(one.theory.clauses), len(one.theory.pieces), one.theory.subdomains,
         source.text(one.theory)[:300])
        for one in list(state.compiled())[:_MOST_ROWS]
    )  # fmt: skip
    names = ("definition", "rule", "clauses", "kinds of atoms", "subdomains", "theory")
    columns = tuple(Column(name, number=name not in ("rule", "theory")) for name in names)
    return Table("Definitions", columns, rows)
