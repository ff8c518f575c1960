"""Step through an estimated count, and flip atoms of its world by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.display.counting.atom_buttons import list_atoms, with_atom_buttons
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.model.database.ground_atom_text import ground_atom_from
from mlnlab.widgets.run.remarking_view import RemarkingView
from mlnlab.widgets.run.session import Session

if TYPE_CHECKING:
    from mlnlab.counting.steps.cluster_steps import ClusterRun, FlipSteps
    from mlnlab.logic.formulas.formulas import Atom
    from mlnlab.logic.formulas.ground_atoms import GroundAtom


class FlipStepper(RemarkingView):
    r"""A stepper through messages or flips; a click on an atom flips it, as ``flip`` does.

    From the first flip on a step is a flip: the run is then that of the flips made so far, up to the step
    that is looked at, and of the new one.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\nFriends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> view = ml.stepper(ml.counting_steps(mln, db, method="ijgp", i=3), delay=0)
    >>> view.flip("Friends(Carl, Anna)")
    >>> view.shown.state.atom, view.shown.state.estimate
    ('Friends(Carl, Anna)', 24.0)
    >>> view.close()
    """

    def __init__(self, source: ClusterRun[Any], **steering: Any) -> None:  # noqa: ANN401 - those of a session
        self._source, self._steering = source, steering
        super().__init__(Session(source, **steering), with_atom_buttons(source, picture_of(source)))

    def flip(self, atom: str | GroundAtom | Atom) -> None:
        """Flip an atom in the world of the step that is looked at."""
        known, step = ground_atom_from(atom, self._source.facts.vocabulary), self.shown
        if step is not None:
            self._begin_anew(self._source.with_flip(known, step.state))

    def _begin_anew(self, source: FlipSteps) -> None:
        """Go to the last flip of another run."""
        session = Session(source, **self._steering)
        self._session.close()
        with self._lock:
            self._source, self._session = source, session
            self._picture = with_atom_buttons(source, picture_of(source))
            self._part = next(iter(self._picture.parts))
            self._sent = None
        session.begin()
        session.changed = self._draw_frames
        self.step(len(source.flips))

    def choose(self, name: str) -> None:
        """Flip the atom whose button was pressed."""
        word, _, number = name.partition("-")
        atoms = list_atoms(self._source)
        if word == "flip" and number.isdecimal() and int(number) < len(atoms):
            self.flip(atoms[int(number)])
