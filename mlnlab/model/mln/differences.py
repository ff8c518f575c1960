"""Compare two models: formulas, declarations, semantics and constants."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mlnlab.logic.formulas.printing import marks_of, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mlnlab.logic.formulas.weights import Weight, WeightedFormula
    from mlnlab.logic.vocabulary import Vocabulary


class Templates(Protocol):
    """The parts of a model that are compared: a vocabulary with weighted formulas."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        ...

    @property
    def formulas(self) -> tuple[WeightedFormula, ...]:
        """The weighted formulas."""
        ...

    @property
    def semantics(self) -> str:
        """How weights are read."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """Formulas added, removed, and those whose weight changed; declarations added and removed."""

    added: tuple[WeightedFormula, ...]
    removed: tuple[WeightedFormula, ...]
    reweighted: tuple[tuple[WeightedFormula, Weight, Weight], ...]
    declared: tuple[str, ...]
    undeclared: tuple[str, ...]
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return any((self.added, self.removed, self.reweighted, self.declared, self.undeclared, self.changed))

    def __str__(self) -> str:
        lines = [f"~ {line}" for line in self.changed]
        lines += [f"+ {line}" for line in self.declared] + [f"- {line}" for line in self.undeclared]
        lines += [f"+ {_line(formula, formula.weight)}" for formula in self.added]
        lines += [f"- {_line(formula, formula.weight)}" for formula in self.removed]
        for formula, old, new in self.reweighted:
            text = to_text(formula.formula, marks_of(formula))
            lines.append(f"~ {text}: {weight_text(old)} -> {weight_text(new)}")
        return "\n".join(lines) or "no difference"


def weight_text(weight: Weight) -> str:
    """Return a weight in a word."""
    value = getattr(weight, "value", None)
    if value is not None:
        return f"{value:g}" + (" (fixed)" if type(weight).__name__ == "Fixed" else "")
    return {"Hard": "hard", "ToLearn": "to be learned"}[type(weight).__name__]


def _line(formula: WeightedFormula, weight: Weight) -> str:
    return f"{to_text(formula.formula, marks_of(formula))}: {weight_text(weight)}"


def difference(old: Templates, new: Templates) -> Difference:
    """Return the difference from the old model to the new one; order does not count."""
    left, right = _by_template(old.formulas), _by_template(new.formulas)
    added, removed, reweighted = [], [], []
    for key in dict.fromkeys([*left, *right]):
        before, after = left[key], right[key]
        both = min(len(before), len(after))
        for one, other in zip(before, after, strict=False):
            if one.weight != other.weight:
                reweighted.append((other, one.weight, other.weight))
        removed += before[both:]
        added += after[both:]
    before_lines, after_lines = _list_declarations(old.vocabulary), _list_declarations(new.vocabulary)
    return Difference(
        tuple(added), tuple(removed), tuple(reweighted),
        tuple(line for line in after_lines if line not in before_lines),
        tuple(line for line in before_lines if line not in after_lines),
        tuple(_changes(old, new)),
    )  # fmt: skip


def _changes(old: Templates, new: Templates) -> Iterator[str]:
    """Yield changes other than formulas and declarations: the semantics and the constants of types."""
    if old.semantics != new.semantics:
        yield f"semantics: {old.semantics} -> {new.semantics}"
    for type_, domain in new.vocabulary.types.items():
        before = old.vocabulary.types.get(type_)
        if before is not None and tuple(before) != tuple(domain):
            yield f"{type_}: {len(before)} -> {len(domain)} constants"


def _by_template(formulas: Iterable[WeightedFormula]) -> defaultdict[str, list[WeightedFormula]]:
    groups: defaultdict[str, list[WeightedFormula]] = defaultdict(list)
    for formula in formulas:
        groups[to_text(formula.formula, marks_of(formula))].append(formula)
    return groups


def _list_declarations(vocabulary: Vocabulary) -> list[str]:
    return [str(predicate) for predicate in vocabulary.predicates.values()]
