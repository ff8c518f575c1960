"""The stepper of LiftGraph: merges one by one, and merges tried, kept and undone by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mlnlab.display.structure.lift.lift_pictures import Looking, picture_at
from mlnlab.display.structure.lift.lift_run_view import Told, lift_view
from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.runs.breakpoints import Break
from mlnlab.widgets.run.remarking_view import RemarkingView
from mlnlab.widgets.run.resuming import states_from
from mlnlab.widgets.run.session import Session
from mlnlab.widgets.view.view_arguments import read_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer, Step
    from mlnlab.structure.lift.lift_graph import LiftGraph, LiftState, Merge

_SECONDS = 600.0


class LiftStepper(RemarkingView):
    """A stepper through a run of LiftGraph; every click on its picture is a method too.

    ``next_merge``, ``run_to`` and ``run_until_together`` go on to a merge of a type, to a number of clusters
    and to where two clusters are one, ``gain`` computes the gain of any merge, ``merge`` makes one by hand
    from the step that is looked at on, ``undo`` takes it back. Clusters are named by any of their constants
    (or predicates, where these are clustered too).

    >>> import mlnlab as ml
    >>> view = ml.stepper(ml.lift_graph(ml.sample("department").db), delay=0)
    >>> view.step()
    >>> round(view.gain("Paula", "Pedro").gain, 2)
    -8.32
    >>> view.merge("Paula", "Pedro")
    >>> view.shown.state.clusters
    14
    >>> view.undo()
    >>> view.shown.state.clusters
    15
    >>> view.close()
    """

    def __init__(
        self,
        source: LiftGraph,
        *,
        stop: Predicate | None = None,
        breaks: Iterable[Predicate] | None = (),
        observers: Iterable[Observer] | None = (),
        delay: float = 0.0,
    ) -> None:
        session = LiftSession(source, stop=stop, breaks=breaks, observers=observers, delay=delay)
        self._source, self._lifting = source, session
        self._chosen: tuple[int, ...] = ()
        self._stops: tuple[Predicate, ...] = ()  # where the run rests once, of next_merge and run_to
        self._looking = Looking(lift_view(source), self._describe_state)
        super().__init__(session, picture_at(self._looking))

    # --- how far to go ------------------------------------------------------------------------

    def next_merge(self, type: str | None = None) -> None:  # noqa: A002 - the paper's word
        """Go on to the next merge of a type, or of any type, through recorded steps and then new ones."""
        types = self._source.problem.clustered_types
        if type is not None and type not in types:
            raise ArgumentError(
                f"There is no type {type!s:.60} to cluster{did_you_mean(str(type), types) or '.'}"
            )
        words = f"The next merge{f' of {type}' * (type is not None)}"
        self._go_until(words, lambda state: state.merge is not None and type in {None, state.merge.type})

    def run_to(self, clusters: int) -> None:
        """Go on until no more clusters than this are left, or nothing gains any more."""
        most = read_number(clusters, "The number of clusters to leave")
        if most < 1:
            raise ArgumentError(f"At least one cluster must be left, not {most}.")
        self._go_until(f"No more than {count_of(most, 'cluster')}", lambda state: state.clusters <= most)

    def run_until_together(self, first: str | int, second: str | int) -> None:
        """Go on until two clusters of the step that is looked at are one, or nothing gains any more."""
        one, other = self._clusters(first, second)
        self._source.gain(self._lifting.looked_at().state, one, other)  # raises where they never can be
        names = " and ".join(self._source.problem.name_of(cluster) for cluster in (one, other))

        def together(labels: NDArray[np.int64]) -> bool:
            return bool(labels[one] == labels[other])

        self._go_until(f"{names} merge", lambda state: together(self._source.labels(state)))

    def pause_when_together(self, *constants: str) -> None:
        """Let the run pause where constants come together in one cluster; ``breaks`` takes any others."""
        self.breaks = (*self.breaks, self._source.breaks.together(*constants))

    def _go_until(self, words: str, wanted: Callable[[LiftState], bool]) -> None:
        """Look at the next recorded step that is wanted, or run until there is one."""
        shown = self._lifting.looked_at()
        for index in self.trace.indices:
            if index > shown.index and wanted(self.trace.seek(index).state):
                self.seek(index)
                return
        live = self.live
        if live is None or live.ended:
            self.seek(self.trace.indices[-1])
            return
        last = self.trace[-1].index
        once = iter([True])

        def has_reached(_before: Step[Any] | None, step: Step[Any]) -> bool:
            return step.index > last and wanted(step.state) and next(once, False)

        rest = Break(words, has_reached)
        self.breaks = (*(one for one in self.breaks if one not in self._stops), rest)
        self._stops = (rest,)
        self.play()

    # --- by hand ------------------------------------------------------------------------------

    def gain(self, first: str | int, second: str | int) -> Merge:
        """Return the gain, with its terms, of merging two clusters of the shown step."""
        state = self._lifting.looked_at().state
        return self._source.gain(state, *self._clusters(first, second))

    def try_merge(self, first: str | int, second: str | int) -> None:
        """Show the gain of merging two clusters; ``keep`` merges them."""
        clusters = self._clusters(first, second)
        self._source.gain(self._lifting.looked_at().state, *clusters)  # raises where it cannot be
        self._choose(clusters)

    def keep(self) -> None:
        """Make the merge that is tried; the run goes on from there."""
        if len(self._chosen) < 2:
            raise ArgumentError("No merge is tried: click two clusters, or call try_merge(...), first.")
        self._by_hand(*self._chosen)

    def _run_until_chosen(self) -> None:
        if len(self._chosen) == 2:
            chosen, self._chosen = self._chosen, ()  # what comes is looked at without them
            self.run_until_together(*chosen)

    def leave(self) -> None:
        """Leave the clusters that were chosen as they are."""
        self._choose(())

    def merge(self, first: str | int, second: str | int) -> None:
        """Merge two clusters of the step that is looked at by hand; the run goes on from there."""
        self._by_hand(*self._clusters(first, second))

    def undo(self) -> None:
        """Take back the merge by hand that is looked at; the run goes on from the step before it."""
        step = self._lifting.looked_at()
        before = self._looking.view.step_before(step, self.trace)
        if not step.state.by_hand or before is None:
            raise ArgumentError("This step is not a merge by hand; go_on_from(...) returns to any step.")
        self.go_on_from(before)

    def go_on_from(self, index: int | None = None) -> None:
        """Let the run continue from an earlier step, without index from the one that is looked at."""
        if index is not None:
            self.seek(index)
        self._changed_by(lambda: self._lifting.go_on_from(self._lifting.looked_at()))

    def _by_hand(self, first: int, second: int) -> None:
        self._changed_by(lambda: self._lifting.merge(first, second))

    def _changed_by(self, change: Callable[[], None]) -> None:
        self._lifting.remark = ""
        self._chosen = ()
        change()
        self._redraw()

    def _clusters(self, first: str | int, second: str | int) -> tuple[int, int]:
        state = self._lifting.looked_at().state
        one, other = self._looking.view.clusters_of(state, (first, second))
        return one, other

    def _choose(self, clusters: Sequence[int]) -> None:
        self._chosen = tuple(clusters)
        self._redraw()

    # --- what a page says ---------------------------------------------------------------------

    def choose(self, name: str) -> None:
        """Choose a cluster or a pair to be looked at closely, or press a button of the picture."""
        word, _, rest = name.partition("-")
        labels = self._source.labels(self._lifting.looked_at().state)
        numbers = [int(part) for part in rest.split("-") if part.isdecimal()]
        here = all(number < len(labels) for number in numbers)
        if word == "act":
            self._press(rest, numbers)
        elif word in {"cluster", "constant", "predicate", "pair"} and here:
            clusters = [int(labels[number]) for number in numbers]
            if word == "pair" and len(clusters) == 2:
                self.try_merge(*numbers)
            elif len(clusters) == 1:
                self._click(clusters[0])

    def _click(self, cluster: int) -> None:
        """Choose a cluster beside the one that was chosen, where both are of one type; else it alone."""
        type_named, chosen = self._source.problem.name_type, self._chosen
        if chosen == (cluster,):
            self._choose(())
        elif len(chosen) == 1 and type_named(chosen[0]) == type_named(cluster):
            self._choose((*chosen, cluster))
        else:
            self._choose((cluster,))

    def _press(self, button: str, numbers: Sequence[int]) -> None:
        """Answer a button of the picture; an unknown name does nothing."""
        acts: dict[str, Callable[[], None]] = {
            "keep": self.keep, "leave": self.leave, "undo": self.undo, "return": self.go_on_from,
            "together": self._run_until_chosen,
        }  # fmt: skip
        types = self._source.problem.clustered_types
        if button in acts:
            acts[button]()
        elif button.startswith("type-") and numbers and numbers[0] < len(types):
            self.next_merge(types[numbers[0]])
        elif button.startswith("until-") and numbers:
            self.run_to(numbers[0])

    def _describe_state(self) -> Told:
        """Return the state that the picture shows; clusters chosen at another step are left out."""
        labels = self._source.labels(self._lifting.looked_at().state)
        chosen = self._chosen if all(labels[cluster] == cluster for cluster in self._chosen) else ()
        return Told(chosen, self._lifting.returns, self._lifting.is_newest)


# --- merge by hand, and return to earlier steps -------------------------------------------------

RESTING_SECONDS = 30.0


class LiftSession(Session):
    """Steers a run of LiftGraph: a merge by hand holds from the shown step on."""

    source: LiftGraph

    def __init__(self, source: LiftGraph, **options: Any) -> None:  # noqa: ANN401 - those of a session
        super().__init__(source, **options)
        self.returns: dict[int, int] = {}  # of each step that is an earlier one again, which

    def merge(self, first: int, second: int) -> None:
        """Merge two clusters of the step that is looked at; the newest step is then the merged one."""
        state = self.looked_at().state
        self.source.gain(state, first, second)  # raises before the run is given up
        self._branch(lambda: self.source.merged_by_hand(state, first, second))

    def go_on_from(self, step: Step[LiftState]) -> None:
        """Let the run continue with a step as its newest."""
        newest = self._newest()
        self._branch(lambda: states_from(self.source, step.state))
        if newest is not None:
            self.returns[newest.index + 1] = step.index

    def looked_at(self) -> Step[LiftState]:
        """Return the step that is looked at."""
        step = self.shown
        if step is None:
            raise ArgumentError("LiftGraph has made no step yet.")
        return step

    @property
    def is_newest(self) -> bool:
        """Whether the newest step is looked at."""
        newest = self._newest()
        return newest is None or self.looked_at().index == newest.index

    def _branch(self, states: Callable[[], Iterator[Any]]) -> None:
        """Let other states follow the newest step, and make the first of them."""
        newest = self._newest()
        if newest is None or self.replays:
            raise ArgumentError(
                "A recording is only looked at; ml.stepper(ml.lift_graph(...)) can be changed."
            )
        self.close(RESTING_SECONDS)
        self._looking_at = None
        self._begin(states, newest.index + 1, newest.seconds)
        self.begin()
