"""A Markov logic network: a vocabulary and weighted formulas, templates of a log-linear model.

Semantics by the book (lecture notes, eq. 6-16): every grounding of a formula's free variables is a Boolean
feature with the formula's weight. Alchemy instead splits a formula into the clauses of its conjunctive normal
form and divides the weight among them; ``semantics="alchemy"`` does so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mlnlab.errors import ArgumentError, Diagnostic, InputError, Severity, Span, count_of, require
from mlnlab.logic.building import checked_formula
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Formula, Variable
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms, subformulas
from mlnlab.logic.formulas.weights import (
    Fixed,
    Hard,
    Soft,
    ToLearn,
    Weight,
    WeightedFormula,
    as_weight,
    weight_value,
)
from mlnlab.logic.vocabulary import Domain, Predicate, Vocabulary
from mlnlab.model.mln.differences import Difference, difference
from mlnlab.model.mln.domain_sizes import (
    refuse_unknown_sizes,
    types_of_numbers,
    with_constants_of,
    with_sizes,
    without_unknown_sizes,
)
from mlnlab.model.mln.typing_of_formulas import check_words, complete_types, declare_predicates, refuse_deep
from mlnlab.model.mln.writing import declarations, statement_text
from mlnlab.steps.safe_files import write_text

if TYPE_CHECKING:
    import networkx as nx

    from mlnlab.syntax.formulas.analysis import Analysis, Includes


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
        """Refuse a vocabulary or formulas of another kind, or a semantics that does not exist."""
        require(self.vocabulary, Vocabulary, "ml.MLN takes a Vocabulary; a text is read by ml.MLN.from_text")
        for weighted in self.formulas:
            require(weighted, WeightedFormula, "ml.MLN takes WeightedFormulas; mln.add(...) makes them")
        if self.semantics not in ("textbook", "alchemy"):  # in a tuple, for what cannot be hashed
            raise ArgumentError(f'semantics is "textbook" or "alchemy", not {self.semantics!r}.')

    # --- reading

    @classmethod
    def from_text(
        cls, text: str | bytes, *, semantics: Semantics = "textbook", name: str = "<text>",
        folder: str | Path | None = None, includes: Includes = "below",
    ) -> MLN:  # fmt: skip
        """Read a model in Alchemy's language; all problems of the text are reported in one error.

        ``folder`` is where ``#include`` looks; files elsewhere are read with ``includes="anywhere"`` only.
        """
        from mlnlab.syntax.formulas.analysis import analyse

        analysis = analyse(text, file=name, folder=folder, includes=includes)
        return cls._of(analysis, semantics, name)

    @classmethod
    def load(
        cls, path: str | Path, *, semantics: Semantics = "textbook", includes: Includes = "below"
    ) -> MLN:
        """Read a ``.mln`` file, with the files that it includes, which lie below its folder."""
        from mlnlab.syntax.formulas.analysis import analyse_file

        return cls._of(analyse_file(path, includes=includes), semantics, str(path))

    @classmethod
    def _of(cls, analysis: Analysis, semantics: Semantics, name: str) -> MLN:
        if analysis.errors:
            heard = [d for d in analysis.findings if d.severity is not Severity.NOTE]
            raise InputError(f"{name} has {count_of(analysis.number_of_findings, 'error')}.", heard)
        return cls(analysis.vocabulary, analysis.formulas, semantics, Path(name).name, analysis.places,
                   analysis.diagnostics)  # fmt: skip

    @classmethod
    def from_formulas(
        cls, formulas: Iterable[tuple[Number | Weight | None, Formula]], *,
        predicates: Iterable[Predicate] = (), semantics: Semantics = "textbook",
    ) -> MLN:  # fmt: skip
        """Build a model from pairs of a weight (``None``: to be learned) and a formula built in Python."""
        require(formulas, Iterable, "Formulas are given in pairs with a weight, as in [(1.5, Smokes(x))]")
        pairs = [_pair(item) for item in formulas]
        vocabulary = Vocabulary().with_predicates(predicates)
        used = declare_predicates(formula for _, formula in pairs)
        vocabulary = vocabulary.with_predicates(p for p in used if p.name not in vocabulary.predicates)
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
        from mlnlab.syntax.formulas.analysis import analyse

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
        split into its clauses, the weight divided evenly among them; a part of it that is always true or
        always false is simplified away first, and takes no share, where Alchemy keeps tautologies.
        """
        from mlnlab.model.mln.expansion import expand_formulas

        vocabulary = self.vocabulary_with(db)
        formulas, origins = expand_formulas(
            self.formulas, vocabulary, split=self.semantics == "alchemy", complete=db is not None
        )
        places = tuple(self.places[i] for i in origins) if self.places else ()
        return replace(self, vocabulary=vocabulary, formulas=formulas, places=places)

    def vocabulary_with(self, domains: Domains) -> Vocabulary:
        """Return the vocabulary with the constants of a database, or with types of given sizes.

        Sizes are given of all types of which no constant is known. A database has all constants there are, so
        that a type of which it has none is empty.
        """
        if domains is None:
            return self.vocabulary
        if isinstance(domains, Mapping):
            sized = self._with_sizes(domains)
            refuse_unknown_sizes(sized)
            return sized
        known = getattr(domains, "vocabulary", None)
        if not isinstance(known, Vocabulary):
            raise ArgumentError(f"A database or sizes like {{'person': 3}} are needed, not {domains!r}.")
        return without_unknown_sizes(self._with_domains_of(known))

    def _with_domains_of(self, other: Vocabulary) -> Vocabulary:
        """Return the database's vocabulary, after checking that it extends this one."""
        for name, predicate in self.vocabulary.predicates.items():
            if other.predicates.get(name) not in {None, predicate}:
                raise ArgumentError(f"The database declares {other.predicates[name]}, the model {predicate}.")
        domains: dict[str, Domain] = {}
        for type_, domain in other.types.items():
            own = self.vocabulary.types.get(type_)
            missing = [] if own is None or own == domain else [c for c in own if c not in domain]
            extended = getattr(domain, "add_names", None)
            domains[type_] = extended(missing) if extended and missing else domain
        return self.vocabulary.with_domains(domains)

    # --- changing

    def with_weights(self, weights: Sequence[Number | None]) -> MLN:
        """Return the model with other weights, one for each formula; ``None`` leaves hard formulas hard."""
        require(weights, Collection, "Weights are given as a list, one for each formula")
        if len(weights) != len(self.formulas):
            raise ArgumentError(f"{len(weights)} weights were given for {len(self.formulas)} formulas.")
        return replace(self, formulas=tuple(map(_replace_weight, self.formulas, weights)))

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
            from mlnlab.syntax.formulas.analysis import analyse

            analysis = analyse(formula, vocabulary=self.vocabulary)
            added = self._of(analysis, self.semantics, "<text>")
            formulas, places = self.formulas + added.formulas, self._places() + added.places
            return replace(self, vocabulary=added.vocabulary, formulas=formulas, places=places)
        typed = complete_types(formula, self.vocabulary)
        vocabulary = with_constants_of(self.vocabulary, [typed])
        marked = tuple(item.name if isinstance(item, Variable) else item for item in per_constant)
        for name in marked:
            if name not in {variable.name for variable in free_variables(typed)}:
                raise ArgumentError(f"per_constant names {name}, which is not a free variable of {typed}.")
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
                    f"There is no formula {item}; the model has {len(self.formulas)}, numbered from 0."
                )
            return item % len(self.formulas)
        formula = self.parse(item) if isinstance(item, str) else complete_types(item, self.vocabulary)
        for position, weighted in enumerate(self.formulas):
            if weighted.formula == formula:
                return position
        raise ArgumentError(f"The model has no formula {to_text(formula)}.")

    def diff(self, other: MLN) -> Difference:
        """Return the difference from this model to the other: formulas added, removed, reweighted."""
        require(other, MLN, "A model is compared with another model")
        return difference(self, other)

    def with_domains(self, sizes: Mapping[str, int]) -> MLN:
        """Return the model with given sizes of the named types: ``mln.with_domains({"person": 3})``."""
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
        """Return the graph of formulas and the predicates in them: see :func:`model_graph`."""
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


