"""Equiprobable classes: the matrix of a formula's groundings coloured by class, with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.scene.building import WIDTH, tooltip
from mlnlab.display.scene.items import Circle, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.lifted.ask.equiprobable_probabilities import class_probabilities
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    from mlnlab.lifted.circuit.equiprobable import EquiprobableClass, EquiprobableClasses

MOST_CONSTANTS = 14  # in a row of the matrix
_CELL, _LEFT, _TOP = 22.0, 96.0, 58.0


def classes_scene(classes: EquiprobableClasses) -> Scene | None:
    """Return the matrix of the first formula of two variables; nothing where there is none."""
    chosen = _choose_classes(classes)
    if not chosen:
        return None
    probabilities = dict(zip(classes, class_probabilities(classes), strict=True))
    down, across = (variable for variable, _ in chosen[0].decided)
    names = [_names(classes, variable.type) for variable in (down, across)]
    items: list[Item] = [
        Text(x=8, y=18, text=fit_text(in_symbols(to_text(chosen[0].formula)), WIDTH - 16, "strong"),
             look="words strong"),
        Text(x=8, y=36, text=f"{down.name} down, {across.name} across; one colour, one probability",
             look="quiet small"),
    ]  # fmt: skip
    for row, one in enumerate(names[0]):
        y = _TOP + row * _CELL
        items.append(Text(x=_LEFT - 6, y=y + 15, text=fit_text(one, _LEFT - 14), look="words", anchor="end"))
        for column, other in enumerate(names[1]):
            items += _cell(chosen, probabilities, (one, other), _LEFT + column * _CELL, y)
    bottom = _TOP + len(names[0]) * _CELL + 10
    for place, drawn in enumerate(chosen):  # a class a line: which groundings are alike is the point
        words = fit_text(_words(drawn, classes, probabilities[drawn]), WIDTH - 40)
        items.append(Circle(x=16, y=bottom + 10, radius=5.5, look=f"disc {_hue(place)}"))
        items.append(Text(x=30, y=bottom + 14.5, text=words, look="words"))
        bottom += 22
    return Scene(WIDTH, bottom + 8, (Layer("drawn", tuple(items)),), "Equiprobable classes", repr(classes))


def _choose_classes(classes: EquiprobableClasses) -> tuple[EquiprobableClass, ...]:
    for formula in range(len(classes.mln.formulas)):
        found = classes.of(formula)
        if found and len(found[0].decided) == 2 and all(
            _names(classes, variable.type) for variable, _ in found[0].decided
        ):  # fmt: skip
            return found
    return ()


def _names(classes: EquiprobableClasses, type_: str) -> list[str]:
    """Return the constants that are drawn: those that the model mentions, then others."""
    domain = classes.vocabulary.domain(type_)
    named = [n for one in classes.classes[:1] for t, known in one.named if t == type_ for n in known]
    others = (name for name in domain if name not in named)
    free = max(0, MOST_CONSTANTS - len(named))
    return [n for n in named if n in domain][:MOST_CONSTANTS] + [
        n for n, _ in zip(others, range(free), strict=False)
    ]


def _cell(
    chosen: Sequence[EquiprobableClass], probabilities: dict[EquiprobableClass, float | None],
    names: tuple[str, str], x: float, y: float,
) -> list[Item]:  # fmt: skip
    for place, one in enumerate(chosen):
        if _belongs(one, names):
            known = probabilities[one]
            chance = "" if known is None else f", probability {known:.4f}"
            hint = tooltip(f"{names[0]}, {names[1]}: {one}{chance}")
            look = f"bar {_hue(place)}"
            return [Rectangle(x=x, y=y, width=_CELL - 1.5, height=_CELL - 1.5, look=look, tooltip=hint)]
    return []


def _belongs(one: EquiprobableClass, names: tuple[str, ...]) -> bool:
    """Tell whether constants for the variables are decided as a class says."""
    known = dict(one.named)
    seen: dict[int, str] = {}
    for (variable, place), name in zip(one.decided, names, strict=True):
        if isinstance(place, str):
            if place != name:
                return False
        elif name in known.get(variable.type, ()) or seen.setdefault(place, name) != name:
            return False
    of_types = {(one.types[n], name) for n, name in seen.items()}
    return len(of_types) == len(seen)


def _hue(place: int) -> str:
    return HUES[place % len(HUES)]


def _words(one: EquiprobableClass, classes: EquiprobableClasses, chance: float | None) -> str:
    known = "" if chance is None else f", P = {chance:.4f}"
    if set(one.types) & set(classes.unknown):
        return f"{in_symbols(str(one))}"
    return f"{count_of(one.size(classes.sizes), 'grounding')}{known}: {in_symbols(str(one))}"


def classes_card(classes: EquiprobableClasses) -> Card:
    """Return the card: the matrix, all classes, and the cost of learning by them."""
    rows = list(_rows(classes))
    costs = "; ".join(f"{name}: {number:,}" for name, number in classes.queries().items())
    headings = ("formula", "class", "groundings", "probability", "for instance")
    return Card(
        "Equiprobable classes",
        repr(classes).strip("<>"),
        picture=classes_scene(classes),
        alternative="Groundings by class; the table has the same.",
        table=table_of(headings, rows, len(rows), "classes", numbers=(0, 2, 3), name="all classes"),
        remarks=(f"In 100 iterations over one database: {costs}.",),
    )


def _rows(classes: EquiprobableClasses) -> list[tuple[str, ...]]:
    frame = classes.to_frame()
    sizes = [classes.groundings(one) for one in classes]
    chances = class_probabilities(classes)
    return [
        (str(row[0]), in_symbols(str(row[1])), _size_text(size),
         "–" if chance is None else f"{chance:.4f}", in_symbols(str(row[3])))
        for row, size, chance in zip(frame.itertuples(index=False), sizes, chances, strict=True)
    ]  # fmt: skip


def _size_text(size: int | None) -> str:
    return "–" if size is None else f"{size:,}"
