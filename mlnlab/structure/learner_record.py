"""Define how a structure learner describes itself: one record at the end of its file.

A learner is one file in ``learners/`` that ends in a ``LEARNER`` record. From the record, and from what its
states tell (``watching/structure_state.py``), follow ``ml.learn_structure`` and ``ml.structure_learner``,
checkpoints and resumption, the best model after an interrupt, the table of candidates, edits by hand, pauses,
the progress line and pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, nan
from typing import TYPE_CHECKING, Any

from mlnlab.logic.checked_options import refuse_unknown_options
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.steps.run_identity import OfRun, settings_text
from mlnlab.structure.clauses.assembly import Weighing
from mlnlab.structure.watching.structure_breaks import StructureBreaks
from mlnlab.structure.watching.structure_line import Line, structure_line

if TYPE_CHECKING:
    from mlnlab.counting.deltas.delta_answers import Executor
    from mlnlab.model.database.database import Database
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.structure.clauses.assembly import RetainedClause
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.paths.variabilized import SupportedPath
    from mlnlab.structure.results.learned_structure import LearnedStructure
    from mlnlab.structure.watching.structure_state import StructureState


@dataclass(frozen=True, slots=True, eq=False)
class StructureTask:
    """The data of a run, who scores clauses, and how long it may take by estimate."""

    given: tuple[Database, ...]
    databases: tuple[Database, ...]  # those, or all of them as one
    executor: Executor | None = None
    most_hours: float = inf


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """The paths and lifted hypergraphs that clauses came from; a learner without them has none."""

    graphs: tuple[LiftedHypergraph, ...] = ()
    paths: tuple[SupportedPath, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The clauses of the final model, and by how much each raised the score, where that is known."""

    clauses: tuple[RetainedClause, ...]
    gains: tuple[float, ...]


def _take_model(task: StructureTask, params: Any, state: StructureState, origins: Origins) -> Chosen:  # noqa: ANN401, ARG001 - each learner has Params of its own
    return Chosen(state.model, (nan,) * len(state.model))


def _keep_defaults(params: Any) -> Weighing:  # noqa: ANN401, ARG001 - as above
    return Weighing()


def _no_origins(task: StructureTask, params: Any, state: Any) -> Origins:  # noqa: ANN401, ARG001 - as above
    return Origins()


def _no_remarks(state: Any) -> tuple[str, ...]:  # noqa: ANN401, ARG001 - as above
    return ()


def _no_flaw(task: StructureTask, params: Any, state: Any) -> str:  # noqa: ANN401, ARG001 - as above
    return ""


def _refuse_nothing(task: StructureTask, params: Any) -> None:  # noqa: ANN401 - as above
    """Accept any data."""


@dataclass(frozen=True, slots=True)
class Learner:
    """A structure learner: its parameters, its states, and the function that yields them.

    ``steps(task, params, start)`` yields the states, those after ``start`` if one is given. The rest has
    defaults: ``refuse(task, params)`` may refuse data before the work begins; ``flaw(task, params, state)``
    says how a state from outside contradicts a run; ``choose`` picks the clauses of the final model, where
    that is more than ``state.model``; ``weigh(params)`` says how their weights are learned; ``trace_back``
    finds the paths that clauses came from; ``remarks`` are sentences about the model of a last state;
    ``result`` makes a result that is no list of clauses.
    """

    name: str
    description: str  # in a few words that follow the name
    citation: str
    needs: str
    params: Callable[..., Any]  # a frozen dataclass that checks its values; ``seed`` is one of them
    state: type[OfRun]
    phases: tuple[str, ...]
    steps: Callable[[StructureTask, Any, Any], Iterator[Any]]
    takes: tuple[str, ...] = ()  # the options that may be given; empty: all parameters
    fixed: Mapping[str, object] = field(default_factory=FrozenMapping)  # parameters that make a variant
    joins: bool = False  # whether it takes all databases as one
    scores: bool = True  # whether it scores clauses, for which some predicate must be open
    refuse: Callable[[StructureTask, Any], None] = _refuse_nothing
    flaw: Callable[[StructureTask, Any, Any], str] = _no_flaw
    text: Callable[[Any], str] = settings_text  # the parameters, as a run's identity has them
    trace_back: Callable[[StructureTask, Any, Any], Origins] = _no_origins
    choose: Callable[[StructureTask, Any, Any, Origins], Chosen] = _take_model
    weigh: Callable[[Any], Weighing] = _keep_defaults
    remarks: Callable[[Any], tuple[str, ...]] = _no_remarks
    result: Callable[[str, StructureTask, Any, Trace[Any], float], LearnedStructure] | None = None
    breaks: Callable[[tuple[Database, ...], Any, tuple[str, ...]], StructureBreaks] = StructureBreaks
    line: Line = structure_line

    @property
    def options(self) -> tuple[str, ...]:
        """The options that may be given, beside the seed."""
        names = self.takes or tuple(getattr(self.params, "__dataclass_fields__", {}))
        return tuple(name for name in names if name not in self.fixed and name != "seed")

    def settings(self, **options: object) -> Any:  # noqa: ANN401 - each learner has Params of its own
        """Return the parameters; an option that means nothing to the learner is refused."""
        known, names = getattr(self.params, "__dataclass_fields__", {}), self.options
        given = [name for name in options if name != "seed"]  # all learners are asked with a seed
        refuse_unknown_options(self.name, given, names, dict.fromkeys(known, f": it is {self.description}."))
        return self.params(**{**options, **self.fixed})