def _replace_weight(formula: WeightedFormula, weight: object) -> WeightedFormula:
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


# --- a model as a graph of networkx: which predicates occur in which formulas -------------------


def model_graph(vocabulary: Vocabulary, formulas: Sequence[WeightedFormula]) -> nx.Graph[Any]:
    """Return the bipartite graph of predicates and formulas: ``("predicate", name)``, ``("formula", place)``.

    Formulas bear their ``text``, ``weight`` (``None`` where hard or not known) and ``hard``; an edge tells in
    how many atoms of the formula the predicate occurs. Where it has two parts, the model has two that are
    independent of each other.
    """
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    for name, predicate in vocabulary.predicates.items():
        graph.add_node(("predicate", name), bipartite=0, declaration=str(predicate))
    for place, weighted in enumerate(formulas):
        node = ("formula", place)
        hard = isinstance(weighted.weight, Hard)
        weight = weight_value(weighted.weight)
        graph.add_node(node, bipartite=1, text=statement_text(weighted), weight=weight, hard=hard)
        parts = subformulas(weighted.formula)
        found = Counter(part.predicate for part in parts if isinstance(part, Atom | Cardinality))
        for name, occurrences in found.items():
            graph.add_edge(("predicate", name), node, occurrences=occurrences)
    return graph
