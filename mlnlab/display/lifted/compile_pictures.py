"""The pictures of compilation: theory and rule on the left, the circuit so far on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.circuits.first_order import calls_of
from mlnlab.display.lifted.circuits.circuit_joined import joined_bodies
from mlnlab.display.lifted.circuits.circuit_legend import sign_lines
from mlnlab.display.lifted.circuits.circuit_scenes import circuit_items, drawn_circuit
from mlnlab.display.lifted.compile_panel import WIDTH, beginning, definition_panel
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.items import Group, Layer, Scene

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.circuits.first_order import Body
    from mlnlab.lifted.ask.lift import Lift
    from mlnlab.lifted.compile.compiling import CompileState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_MOST_ROWS = 300


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
    drawn = drawn_circuit(joined, symbols)
    signs = sign_lines(list(bodies.values()), recursive=any(box.again >= 0 for box in drawn.boxes))
    words = beginning(source) if newest is None else definition_panel(source, newest, asked, signs)
    circuit = circuit_items(drawn, joined, symbols, -1 if newest is None else newest.number)
    right = Group(id="circuit", x=WIDTH + 28, y=4, children=tuple(circuit))
    height = max(words.end, drawn.placed.size[1] + 8, 200.0)
    layers = (Layer("drawn", (right,)), Layer("words", words.items, zooms=False))
    return Scene(
        WIDTH + 40 + drawn.placed.size[0], height, layers, "Compilation", f"{caption(source, step)}."
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
    columns = tuple(Column(name, number=name not in ("rule", "theory")) for name in names)
    return Table("Definitions", columns, rows)
