"""The structure learners by their names in the paper, and what each leaves out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.lhl import LhlParams


@dataclass(frozen=True, slots=True)
class Method:
    """A structure learner: its name, what sets it apart, and the options that are fixed by that."""

    name: str
    description: str
    fixed: Mapping[str, object] = field(default_factory=dict)
    only_lifts: bool = False
    citation: str = "Kok and Domingos 2009"

    def settings(self, **options: object) -> LhlParams:
        """Return the parameters; an option that the method leaves out is refused."""
        known = inspect.signature(LhlParams).parameters
        names = [name for name in known if name != "lifted" and name not in self.fixed]
        for name in options:
            if name in self.fixed:
                raise ArgumentError(f"{self.name} has no option {name}: it is LHL {self.description}.")
            if name not in names:
                hint = did_you_mean(name, names) or "."
                raise ArgumentError(f"{self.name} has no option {name}{hint} It has: {', '.join(names)}.")
        return LhlParams(**{**options, **self.fixed})  # type: ignore[arg-type]


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("lhl", "as in the paper"),
        Method("lhl-noheu", "without the two heuristics", {"fewest": 0, "sampled": None}),
        Method("lhl-findpaths", "on hypergraphs that are not lifted", {"lifted": False}),
        Method(
            "lhl-liftgraph",
            "with nothing but lifting: an atom prediction rule for each cluster combination",
            only_lifts=True,
        ),
    )
}
_TO_COME = {"busl": "BUSL (Mihalkova and Mooney 2007)", "msl": "MSL (Kok and Domingos 2005)"}


def method_named(name: object) -> Method:
    """Return the structure learner of this name."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    names = ", ".join(METHODS)
    if isinstance(name, str) and name in _TO_COME:
        raise ArgumentError(f"{_TO_COME[name]} is not among the structure learners yet. There are: {names}.")
    hint = did_you_mean(str(name), METHODS) or "."
    raise ArgumentError(f"There is no structure learner {name!s:.60}{hint} There are: {names}.")
