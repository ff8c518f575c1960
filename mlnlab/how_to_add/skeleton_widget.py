"""A view of shares: the bars of predicates, which tell more on a click (a skeleton to copy).

The drawing is a function to a ``Scene``, and clicks come back as ids of its items: no JavaScript. A view that
needs more than opening and selecting overrides ``answer``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.bars import Bar, bar_scene
from mlnlab.display.scene.building import numbered_id
from mlnlab.errors import ArgumentError
from mlnlab.model.database.database import Database
from mlnlab.widgets.view.scene_view import SceneView

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene

MOST_BARS = 30
_MOST_NAMED = 5  # facts


class SharesView(SceneView):
    """The predicates of a database as bars; every click is a method, too: ``select``."""

    def __init__(self, database: Database) -> None:
        if not isinstance(database, Database):
            raise ArgumentError(
                f"This view is of a database, made by ml.Database.from_text, not of {database!r:.60}."
            )
        self._database = database
        super().__init__(self._scene, self._describe_bar)

    def _scene(self, _opened: frozenset[str]) -> Scene:
        """Return the bars; ids are numbered, for no id ever comes from data."""
        relations = list(self._database.relations.items())[:MOST_BARS]
        most = max((len(relation.true) for _, relation in relations), default=1) or 1
        bars = [
            Bar(shorten_text(name), len(relation.true) / most, count_of(len(relation.true), "fact"))
            for name, relation in relations
        ]
        left = len(self._database.relations) - len(bars)
        more = f" {count_of(left, 'predicate')} not drawn." if left > 0 else ""
        return bar_scene(bars, "Facts of each predicate", f"{count_of(len(bars), 'predicate')}.{more}")

    def _describe_bar(self, item: str) -> str:
        """Return some facts of a selected bar."""
        names = list(self._database.relations)
        place = next((n for n in range(len(names)) if numbered_id("atom", n) == item), None)
        if place is None:
            return ""
        rows = list(self._database.rows(names[place]))
        shown = ", ".join(f"{names[place]}({', '.join(row)})" for row in rows[:_MOST_NAMED])
        more = f" and {len(rows) - _MOST_NAMED:,} more" if len(rows) > _MOST_NAMED else ""
        return shorten_text(f"{shown}{more}" or f"No fact of {names[place]}.", 300)
