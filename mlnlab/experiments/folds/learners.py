"""Define learners to be compared: records that can travel to other processes.

A learner is the name of a method of :func:`mlnlab.learn_weights`, with options; or a function
``(mln, databases, seed) -> model``. With ``grid=`` its options are chosen as in the thesis (section 4.3.3):
each combination learns from the tuning databases, and the one that is best on the validation databases learns
again from all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.mln.domain_sizes import with_constants_of
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    from mlnlab.model.database.database import Database

Learning = Callable[..., Any]
_OWN = ("method", "grid", "tune_by")


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner under the name that it has in tables."""

    name: str
    method: str | Learning
    options: FrozenMapping[Any]
    grid: FrozenMapping[tuple[Any, ...]]
    tune_by: str = "cll"

    @property
    def settings(self) -> str:
        """A text that differs where results may differ; of a function, its name and source are part of it."""
        parts = [text_of(self.method), self.tune_by if self.grid else ""]
        parts += [f"{name}={text_of(value)}" for name, value in sorted(self.options.items())]
        parts += [f"{name} in {text_of(values)}" for name, values in sorted(self.grid.items())]
        return "; ".join(parts)

    def candidates(self) -> tuple[Learner, ...]:
        """Return a learner without a grid for each combination of its values."""
        combinations = product(*self.grid.values())
        chosen = [dict(zip(self.grid, values, strict=True)) for values in combinations]
        return tuple(
            replace(self, options=FrozenMapping({**self.options, **options}), grid=FrozenMapping())
            for options in chosen
        )

    def learn_model(self, mln: MLN, databases: Sequence[Database], query: Sequence[str], seed: int) -> MLN:
        """Return the learned model, without the constants of the databases that it was learned from."""
        if callable(self.method):
            found = self.method(mln, list(databases), seed, **self.options)
        else:
            from mlnlab.learning.ask.learn_weights import learn_weights

            found = learn_weights(
                mln, list(databases), self.method, list(query), seed=seed, progress=False, **self.options
            )
        model = found if isinstance(found, MLN) else getattr(found, "mln", None)
        if not isinstance(model, MLN):
            raise ArgumentError(f"The learner {self.name:.60} returned {found!r:.60} instead of a model.")
        known = with_constants_of(mln.vocabulary, [weighted.formula for weighted in model.formulas])
        return replace(model, vocabulary=replace(model.vocabulary, types=known.types))


def text_of(value: object) -> str:
    """Return a value as a text that is the same in every process: no address in memory, whatever it is."""
    if isinstance(value, partial):
        bound = ", ".join(
            [*map(text_of, value.args), *(f"{k}={text_of(v)}" for k, v in sorted(value.keywords.items()))]
        )
        return f"{text_of(value.func)} with {bound}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(text_of, value))}]"
    if callable(value) and not isinstance(value, type) and hasattr(value, "__qualname__"):
        try:
            source = inspect.getsource(value)
        except (OSError, TypeError):
            source = ""
        return f"{value.__module__}.{value.__qualname__}: {source}"
    shown = repr(value)
    return shown if " at 0x" not in shown else f"a {type(value).__module__}.{type(value).__qualname__}"


def learners_of(given: Mapping[str, object] | Sequence[str]) -> tuple[Learner, ...]:
    """Return the learners of ``{"cd": "cd", "slow": {"method": "cd", "rate": 1e-3}, "ours": function}``."""
    if isinstance(given, str):
        given = [given]
    listed: list[tuple[object, object]] = []
    if isinstance(given, Mapping):
        listed = list(given.items())
    elif isinstance(given, Iterable):
        listed = [(name, name) for name in given]
    if not listed:
        raise ArgumentError(
            'Name at least one learner: ml.cross_validate(mln, dbs, learners={"pll": "pll"}, ...).'
        )
    names = [str(name) for name, _ in listed]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"Two learners are called {name:.60}; each needs a name of its own.")
    return tuple(_learner(str(name), value) for name, value in listed)


def _learner(name: str, value: object) -> Learner:
    if isinstance(value, Learner):
        return replace(value, name=name)
    if isinstance(value, str) or callable(value):
        value = {"method": value}
    if not isinstance(value, Mapping) or not (
        isinstance(value.get("method"), str) or callable(value.get("method"))
    ):
        raise ArgumentError(
            f"The learner {name:.60} is {value!r:.60}; a learner is a method's name, a function "
            '(mln, databases, seed) -> model, or a mapping such as {"method": "cd", "rate": 0.01}.'
        )
    if isinstance(value["method"], str):
        from mlnlab.learning.ask.presets import find_preset

        find_preset(value["method"])
    grid = value.get("grid", {})
    if not isinstance(grid, Mapping) or not all(isinstance(v, list | tuple) and v for v in grid.values()):
        raise ArgumentError(
            f'The grid of {name:.60} names options with lists of values, as {{"rate": [0.1, 1]}}.'
        )
    tune_by = value.get("tune_by", "cll")
    if tune_by not in ("cll", "auc"):
        raise ArgumentError(f'tune_by of {name:.60} is "cll" or "auc", not {tune_by!r:.60}.')
    options = {str(key): one for key, one in value.items() if key not in _OWN}
    tried = {str(key): tuple(values) for key, values in grid.items()}
    return Learner(name, value["method"], FrozenMapping(options), FrozenMapping(tried), tune_by)
