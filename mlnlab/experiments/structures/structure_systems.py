"""Define the systems that a structure evaluation compares, and the models that they learn.

A system is the name of a method of :func:`mlnlab.learn_structure`, with options; a function
``(databases, seed) -> model``; or models that are there already, one for each fold. A model is an MLN,
anything that has one as ``.mln``, or anything with ``probabilities(database, predicates)``, as cluster rules
have it. What is learned may have taken hours, so that it is kept in a file of its own before it is tested.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mlnlab.errors import ArgumentError
from mlnlab.experiments.folds.fold_results import file_of, fingerprint, hash_texts
from mlnlab.experiments.folds.fold_runs import begin_peak, peak_bytes
from mlnlab.experiments.folds.kept_files import has_declared_types, keep, read_record
from mlnlab.experiments.folds.learners import text_of
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Vocabulary
from mlnlab.model.mln.domain_sizes import with_constants_of
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.files.checkpoint import previous_path
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from pathlib import Path

    from mlnlab.evaluation.judged_atoms import AtomProbabilities
    from mlnlab.model.database.database import Database
    from mlnlab.steps.step import State, Step

Learning = Callable[..., Any]
_NOBODY = NamedDomain()
_OWN = ("method", "weights", "most_seconds")  # the others are options of learning


@runtime_checkable
class Predictor(Protocol):
    """A model that is no MLN: it says itself how probable atoms are."""

    def probabilities(self, database: Database, predicates: Sequence[str], /) -> AtomProbabilities:
        """Return the probabilities of all atoms of some predicates, given the facts of the others."""
        ...


Model = MLN | Predictor


@dataclass(frozen=True, slots=True)
class System:
    """A way to get a model for a fold, under the name that it has in tables."""

    name: str
    method: str | Learning = ""
    options: FrozenMapping[Any] = FrozenMapping()  # noqa: RUF009 - it is frozen
    models: FrozenMapping[Any] = FrozenMapping()  # noqa: RUF009 - fold by fold, where they are there already
    weights: FrozenMapping[Any] = FrozenMapping()  # noqa: RUF009 - how weights are learned anew, if they are
    most_seconds: float = inf  # of the processor, for a fold

    def settings(self, fold: str) -> str:
        """Return a text that differs where the learned model may differ."""
        if self.models:
            model = model_of(self.models[fold], self.name)
            return model.to_text() if isinstance(model, MLN) else text_of(model)
        limited = [] if self.most_seconds == inf else [f"most_seconds={self.most_seconds!r}"]
        return "; ".join([self.run_settings(), *limited])

    def run_settings(self) -> str:
        """Return a text that differs where a run to its end would differ."""
        options = sorted((name, one) for name, one in self.options.items() if name != "most_hours")
        return "; ".join([text_of(self.method), *(f"{name}={text_of(one)}" for name, one in options)])

    @property
    def learner(self) -> str:
        """Whose learned models are one and the same: a method's, or a function's by its name in tables."""
        return self.method if isinstance(self.method, str) else self.name

    def learn_model(
        self, fold: str, databases: Sequence[Database], seed: int, checkpoint: Path | None = None
    ) -> Any:  # noqa: ANN401 - whatever it returns
        """Return the learned model, or an object that has one: the best so far where the time is over.

        A method writes to the ``checkpoint`` as it goes, and goes on from there another time.
        """
        if self.models:
            return self.models[fold]
        if callable(self.method):
            return self.method(list(databases), seed, **self.options)
        from mlnlab.structure.ask.learn_structure import learn_structure

        limit = TimeLimit(self.most_seconds)
        try:
            found = learn_structure(
                list(databases), method=self.method, seed=seed, observers=[limit], checkpoint=checkpoint,
                **self.options,
            )  # fmt: skip
        except Interrupted as stopped:
            if not limit.is_over:
                raise
            return replace(stopped.so_far(), remarks=(f"stopped after {self.most_seconds:g} seconds",))
        for path in () if checkpoint is None else (checkpoint, previous_path(checkpoint)):
            path.unlink(missing_ok=True)
        return found


class TimeLimit:
    """Stop a run as Ctrl-C does, after some seconds of the processor, with the best model so far."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds
        self.is_over = False

    def on_step(self, step: Step[State]) -> None:  # noqa: ARG002 - any step will do
        """Stop where the time is over."""
        if time.process_time() > self._end:
            self.is_over = True
            raise KeyboardInterrupt

    def on_end(self, last: Step[State]) -> None:
        """Let the run end."""


def systems_of(given: object, folds: Sequence[str]) -> tuple[System, ...]:
    """Return the systems of ``{"LHL": "lhl", "ours": function, "hand-made": [mln, mln, ...]}``."""
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(n, str) for n in given):
        listed: list[tuple[object, object]] = [(name, name) for name in given]
    elif isinstance(given, Mapping) and not _is_options(given):
        listed = list(given.items())
    else:
        listed = [(given if isinstance(given, str) else "model", given)]
    if not listed:
        raise ArgumentError('Name at least one system: ml.evaluate_structure({"LHL": "lhl"}, databases).')
    return tuple(_system(str(name), value, folds) for name, value in listed)


def _is_options(given: Mapping[Any, Any]) -> bool:
    return isinstance(given.get("method"), str) or callable(given.get("method"))


