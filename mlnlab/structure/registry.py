"""The structure learners by their names in the paper, and what each leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.lhl import LhlParams

_LIFTING = ("penalty", "cluster_predicates")
_CLAUSES = (
    "longest", "fewest", "sampled", "fraction", "length_penalty", "path_length_penalty", "signs", "singles",
    "together", "dangling", "assembly", "least_gain", "prior_scale", "units", "pooled", "pure_paths",
    "deviation",
)  # fmt: skip
_RULES = ("smoothing", "likelihood", "membership_prior")


@dataclass(frozen=True, slots=True)
class Method:
    """A structure learner: its name, what sets it apart, what options it takes, and which are fixed."""

    name: str
    description: str
    takes: tuple[str, ...]
    fixed: Mapping[str, object] = field(default_factory=dict)
    only_lifts: bool = False
    citation: str = "Kok and Domingos 2009"

    def settings(self, **options: object) -> LhlParams:
        """Return the parameters; an option that means nothing to the method is refused."""
        names = [name for name in self.takes if name not in self.fixed]
        for name in options:
            if name in names or name == "seed":  # all methods are asked with a seed
                continue
            if name in (*_LIFTING, *_CLAUSES, *_RULES):
                hint = f": it is LHL {self.description}."
            else:
                hint = did_you_mean(name, names) or "."
            raise ArgumentError(f"{self.name} has no option {name:.60}{hint} It takes: {', '.join(names)}.")
        return LhlParams(**{**options, **self.fixed})  # type: ignore[arg-type]


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("lhl", "as in the paper, with clauses", (*_LIFTING, *_CLAUSES)),
        Method(
            "lhl-noheu",
            "without the two heuristics",
            (*_LIFTING, *_CLAUSES),
            {"fewest": 0, "sampled": None},
        ),
        Method("lhl-findpaths", "on hypergraphs that are not lifted", _CLAUSES, {"lifted": False}),
        Method(
            "lhl-liftgraph",
            "with nothing but lifting: an atom prediction rule for each cluster combination",
            (*_LIFTING, *_RULES),
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
