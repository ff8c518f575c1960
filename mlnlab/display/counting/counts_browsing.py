"""Looking among groundings: formulas to choose from, kinds with their numbers, a sample, and a picture of it.

Everything that can be chosen is an item of one scene: a click, or a key, selects it, and what is selected by
its id is all that a page has to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.counting.groundings.groundings_shown import KINDS, Grounding, Groundings, Kind
from mlnlab.display.card.cards import scene_image
from mlnlab.display.card.formula_markup import formula_text, weight_markup
from mlnlab.display.card.markup import Element, element, fit, plain_text, shorten_text
from mlnlab.display.card.style import card, fold_away, quiet, title
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.counting.count_bars import number_text, ratio
from mlnlab.display.counting.counts_groundings import NOT_ALL_TRIED, grounding_words, kind_words, partitions
from mlnlab.display.counting.counts_lit import can_be_a_matrix, hypergraph_of, lit_scene, matrix_scene
from mlnlab.display.model.databases import share
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from mlnlab.logic.formulas.weights import WeightedFormula

SAMPLED = 5
LISTED = 8  # formulas that stand in the list at once
_LONGEST = 200
_KINDS_WIDTH = 330.0
_HUES = {
    "true": "blue",
    "violated": "orange",
    "decided true": "blue",
    "decided violated": "orange",
    "open": "grey",
}


@dataclass(frozen=True, slots=True, eq=False)
class Browsing:
    """The choices of a browser of groundings: a formula, a kind of groundings, a sample, one grounding of it.

    ``chosen`` is -1 where the formula is none of the list, ``lit`` where no grounding of the sample is lit.
    """

    formulas: tuple[WeightedFormula, ...]
    chosen: int
    found: Groundings
    kind: Kind
    seed: int
    sample: tuple[Grounding, ...]
    lit: int = -1
    problem: str = ""  # why there is no sample

    @property
    def shown(self) -> tuple[Grounding, ...]:
        """The groundings that are lit in the picture: the chosen one, else the first of the sample."""
        return (self.sample[self.lit],) if self.lit >= 0 else self.sample


def browsing_scene(browsing: Browsing) -> Scene:
    """Return all of it as one drawing; only the picture below pans and zooms."""
    items: list[Item] = []
    top = 6.0
    for part in (_formula_rows, _kind_rows, _sample_rows):
        found, top = part(browsing, top)
        items += found
    picture, words = _picture(browsing)
    below: tuple[Layer, ...] = ()
    height = top
    if picture is not None:
        below = tuple(_lower_layer(layer, top) for layer in picture.layers)
        height += picture.height
    else:
        items.append(Text(x=8, y=top + BAR, text=words, look="quiet"))
        height += ROW
    plate = Rectangle(x=0, y=0, width=WIDTH, height=top - 2, look="plate")
    formula = formula_text(browsing.found.formula)
    summary = f"{number_text(browsing.found.total)} groundings of {shorten_text(formula, _LONGEST)}."
    return Scene(
        WIDTH, height, (*below, Layer("choices", (plate, *items), zooms=False)), "Groundings", summary
    )


def browsing_display(browsing: Browsing, drawn: Scene) -> Element:
    """Return the content of a saved page: the drawing, the lit grounding in words, the sample as text."""
    lit = browsing.sample[browsing.lit] if browsing.lit >= 0 else None
    sample = [element("li", in_symbols(shorten_text(str(one), _LONGEST))) for one in browsing.sample]
    return card(
        title("Groundings", f"{number_text(browsing.found.total)} in all"),
        scene_image(drawn, "The choices: a formula, a kind, a sample; and a picture with what is lit."),
        None if lit is None else quiet(fit(grounding_words(browsing.found, lit).replace("\n", ": "))),
        fold_away(f"the sample of {kind_words(browsing.kind)} groundings", element("ul", *sample))
        if sample
        else None,
    )


def _lower_layer(layer: Layer, by: float) -> Layer:
    return Layer(layer.id, (Group(y=by, children=layer.children),), layer.zooms)


def _chosen_row(
    name: str,
    y: float,
    children: Sequence[Item],
    tip: str,
    *,
    chosen: bool,
    x: float = 0,
    width: float = WIDTH,
) -> Group:
    """Return a row that is a button; the chosen one has a frame and a mark."""
    mark = Text(x=8, y=BAR - 1.5, text="▶" if chosen else "", look="words")
    frame = Rectangle(
        x=1, y=-3, width=width - 2, height=ROW - 1, corner=3, look="panel" if chosen else "clear"
    )
    return Group(id=name, x=x, y=y, press=True, tooltip=tip, children=(frame, mark, *children))


# --- formulas -----------------------------------------------------------------------------------


def listed_formulas(browsing: Browsing) -> range:
    """Return the numbers of the formulas that stand in the list: those around the chosen one."""
    total = len(browsing.formulas)
    first = max(0, min(browsing.chosen - LISTED // 2, total - LISTED))
    return range(first, min(total, first + LISTED))


def _formula_rows(browsing: Browsing, top: float) -> tuple[list[Item], float]:
    rows: list[Item] = [Text(x=8, y=top + BAR, text=_headline(browsing), look="words strong")]
    y = top + ROW
    for number in listed_formulas(browsing):
        weighted = browsing.formulas[number]
        text = formula_text(weighted.formula, marks_of(weighted))
        weight = fit_text(plain_text(weight_markup(weighted.weight)), 96)
        children = (
            Text(x=24, y=BAR - 1.5, text=f"{number}", look="quiet"),
            Text(x=130, y=BAR - 1.5, text=weight, look="number", anchor="end"),
            Text(x=142, y=BAR - 1.5, text=fit_text(shorten_text(text, _LONGEST), WIDTH - 150), look="words"),
        )
        tip = tooltip(shorten_text(text, _LONGEST), "look at its groundings")
        rows.append(
            _chosen_row(numbered_id("formula", number), y, children, tip, chosen=number == browsing.chosen)
        )
        y += ROW
    for name, here, words in _further(browsing):
        label = Text(x=24, y=BAR - 1.5, text=words, look="quiet")
        rows.append(
            _chosen_row(name, y, (label,), words, chosen=False, x=0 if here else WIDTH / 2, width=WIDTH / 2)
        )
    return rows, y + (ROW if len(browsing.formulas) > LISTED else 0) + 6


def _further(browsing: Browsing) -> Iterator[tuple[str, bool, str]]:
    """Yield buttons to the formulas before and behind the listed ones."""
    listed, total = listed_formulas(browsing), len(browsing.formulas)
    if listed and listed.start > 0:
        yield "formulas-before", True, f"‹ {listed.start:,} earlier formulas"
    if listed and listed.stop < total:
        yield "formulas-behind", False, f"{total - listed.stop:,} later formulas ›"


def _headline(browsing: Browsing) -> str:
    text = shorten_text(formula_text(browsing.found.formula), _LONGEST)
    return fit_text(f"Groundings of {text}", WIDTH - 16, "words strong")


# --- kinds --------------------------------------------------------------------------------------


def _kind_rows(browsing: Browsing, top: float) -> tuple[list[Item], float]:
    found = browsing.found
    rows: list[Item] = []
    y = top
    room = WIDTH - _KINDS_WIDTH - 16
    for assumed, kind in _kinds_in_groups(found):
        if kind is None:
            rows.append(Text(x=8, y=y + BAR - 1.5, text=assumed, look="quiet"))
            y += ROW
            continue
        number, right = found.number(kind), _KINDS_WIDTH - 6
        children = (
            Text(x=24, y=BAR - 1.5, text=kind_words(kind), look="words"),
            Text(x=_KINDS_WIDTH - 72, y=BAR - 1.5, text=number_text(number), look="number", anchor="end"),
            Text(x=right, y=BAR - 1.5, text=share(number, found.total), look="quiet", anchor="end"),
            Rectangle(x=_KINDS_WIDTH + 4, y=1, width=room, height=BAR - 2, look="shaded"),
            Rectangle(
                x=_KINDS_WIDTH + 4, y=1, width=room * ratio(number, found.total), height=BAR - 2,
                look=f"bar {_HUES[kind]}",
            ),
        )  # fmt: skip
        name = numbered_id("kind", KINDS.index(kind))
        tip = tooltip(kind_words(kind), "draw a sample of these")
        rows.append(_chosen_row(name, y, children, tip, chosen=kind == browsing.kind))
        y += ROW
    if not found.exact:
        rows.append(Text(x=24, y=y + BAR - 1.5, text=NOT_ALL_TRIED, look="quiet"))
        y += ROW
    return rows, y + 6


def _kinds_in_groups(found: Groundings) -> Iterator[tuple[str, Kind | None]]:
    """Yield the kinds, each group of which adds up to all groundings, below a heading where there are two."""
    for assumed, kinds in partitions(found):
        if assumed:
            yield f"{assumed}:", None
        for kind in kinds:
            yield assumed, kind


# --- the sample ---------------------------------------------------------------------------------


def _sample_rows(browsing: Browsing, top: float) -> tuple[list[Item], float]:
    found, number = browsing.found, browsing.found.number(browsing.kind)
    shown = len(browsing.sample)
    words = f"{number_text(shown)} of {number_text(number)} {kind_words(browsing.kind)}"
    head = browsing.problem or (words if number else f"None is {kind_words(browsing.kind)}.")
    rows: list[Item] = [Text(x=8, y=top + BAR, text=fit_text(head, WIDTH - 200), look="words strong")]
    if number > shown and shown:
        rows.append(_again(browsing, top))
    y = top + ROW
    names = [variable.name for variable in found.variables]
    for place, grounding in enumerate(browsing.sample):
        bound = ", ".join(f"{name} = {shorten_text(grounding.binding[name], 40)}" for name in names)
        left = fit_text(bound, 230)
        text = in_symbols(shorten_text(str(grounding), _LONGEST))
        children = (
            Text(x=24, y=BAR - 1.5, text=left, look="words"),
            Text(x=270, y=BAR - 1.5, text=fit_text(text, WIDTH - 280), look="words"),
        )
        tip = tooltip(text, bound, "light it in the picture")
        name = numbered_id("sample", browsing.seed, place)
        rows.append(_chosen_row(name, y, children, tip, chosen=place == browsing.lit))
        y += ROW
    return rows, y + 8


def _again(browsing: Browsing, top: float) -> Group:
    """Return the button that draws the next sample."""
    words = "↻ another sample"
    width = text_width(words) + 24
    return Group(
        id="again", x=WIDTH - width - 8, y=top, press=True,
        tooltip=tooltip("another sample", f"drawn with seed {browsing.seed + 1}"),
        children=(
            Rectangle(x=0, y=-3, width=width, height=ROW - 1, corner=4, look="panel"),
            Text(x=12, y=BAR - 1.5, text=words, look="words"),
        ),
    )  # fmt: skip


# --- the picture --------------------------------------------------------------------------------


def _picture(browsing: Browsing) -> tuple[Scene | None, str]:
    """Return the matrix or the hypergraph with the lit grounding, or a sentence why there is none."""
    found = browsing.found
    if not found.total:
        return None, "A type of the formula's variables has no constants."
    try:
        if can_be_a_matrix(found):
            lit = browsing.shown if browsing.lit >= 0 else ()
            return matrix_scene(found, lit, closed=browsing.kind in {"true", "violated"}), ""
        graph = hypergraph_of(found)
        if graph is not None and found.variables:
            return lit_scene(found, graph, browsing.shown), ""
    except TooLargeError as refusal:
        return None, fit_text(refusal.summary, WIDTH - 16)
    return None, "There are too many facts for a picture; the sample is drawn evenly from all groundings."
