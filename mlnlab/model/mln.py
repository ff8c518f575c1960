"""A Markov logic network: a vocabulary and weighted formulas, templates of a log-linear model.

Semantics by the book (lecture notes, eq. 6-16): every grounding of a formula's free variables is a Boolean
feature with the formula's weight. Alchemy instead splits a formula into the clauses of its conjunctive normal
form and divides the weight among them; ``semantics="alchemy"`` does so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mlnlab.errors import ArgumentError, InputError, Severity, count_of
from mlnlab.logic.building import checked_formula
from mlnlab.logic.formulas import Atom, Formula, Variable
from mlnlab.logic.printing import to_text
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import atoms
from mlnlab.logic.vocabulary import Predicate, Vocabulary
from mlnlab.logic.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula, as_weight, weight_value
from mlnlab.model.differences import Difference, difference
from mlnlab.model.domain_sizes import types_of_numbers, with_constants_of, with_sizes
from mlnlab.model.expansion import expanded
from mlnlab.model.model_graphs import model_graph
from mlnlab.model.typing_of_formulas import check_words, completed, predicates_used, refuse_deep
from mlnlab.model.writing import declarations, statement_text
from mlnlab.syntax.analysis import Analysis, analyse, analyse_file
from mlnlab.syntax.sources import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import networkx as nx

    from mlnlab.errors import Diagnostic, Span

Semantics = Literal["textbook", "alchemy"]
Number = float | int


class KnowsConstants(Protocol):
    """A database, as far as a model needs it: a vocabulary whose domains hold every constant."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""