def _system(name: str, value: object, folds: Sequence[str]) -> System:
    if isinstance(value, str):
        return System(name, value)
    if _has_model(value):
        return System(name, models=FrozenMapping(dict.fromkeys(folds, value)))
    if isinstance(value, Mapping) and _is_options(value):
        options = {str(key): one for key, one in value.items() if key not in _OWN}
        weights = value.get("weights", {})
        if not isinstance(weights, Mapping):
            raise ArgumentError(
                f'The weights of {name:.60} are options of learning them, as {{"method": "pll"}}, not '
                f"{weights!r:.60}."
            )
        return System(
            name, value["method"], FrozenMapping(options), weights=FrozenMapping(dict(weights)),
            most_seconds=value.get("most_seconds", inf),
        )  # fmt: skip
    if callable(value):
        return System(name, value)
    if isinstance(value, Mapping):
        return System(
            name, models=FrozenMapping(_of_folds(name, {str(k): v for k, v in value.items()}, folds))
        )
    if isinstance(value, Sequence):
        if len(value) != len(folds):
            raise ArgumentError(
                f"{name:.60} has {len(value)} models for {len(folds)} folds; give one for each."
            )
        return System(name, models=FrozenMapping(dict(zip(folds, value, strict=True))))
    raise ArgumentError(
        f'The system {name:.60} is {value!r:.60}; a system is a method\'s name such as "lhl", a '
        'mapping such as {"method": "lhl", "longest": 4}, a function (databases, seed) -> model, or a '
        "model for each fold."
    )


def _of_folds(name: str, given: Mapping[str, object], folds: Sequence[str]) -> dict[str, object]:
    missing = [fold for fold in folds if fold not in given]
    if missing:
        raise ArgumentError(f"{name:.60} has no model for the fold {missing[0]:.60}.")
    return {fold: given[fold] for fold in folds}


def _has_model(value: object) -> bool:
    return isinstance(value, MLN | Predictor) or isinstance(getattr(value, "mln", None), MLN)


def model_of(found: object, name: str) -> Model:
    """Return the model in a system's result."""
    if isinstance(found, MLN | Predictor):
        return found
    inner = getattr(found, "mln", None)
    if isinstance(inner, MLN):
        return inner
    raise ArgumentError(f"The system {name:.60} returned {found!r:.60} instead of a model.")


def for_testing(model: Model, vocabulary: Vocabulary) -> Model:
    """Return a model that knows all predicates, and no constants but those that its formulas mention."""
    if not isinstance(model, MLN):
        return model
    bare = replace(vocabulary, types=FrozenMapping(dict.fromkeys(vocabulary.types, _NOBODY)))
    known = with_constants_of(bare, [weighted.formula for weighted in model.formulas])
    return replace(model, vocabulary=known)


def relearn_weights(model: Model, databases: Sequence[Database], system: System, seed: int) -> Model:
    """Return a model with weights learned anew from the same databases, where its system asks for that.

    ``deviation`` is that of a Gaussian prior; all else is as :func:`mlnlab.learn_weights` has it.
    """
    if not system.weights or not isinstance(model, MLN):
        return model
    from mlnlab.learning.ask.learn_weights import learn_weights
    from mlnlab.learning.problems.priors import Gaussian

    options = dict(system.weights)
    if "deviation" in options:
        options["prior"] = Gaussian(0, options.pop("deviation"))
    return learn_weights(model, list(databases), seed=seed, progress=False, **options).mln


# --- learning, and keeping what was learned ---------------------------------------------------------


@storable("structure_systems.Learned")
@dataclass(frozen=True, slots=True)
class Learned:
    """The text of a model that a system learned on a fold, with its time and memory."""

    system: str  # its learner
    fold: str
    settings: str  # a hash of what it depends on
    text: str
    seconds: float = nan
    peak_bytes: float = nan
    told: str = ""  # what the learner says of its run


def learned_on(
    system: System, fold: str, databases: Sequence[Database], seed: int, settings: str, folder: Path | None
) -> tuple[Model, Learned]:
    """Return a system's model, learned now or kept from before."""
    kept = None if folder is None or system.models else load_learned(folder, system.learner, settings)
    if kept is not None:
        return MLN.from_text(kept.text), kept
    begin_peak()
    began = time.process_time()
    found = system.learn_model(fold, databases, seed, _checkpoint(folder, system, databases, seed))
    seconds = nan if system.models else time.process_time() - began
    model = model_of(found, system.name)
    text = model.to_text() if isinstance(model, MLN) else ""
    told = "" if found is model and text else "; ".join([repr(found)[:500], *getattr(found, "remarks", ())])
    record = Learned(system.learner, fold, settings, text, seconds, peak_bytes(), told)
    if folder is not None and text and not system.models:
        keep(_file(folder, record.system, record.settings), record)
    return model, record


def _checkpoint(folder: Path | None, system: System, databases: Sequence[Database], seed: int) -> Path | None:
    """Return the file in which a method keeps an unfinished run; functions and models have none."""
    if folder is None or system.models or callable(system.method):
        return None
    settings = hash_texts(system.run_settings(), *(fingerprint(db) for db in databases), str(seed))
    return file_of(folder, "unfinished", system.learner, settings).with_suffix(".npz")


def load_learned(folder: Path, system: str, settings: str) -> Learned | None:
    """Return a model learned before; ``None`` if there is none, or its file is damaged."""
    found = read_record(_file(folder, system, settings))
    same = isinstance(found, Learned) and (found.system, found.settings) == (system, settings)
    return found if same and has_declared_types(found) and found.text else None


def _file(folder: Path, system: str, settings: str) -> Path:
    return file_of(folder, "model", system, settings)
