"""``ml.groundings_view``: choose a formula, see its groundings by kind, draw samples, light one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from traitlets import Dict, Unicode

from mlnlab.counting.groundings.groundings_shown import KINDS, Grounding, Groundings, Kind, groundings
from mlnlab.display.card.markup import Element, fit, shorten_text
from mlnlab.display.counting.counts_browsing import (
    LISTED,
    SAMPLED,
    Browsing,
    browsing_display,
    browsing_scene,
    listed_formulas,
)
from mlnlab.display.counting.counts_groundings import grounding_words, list_kinds
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.logic.checked_options import check_names, is_one_of, whole_number
from mlnlab.logic.formulas.formulas import Formula
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.mln.mln import MLN
from mlnlab.widgets.view.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

_LONGEST = 600


class GroundingsView(View):
    """A view of a formula's groundings; every click of a page is a method too."""

    _esm = script_of("scene_view.js")
    scene = Dict().tag(sync=True)
    details = Unicode().tag(sync=True)

    def __init__(
        self, mln: MLN, db: Database | World, formula: int | str | Formula, opened: Sequence[str]
    ) -> None:
        found = groundings(mln, db, formula, open=opened)  # raises before there is anything to be closed
        super().__init__()
        self._mln, self._db, self._opened = mln, db, tuple(opened)
        formulas = tuple(mln.expand(db).formulas)
        chosen = formula % len(formulas) if isinstance(formula, int) else -1
        self._looked: dict[int, Groundings] = {chosen: found}
        self._browsing = _begin_browsing(Browsing(formulas, chosen, found, "true", 0, ()))
        self._drawn = browsing_scene(self._browsing)
        self.scene = self._drawn.to_json()

    # --- looking ------------------------------------------------------------------------------

    @property
    def groundings(self) -> Groundings:
        """The groundings that are looked at."""
        return self._browsing.found

    @property
    def kind(self) -> Kind:
        """The kind of which the sample is."""
        return self._browsing.kind

    @property
    def seed(self) -> int:
        """The seed of the sample."""
        return self._browsing.seed

    @property
    def sample(self) -> tuple[Grounding, ...]:
        """The groundings that are listed."""
        return self._browsing.sample

    @property
    def lit(self) -> Grounding | None:
        """The grounding that is lit in the picture."""
        place = self._browsing.lit
        return self._browsing.sample[place] if place >= 0 else None

    # --- choosing -----------------------------------------------------------------------------

    def choose(self, formula: int) -> None:
        """Look at another formula of the model, by its number in the expanded model."""
        known = len(self._browsing.formulas)
        if isinstance(formula, bool) or not isinstance(formula, int):
            raise ArgumentError(f"A formula of the view is chosen by its number, not by {formula!r:.60}.")
        if not -known <= formula < known:
            raise ArgumentError(f"The model has formulas 0 to {known - 1:,}; there is no number {formula}.")
        number = formula % known
        if number not in self._looked:
            self._looked[number] = groundings(self._mln, self._db, number, open=self._opened)
        self._show(_begin_browsing(replace(self._browsing, chosen=number, found=self._looked[number])))

    def show(self, kind: Kind) -> None:
        """Draw a sample of another kind."""
        if not is_one_of(kind, KINDS):
            hint = did_you_mean(str(kind), get_args(Kind)) or "."
            raise ArgumentError(
                f"Groundings are {', '.join(KINDS)}; there is no kind {str(kind)[:60]!r}{hint}"
            )
        self._show(_take_sample(replace(self._browsing, kind=kind)))

    def draw(self, seed: int | None = None) -> None:
        """Draw a sample with another seed; without one, with the next."""
        wanted = self.seed + 1 if seed is None else whole_number(seed, "A seed")
        self._show(_take_sample(replace(self._browsing, seed=wanted)))

    def light(self, place: int | None) -> None:
        """Light a grounding of the sample in the picture, by its place; ``None`` lights all."""
        if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
            raise ArgumentError(
                f"A grounding of the sample is lit by its place, a number, not by {place!r:.60}."
            )
        if place is not None and not 0 <= place < len(self.sample):
            raise ArgumentError(f"The sample has places 0 to {len(self.sample) - 1}, but no number {place}.")
        self._show(replace(self._browsing, lit=-1 if place is None else place))

    def _show(self, browsing: Browsing) -> None:
        with self._lock:
            drawn = browsing_scene(browsing)  # raises before anything is changed
            self._browsing, self._drawn = browsing, drawn
            with self.hold_sync():
                self.scene = drawn.to_json()
                self.details = "" if self.lit is None else fit(grounding_words(browsing.found, self.lit))

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a click on an item."""
        drawn = {item.id: item for item in self._drawn.items() if item.id}
        try:
            match kind, content:
                case "select", {"id": None}:
                    self.light(None)
                case "press", {"id": str(name)} if name in drawn and drawn[name].press:
                    self._press(name)
                case "select", {"id": str(name)} if name in drawn and drawn[name].pick:
                    self.details = fit(drawn[name].tooltip)
        except MlnlabError as problem:
            self.details = fit(shorten_text(str(problem), _LONGEST))

    def _press(self, name: str) -> None:
        """Answer a press of a drawn button."""
        listed, last = listed_formulas(self._browsing), len(self._browsing.formulas) - 1
        word, _, number = name.rpartition("-")
        match word:
            case "formula":
                self.choose(int(number))
            case "formulas":
                self.choose(
                    max(0, listed.start - LISTED // 2)
                    if number == "before"
                    else min(listed.stop + LISTED // 2, last)
                )
            case "kind":
                self.show(KINDS[int(number)])
            case _ if name == "again":
                self.draw()
            case _ if word.startswith("sample-"):
                self.light(int(number))

    # --- the saved notebook -------------------------------------------------------------------

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the current choices, the sample, and the picture with its highlights."""
        return browsing_display(self._browsing, self._drawn)

    def __repr__(self) -> str:
        return f"<View of {self._browsing.found!r}>"


