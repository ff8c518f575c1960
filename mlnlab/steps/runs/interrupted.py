"""Keep the results of a run stopped by Ctrl-C, for ``ml.so_far()``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from mlnlab.errors import ArgumentError

R = TypeVar("R")
_latest: list[Interrupted] = []  # one at most: each new one frees what the one before kept


class Interrupted(KeyboardInterrupt):
    """Raised when a user stops a run; ``known`` returns its results so far, `None` means none.

    ``state`` is the last state, from which a run that can be resumed goes on.
    """

    def __init__(
        self, message: str, known: Callable[[], object] | None = None, state: object = None, *,
        knows_something: bool = True,
    ) -> None:  # fmt: skip
        """Keep the sentence; from now on ``ml.so_far()`` asks this run."""
        super().__init__(message)
        self._known, self.state = known, state
        self.knows_something = knows_something and known is not None
        # A twin that is never raised: a traceback would keep everything that the run held.
        twin = type(self).__new__(type(self), message)
        twin.__dict__.update(self.__dict__)
        _latest[:] = [twin]

    def so_far(self) -> Any:  # noqa: ANN401 - of each run its own
        """Return the results so far; raise an error if there are none."""
        if self._known is None:
            raise ArgumentError(str(self))
        return self._known()

    def results(self, kind: type[R]) -> R | None:
        """Return the results so far if something is known and they are of this type."""
        found = self.so_far() if self.knows_something else None
        return found if isinstance(found, kind) else None

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


@contextmanager
def report_early_stop(name: str, before: str = "its end") -> Iterator[None]:
    """Say in a sentence that work which knows nothing ``before`` its end was stopped."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(f"{name} was stopped; it has no result before {before}.") from None


def so_far() -> object:
    r"""Return the results so far of the last interrupted run: probabilities, weights, a model, paths.

    It is what ``so_far()`` of the interrupt returns, for whoever pressed Ctrl-C in a notebook or at a prompt.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1 Smokes(x)")
    >>> class Finger:
    ...     def on_step(self, step):
    ...         if step.state.samples:
    ...             raise KeyboardInterrupt
    ...
    ...     def on_end(self, last):
    ...         pass
    >>> try:
    ...     ml.infer(mln, {"person": 2}, method="gibbs", burn_in=0, observers=[Finger()])
    ... except KeyboardInterrupt as stopped:
    ...     print(str(stopped).partition("; ")[2])
    ml.so_far() returns its results.
    >>> 0 < ml.so_far()["Smokes(Person1)"] < 1
    True
    """
    if not _latest:
        raise ArgumentError("Nothing has been interrupted yet, so there are no results so far.")
    return _latest[-1].so_far()