Domains = KnowsConstants | Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class MLN:
    r"""Weighted formulas over a vocabulary; every change returns a new model.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> mln.add("-0.7 Smokes(x)").weights
    [1.5, -0.7]
    >>> Smokes, Cancer = mln["Smokes"], mln["Cancer"]
    >>> x, y = ml.variables("x y")
    >>> print(mln.diff(mln.add(Smokes(x) & ~Cancer(x), 0.5)))
    + Smokes(x) ^ !Cancer(x): 0.5
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    formulas: tuple[WeightedFormula, ...] = ()
    semantics: Semantics = "textbook"
    name: str = field(default="", compare=False)
    places: tuple[Span | None, ...] = field(default=(), compare=False)
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    learned_on: tuple[Mapping[str, int], ...] = field(default=(), compare=False)  # sizes of each database

    def __post_init__(self) -> None:
        """Refuse a semantics that does not exist."""
        if self.semantics not in {"textbook", "alchemy"}:
            raise ArgumentError(f'semantics is "textbook" or "alchemy", not {self.semantics!r}.')

    # --- reading

    @classmethod
    def from_text(
        cls, text: str | bytes, *, semantics: Semantics = "textbook", name: str = "<text>",
        folder: str | Path | None = None,
    ) -> MLN:  # fmt: skip
        """Read a model in Alchemy's language; all problems of the text are reported in one error."""
        return cls._of(analyse(text, file=name, folder=folder), semantics, name)

    @classmethod
    def load(cls, path: str | Path, *, semantics: Semantics = "textbook") -> MLN:
        """Read a ``.mln`` file, with the files that it includes."""
        return cls._of(analyse_file(path), semantics, str(path))

    @classmethod
    def _of(cls, analysis: Analysis, semantics: Semantics, name: str) -> MLN:
        if analysis.errors:
            heard = [d for d in analysis.diagnostics if d.severity is not Severity.NOTE]
            raise InputError(f"{name} has {count_of(analysis.number_of_errors, 'error')}.", heard)
        return cls(analysis.vocabulary, analysis.formulas, semantics, Path(name).name, analysis.places,
                   analysis.diagnostics)  # fmt: skip

    @classmethod
    def from_formulas(
        cls, formulas: Iterable[tuple[Number | Weight | None, Formula]], *,
        predicates: Iterable[Predicate] = (), semantics: Semantics = "textbook",
    ) -> MLN:  # fmt: skip
        """Build a model from pairs of a weight (``None``: to be learned) and a formula built in Python."""
        pairs = [_pair(item) for item in formulas]
        vocabulary = Vocabulary()
        for predicate in predicates:
            vocabulary = vocabulary.with_predicate(predicate)
        for predicate in predicates_used(formula for _, formula in pairs):
            if predicate.name not in vocabulary.predicates:
                vocabulary = vocabulary.with_predicate(predicate)
        check_words(vocabulary)
        mln = cls(vocabulary, (), semantics)
        for weight, formula in pairs:
            mln = mln.add(formula, weight)
        return mln

    # --- asking

    @property
    def weights(self) -> list[float | None]:
        """The weights in order; ``None`` where a formula is hard or its weight is still to be learned."""
        return [weight_value(formula.weight) for formula in self.formulas]

    def parse(self, text: str) -> Formula:
        """Return the formula that a text means in this model's vocabulary: ``mln.parse("Smokes(x)")``."""
        analysis = analyse(text, file="<formula>", vocabulary=self.vocabulary, only_formulas=True)
        if analysis.errors:
            raise InputError(f"{text!r} is not a formula of this model.", analysis.errors)
        if len(analysis.formulas) != 1:
            raise ArgumentError(f"One formula is needed, but {text!r} has {len(analysis.formulas)}.")
        found = analysis.formulas[0]
        if found != WeightedFormula(found.formula, ToLearn()):
            raise ArgumentError(f"{text!r} must be a bare formula, without weight, full stop, + and *.")
        return found.formula

    def __getitem__(self, name: str) -> Predicate:
        """Return a predicate, to build atoms with: ``Smokes = mln["Smokes"]; Smokes("Anna")``."""
        return self.vocabulary[name]

    __iter__ = None  # names are looked up, not numbers: without this, Python would try mln[0], mln[1]

    def expand(self, db: Domains = None) -> MLN:
        """Return the model with ``+x`` and ``*P`` written out over the constants of a database (or of sizes).

        Counts, weights and learning refer to this list. Under ``semantics="alchemy"`` each formula is also
        split into its clauses, the weight divided evenly among them.
        """
        vocabulary = self.vocabulary_with(db)
        formulas, origins = expanded(
            self.formulas, vocabulary, split=self.semantics == "alchemy", complete=db is not None
        )
        places = tuple(self.places[i] for i in origins) if self.places else ()
        return replace(self, vocabulary=vocabulary, formulas=formulas, places=places)

    def vocabulary_with(self, domains: Domains) -> Vocabulary:
        """Return the vocabulary with the constants of a database, or with types of so many constants."""
        if domains is None:
            return self.vocabulary
        if isinstance(domains, Mapping):
            return self._with_sizes(domains)
        known = getattr(domains, "vocabulary", None)
        if not isinstance(known, Vocabulary):
            raise ArgumentError(f"A database or sizes like {{'person': 3}} are needed, not {domains!r}.")
        return self._with_domains_of(known)

    def _with_domains_of(self, other: Vocabulary) -> Vocabulary:
        """Return the database's vocabulary, after checking that it extends this one."""
        for name, predicate in self.vocabulary.predicates.items():
            if other.predicates.get(name) not in {None, predicate}:
                raise ArgumentError(f"The database declares {other.predicates[name]}, the model {predicate}.")
        vocabulary = Vocabulary(self.vocabulary.types, self.vocabulary.predicates)
        for type_, domain in other.types.items():
            own = self.vocabulary.types.get(type_)
            missing = [] if own is None or own == domain else [c for c in own if c not in domain]
            extended = getattr(domain, "extended", None)
            vocabulary = vocabulary.with_domain(type_, extended(missing) if extended and missing else domain)
        return vocabulary

    # --- changing

    def with_weights(self, weights: Sequence[Number | None]) -> MLN:
        """Return the model with other weights, one for each formula; ``None`` leaves hard formulas hard."""
        if len(weights) != len(self.formulas):
            raise ArgumentError(f"{len(weights)} weights were given for {len(self.formulas)} formulas.")
        return replace(self, formulas=tuple(map(_reweighted, self.formulas, weights)))

    def add(
        self,
        formula: Formula | str,
        weight: Number | Weight | None = None,
        *,
        per_constant: Sequence[str | Variable] = (),
        both_signs: Sequence[Atom] = (),
    ) -> MLN:
        """Return the model with one more formula, or with all that a text says.

        A formula's weight is a number, ``None`` (to be learned), ``Hard()`` or ``Fixed(w)``. A text brings
        its own weights: ``mln.add("1.5 Smokes(x) => Cancer(x)")``.
        """
        if isinstance(formula, str):
            if weight is not None:
                raise ArgumentError("A text brings its own weight: write it in front of the formula.")
            analysis = analyse(formula, vocabulary=self.vocabulary)
            added = self._of(analysis, self.semantics, "<text>")
            formulas, places = self.formulas + added.formulas, self._places() + added.places
            return replace(self, vocabulary=added.vocabulary, formulas=formulas, places=places)
        typed = completed(formula, self.vocabulary)
        vocabulary = with_constants_of(self.vocabulary, [typed])
        marked = tuple(item.name if isinstance(item, Variable) else item for item in per_constant)
        for name in marked:
            if name not in {variable.name for variable in free_variables(typed)}:
                raise ArgumentError(f"per_constant names {name}, which is no free variable of {typed}.")
        signs = tuple(atom for atom in atoms(typed) if str(atom) in set(map(str, both_signs)))
        if len(signs) < len(both_signs):
            raise ArgumentError(f"both_signs names an atom that {typed} does not contain.")
        weighted = WeightedFormula(typed, as_weight(weight), marked, signs)
        formulas, places = (*self.formulas, weighted), (*self._places(), None)
        return replace(self, vocabulary=vocabulary, formulas=formulas, places=places)

    def _places(self) -> tuple[Span | None, ...]:
        return self.places or (None,) * len(self.formulas)

    def without(self, *which: int | Formula | str) -> MLN:
        """Return the model without some formulas, named by position, as formulas or as text."""
        drop = {self._position(item) for item in which}
        kept = [i for i in range(len(self.formulas)) if i not in drop]
        places = tuple(self.places[i] for i in kept) if self.places else ()
        return replace(self, formulas=tuple(self.formulas[i] for i in kept), places=places)

    def _position(self, item: int | Formula | str) -> int:
        if isinstance(item, int):
            if not -len(self.formulas) <= item < len(self.formulas):
                raise ArgumentError(
                    f"There is no formula {item}; the model has {len(self.formulas)}, from 0 on."
                )
            return item % len(self.formulas)
        formula = self.parse(item) if isinstance(item, str) else completed(item, self.vocabulary)
        for position, weighted in enumerate(self.formulas):
            if weighted.formula == formula:
                return position
        raise ArgumentError(f"The model has no formula {to_text(formula)}.")

    def diff(self, other: MLN) -> Difference:
        """Return what changes from this model to the other: formulas added, removed, reweighted."""
        return difference(self, other)

    def with_domains(self, sizes: Mapping[str, int]) -> MLN:
        """Return the model with so many constants in each named type: ``mln.with_domains({"person": 3})``."""
        return replace(self, vocabulary=self._with_sizes(sizes))

    def _with_sizes(self, sizes: Mapping[str, int]) -> Vocabulary:
        numbers = types_of_numbers(weighted.formula for weighted in self.formulas)
        return with_sizes(self.vocabulary, sizes, numbers)

    # --- writing

    def to_text(self) -> str:
        """Return the model in Alchemy's language; reading it gives the same model."""
        words, statements = declarations(self.vocabulary, self.formulas), map(statement_text, self.formulas)
        return "\n".join([*words, "", *statements, ""])

    def save(self, path: str | Path) -> None:
        """Write a ``.mln`` file; it does not keep on how large domains the weights were learned."""
        write_text(path, self.to_text())

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the graph of formulas and the predicates in them: see :func:`.model_graphs.model_graph`."""
        return model_graph(self.vocabulary, self.formulas)

    def __repr__(self) -> str:
        called = f" {self.name}" if self.name else ""
        formulas = count_of(len(self.formulas), "formula")
        return f"<MLN{called}: {formulas} over {count_of(len(self.vocabulary.predicates), 'predicate')}>"


def _pair(item: object) -> tuple[Number | Weight | None, Formula]:
    if isinstance(item, tuple) and len(item) == 2:
        formula = checked_formula(item[1])
        refuse_deep(formula)
        return item[0], formula
    raise ArgumentError(f"Pairs of a weight and a formula are needed, such as (1.5, F), not {item!r}.")


def _reweighted(formula: WeightedFormula, weight: object) -> WeightedFormula:
    if weight is None:
        if isinstance(formula.weight, Hard | ToLearn):
            return formula
        return replace(formula, weight=ToLearn())
    if isinstance(formula.weight, Hard):
        raise ArgumentError(
            f"{to_text(formula.formula)} is hard; its place among the weights must hold None."
        )
    given = as_weight(weight)
    if isinstance(formula.weight, Fixed) and isinstance(given, Soft):
        given = Fixed(given.value)
    return replace(formula, weight=given)
