"""``ml.sampler``: an iterative method of inference as an object to iterate over, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.grounding.networks.network_size import open_atoms_of
from mlnlab.grounding.question.question import Question, opening
from mlnlab.inference.ask.run_costs import refuse_beyond_chains
from mlnlab.inference.method import MARGINALS, Method
from mlnlab.inference.method_registry import find_method, methods
from mlnlab.inference.sampling.state_reading import MarginalsReader, StateReader
from mlnlab.steps.step import State, Step, number_states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN


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
        return number_states(self)

    def resume(self, state: State | None) -> Iterator[State]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return self.method.require_function(self.method.steps)(self.params, self.question, state)

    def marginals(self, state: State) -> Marginals:
        """Return the probabilities as far as they are known in a state."""
        known = self.method.read(self.params, self.question, state)
        return self.method.require_function(self.method.estimate)(self.params, self.question, known)

    def reader(self) -> StateReader:
        """Return a reader of states; it grounds the model once, not again for each state."""
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
    r"""Return a sampler to iterate over: queries as in ``infer``, options of the method.

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
    method = find_method(name, MARGINALS)
    if method.steps is None or method.estimate is None:
        others = ", ".join(other.name for other in methods(MARGINALS) if other.steps is not None)
        raise ArgumentError(f"{name} cannot be run step by step; these can: {others}.")
    params = method.settings(**options)
    asked = opening(mln, db, query, open, given, closed)
    refuse_beyond_chains(method, params, asked)
    return Sampler(method, params, method.pose(asked))
