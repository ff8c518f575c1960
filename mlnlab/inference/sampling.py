"""``ml.sampler``: an iterative method of inference as an object to iterate over, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.grounding.network_size import open_atoms_of
from mlnlab.grounding.question import Question, opening
from mlnlab.inference.method import MARGINALS, Method
from mlnlab.inference.registry import method_named, methods
from mlnlab.inference.state_reading import MarginalsReader
from mlnlab.steps.step import Step, numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mlnlab.inference.marginals import Marginals
    from mlnlab.inference.state_reading import StateReader
    from mlnlab.logic.formulas import Formula
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.steps.step import State


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """A method with its parameters and its question; each iteration over it is a run of its own.

    It yields states, so it can be handed to ``steps.run``, to a ``Trace`` or to a live driver as it is.
    """

    method: Method
    params: Any
    question: Question

    def __iter__(self) -> Iterator[State]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[State]]:
        """Yield the states with their numbers and times."""
        return numbered(self)

    def resume(self, state: State | None) -> Iterator[State]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return self.method.required(self.method.steps)(self.params, self.question, state)

    def marginals(self, state: State) -> Marginals:
        """Return the probabilities as far as they are known in a state."""
        return self.method.required(self.method.estimate)(self.params, self.question, state)

    def reader(self) -> StateReader:
        """Return what reads many states: the model is grounded once, here, and not again for each."""
        if self.method.reader is None:
            return MarginalsReader(self.question, self.marginals)
        return self.method.reader(self.params, self.question)

    def estimator(self) -> Callable[[State], Marginals]:
        """Return :meth:`marginals` as a function that grounds the model only once."""
        return self.reader().marginals

    def __repr__(self) -> str:
        atoms = sum(len(choice.atoms) for choice in self.question.choices)
        if not self.method.lists_atoms and self.question.asked is not None:
            atoms = sum(open_atoms_of(self.question.asked).values())
        return f"<Sampler {self.method.name}: {count_of(atoms, 'open atom')}, {self.params}>"


def sampler(
    name: str,
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the fixed public name
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    **options: object,
) -> Sampler:
    r"""Return a sampler to iterate over; what is asked is said as in ``infer``, the options are the method's.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> sampler = ml.sampler("gibbs", mln, db, ["Cancer"], samples=100, burn_in=0, chains=2, seed=1)
    >>> states = list(sampler)
    >>> states[-1].samples
    100
    >>> sampler.marginals(states[-1]).error("Cancer(Anna)") < 0.1
    True
    """
    method = method_named(name, MARGINALS)
    if method.steps is None or method.estimate is None:
        others = ", ".join(other.name for other in methods(MARGINALS) if other.steps is not None)
        raise ArgumentError(f"{name} does not go step by step; these do: {others}.")
    params = method.settings(**options)
    return Sampler(method, params, method.posed(opening(mln, db, query, open, given, closed)))