def _begin_browsing(browsing: Browsing) -> Browsing:
    """Return a formula looked at for the first time: violated groundings where there are some."""
    found = browsing.found
    known = [kind for kind in list_kinds(found) if found.number(kind)]
    preferred = [kind for kind in ("violated", "open", "true") if kind in known]
    kind: Kind = preferred[0] if preferred else "true"
    return _take_sample(replace(browsing, kind=kind))


def _take_sample(browsing: Browsing) -> Browsing:
    try:
        sample = browsing.found.sample(browsing.kind, SAMPLED, seed=browsing.seed)
    except MlnlabError as problem:
        return replace(browsing, sample=(), lit=-1, problem=shorten_text(str(problem), _LONGEST))
    return replace(browsing, sample=sample if browsing.found.variables else (), lit=-1, problem="")


def groundings_view(
    mln: MLN,
    db: Database | World,
    formula: int | str | Formula = 0,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name, as in ml.groundings
) -> GroundingsView:
    r"""Look among the groundings of a model's formulas: by kind, by seeded samples, lit in a picture.

    The arguments are those of ``ml.groundings``. In the page formulas, kinds and groundings are clicked; the
    same is done by methods.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)\n?Friends(Anna, Carl)", mln)
    >>> view = ml.groundings_view(mln, db)
    >>> view.show("open")
    >>> view.light(0)
    >>> print(view.lit)
    Friends(Anna, Bob) ^ Friends(Bob, Carl) => Friends(Anna, Carl)
    >>> print(view.details)
    open: it depends on open atoms
    Friends(Anna, Bob) is true, Friends(Bob, Carl) is true, Friends(Anna, Carl) is open
    >>> view.close()
    """
    opened = (open,) if isinstance(open, str) else check_names(open, "open", "Smokes")
    if not isinstance(mln, MLN):
        raise ArgumentError(f"A model is needed first, made by ml.MLN.from_text or ml.load, not {mln!r:.50}.")
    if isinstance(formula, int) and not len(mln.expand(db).formulas):
        raise ArgumentError(
            'The model has no formulas; name one: ml.groundings_view(mln, db, "P(x) => Q(x)").'
        )
    return GroundingsView(mln, db, formula, opened)
