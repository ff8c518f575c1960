"""Hold the result of a sample generator: the text of a model and the texts of its databases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

from .plain_answers import Answers
from .rules import Atom, Facts, Rule, Schema, domains_of, rule_text, true_groundings

_DIGITS = 12  # of the published answers; the last ones of a float differ between machines


@dataclass(frozen=True, slots=True)
class SampleTexts:
    """A data set as text: a model, its databases by name, and exact answers for the engine to reach."""

    name: str
    model: str
    databases: FrozenMapping[str]
    answers: Mapping[str, object] = field(default_factory=dict)

    def load(self) -> tuple[MLN, list[Database]]:
        """Return the model and the databases."""
        mln = MLN.from_text(self.model, name=f"{self.name}.mln")
        named = self.databases.items()
        return mln, [Database.from_text(text, mln, name=f"{name}.db") for name, text in named]


def model_text(comment: str, schema: Schema, rules: Iterable[Rule]) -> str:
    """Return a model: a comment, the declarations, and the rules."""
    lines = [f"// {line}".rstrip() for line in comment.strip().split("\n")]
    lines += ["", *(f"{name}({', '.join(types)})" for name, types in schema.items()), ""]
    return "\n".join([*lines, *map(rule_text, rules)]) + "\n"


def facts_text(comment: str, facts: Facts, false: Iterable[Atom] = (), unknown: Iterable[Atom] = ()) -> str:
    """Return a database: a comment, the true atoms, ``!`` false ones, ``?`` unknown ones."""
    lines = [f"// {line}".rstrip() for line in comment.strip().split("\n")]
    lines += [str(GroundAtom(predicate, row)) for predicate, rows in facts.items() for row in rows]
    lines += [f"!{GroundAtom(*atom)}" for atom in false]
    lines += [f"?{GroundAtom(*atom)}" for atom in unknown]
    return "\n".join(lines) + "\n"


def counts_of(rules: Iterable[Rule], schema: Schema, facts: Facts) -> list[int]:
    """Return n_i of each rule in the closed world of the facts."""
    domains = domains_of(facts, schema)
    return [true_groundings(rule, schema, facts, domains) for rule in rules]


def sizes_of(facts: Facts, schema: Schema) -> dict[str, object]:
    """Return how many constants of each type and how many true atoms there are."""
    domains = domains_of(facts, schema)
    return {
        "constants": {type_: len(constants) for type_, constants in domains.items()},
        "true_atoms": sum(map(len, facts.values())),
        "ground_atoms": sum(math.prod(len(domains[t]) for t in types) for types in schema.values()),
    }


def question(database: str, query: Sequence[str], answers: Answers) -> dict[str, object]:
    """Return exact answers as they are published."""
    return {
        "database": database,
        "query": list(query),
        "unknown_atoms": len(answers.marginals),
        "log_z": rounded(answers.log_z),
        "marginals": {str(GroundAtom(*atom)): rounded(p) for atom, p in answers.marginals.items()},
        "map": {
            "true_atoms": [str(GroundAtom(*atom)) for atom in answers.map_true],
            "log_weight": rounded(answers.map_log_weight),
            "gap": rounded(answers.map_gap),
        },
    }


def rounded(value: float) -> float:
    """Return the number with as many digits as are published."""
    return float(f"{value:.{_DIGITS}g}")
