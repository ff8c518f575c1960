"""A table of clauses whose structure is changed by hand; weights and counts are found in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

from traitlets import Dict

from mlnlab.display.structure.clause_table_rows import ShownTable
from mlnlab.display.structure.clause_table_scenes import clause_table_scene
from mlnlab.errors import ArgumentError
from mlnlab.structure.ask.clause_provenance import GroundingsTold
from mlnlab.structure.ask.clause_table import ClauseTable, clause_table
from mlnlab.widgets.view.newest import Newest
from mlnlab.widgets.view.view import View, script_of

if TYPE_CHECKING:
    from mlnlab.structure.paths.dropped_paths import DroppedPaths
    from mlnlab.structure.results.by_hand import Named
    from mlnlab.structure.results.learned_structure import LearnedStructure

_MOST_TRUTHS = 20  # groundings that are true, which are listed
FIRST_SECONDS = 0.5  # a call waits so long for weights and counts, so that quick ones are there at once

Edits = tuple[tuple[bool, int], ...]  # whether to keep a clause, and its place
Known = dict[Edits, "tuple[LearnedStructure, float]"]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Results of the background edit that are ready so far."""

    learned: LearnedStructure | None = None
    wpll: float = nan
    told: GroundingsTold | None = None
    dropped: DroppedPaths | None = None

    def metrics(self) -> Mapping[str, float]:
        """Return nothing: nobody plots this."""
        return {}


class EditedTable(View):
    """Clauses of a table kept and thrown out by hand, with undo.

    Weights are learned again in a thread, so that the page and other cells stay free; ``wait()`` waits for
    them.
    """

    _esm = script_of("clause_table_view.js")
    scene = Dict().tag(sync=True)
    said = Dict().tag(sync=True)  # what was searched for, and what is wrong with it

    def __init__(self, learned: LearnedStructure | ClauseTable) -> None:
        table = learned if isinstance(learned, ClauseTable) else clause_table(learned)  # raises before all
        super().__init__()
        self._original = table.learned
        self._known: Known = {}
        self._told: dict[int, GroundingsTold] = {}
        self._edits: Edits = ()
        self._number = 0
        self._awaited = False  # whether more will be heard; the thread lives a moment longer
        self._newest = Newest(self._take_results, self._report_failure)
        self._shown = ShownTable(table)
        self._drawn = clause_table_scene(self._shown)
        self.scene = self._drawn.to_json()
        self.said = {"text": table.chosen.text, "problem": ""}
        self._ask()

    # --- looking ------------------------------------------------------------------------------

    @property
    def table(self) -> ClauseTable:
        """The table as it is filtered and sorted now; its structure has the edits whose weights are known."""
        return self._shown.table

    @property
    def learned(self) -> LearnedStructure:
        """The structure after all edits; waits for its weights."""
        self.wait()
        return self._shown.table.learned

    @property
    def selected(self) -> int | None:
        """The place of the clause that is looked at closely, among all candidates."""
        return None if self._shown.chosen is None else self._shown.chosen.place

    @property
    def busy(self) -> bool:
        """Whether weights are being learned, or groundings counted."""
        return self._newest.busy

    def wait(self, seconds: float = 600.0) -> bool:
        """Wait for weights and counts, and say whether all are there."""
        return self._newest.wait(seconds)

    # --- by hand ------------------------------------------------------------------------------

    def keep(self, clause: Named | None = None) -> None:
        """Keep a clause, without a name the selected one, and learn all weights again."""
        self._edit(True, clause)

    def throw_out(self, clause: Named | None = None) -> None:
        """Throw a clause out of the model, without a name the selected one, and learn all weights again."""
        self._edit(False, clause)

    def undo(self) -> None:
        """Take the last edit back."""
        if not self._edits:
            raise ArgumentError("Nothing was kept or thrown out here that could be undone.")
        self._edits = self._edits[:-1]
        self._apply()

    def _edit(self, keep: bool, clause: Named | None) -> None:
        named = self.selected if clause is None else clause
        if named is None:
            raise ArgumentError("Name a clause, or select one first.")
        place = self._original.place_of(named)
        inside = self._in_model(place)
        if keep == inside:
            raise ArgumentError(f"That clause is {'in' if inside else 'not in'} the model already.")
        self._edits = (*self._edits, (keep, place))
        self._apply()

    def _in_model(self, place: int) -> bool:
        """Tell whether a clause is in the model after all edits, also those whose weights are to come."""
        for keep, edited in reversed(self._edits):
            if edited == place:
                return keep
        return ClauseTable(self._original).row(place).chosen is not None

    def _apply(self) -> None:
        known = self._structure()
        if known is not None:
            self._take(*known)
        else:
            self._show()
        self._ask()

    def _structure(self) -> tuple[LearnedStructure, float] | None:
        """Return the structure after the edits, and its WPLL, where they are known."""
        return self._known.get(self._edits)

    # --- the thread ---------------------------------------------------------------------------

    def _ask(self) -> None:
        """Ask the thread for the shown values that are not known yet: weights first, then counts."""
        with self._lock:
            if self._ended:
                return
            self._number += 1
            work = self._work()
            self._awaited = bool(work)
            if not work:
                self._show()
                return
        self._newest.ask(lambda: _do_work(work), self._number)
        self._show()
        self._newest.wait(FIRST_SECONDS)

    def _work(self) -> list[Callable[[], Found]]:
        shown, edits, original, known = self._shown, self._edits, self._original, self._known
        work: list[Callable[[], Found]] = []
        if edits not in self._known:
            work.append(lambda: _learn_structure(original, edits, known))
        if shown.chosen is not None and shown.chosen.place not in self._told:
            chosen = shown.chosen
            work.append(lambda: Found(told=chosen.collect_groundings(truths=_MOST_TRUTHS)))
        if shown.shows_dropped and shown.dropped is None:
            work.append(lambda: Found(dropped=original.dropped_paths()))
        return work

    def _take_results(self, found: Found, number: int, last: bool) -> None:
        with self._lock:
            if self._ended or number != self._number:
                return
            self._awaited = not last
            if found.learned is not None:
                self._take(found.learned, found.wpll)
            if found.told is not None and self._shown.chosen is not None:
                self._told[self._shown.chosen.place] = found.told
                self._show(told=found.told)
            if found.dropped is not None:
                self._show(dropped=found.dropped)

    def _report_failure(self, sentence: str, number: int) -> None:
        with self._lock:
            if number == self._number and not self._ended:
                self._awaited = False
                self._show(problem=sentence)

    def _take(self, learned: LearnedStructure, wpll: float) -> None:
        self._show(table=replace(self.table, learned=learned), wpll=wpll)

    # --- drawing ------------------------------------------------------------------------------

    def _show(self, *, problem: str = "", **changes: object) -> None:
        with self._lock:
            if self._ended:
                return
            known = self._structure()
            pending = frozenset() if known is not None else frozenset(place for _, place in self._edits)
            words = (
                ""
                if not self._awaited
                else "computing …"
                if known is not None
                else "weights are being learned …"
            )
            first = self._known.get(())
            shown = replace(
                self._shown, busy=words, pending=pending, edits=len(self._edits),
                problem=problem, wpll_before=first[1] if first else nan, **changes,  # type: ignore[arg-type]
            )  # fmt: skip
            shown = replace(shown, page=min(shown.page, shown.pages - 1))
            self._drawn = clause_table_scene(shown)  # raises before anything is changed
            self._shown = shown
            self.scene = self._drawn.to_json()

    # --- the end ------------------------------------------------------------------------------

    def stop_work(self) -> None:
        """End the work: no page shows it any more."""
        self._newest.close()

    def notice_page(self) -> None:
        """Resume the work that ended when the last page closed."""
        if not self.busy and self._work():
            self._ask()


def _do_work(work: Sequence[Callable[[], Found]]) -> Iterator[Found]:
    return (one() for one in work)


def _learn_structure(original: LearnedStructure, edits: Edits, known: Known) -> Found:
    """Return the structure after edits, and remember it even if the question is out of date by now."""
    if edits not in known:
        learned = original.edited(edits) if edits else original
        known[edits] = learned, learned.wpll
    return Found(*known[edits])
