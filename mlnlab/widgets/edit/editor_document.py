"""Hold the content of an editor as one value: a model's draft, facts with assumptions, and the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mlnlab.errors import MlnlabError
from mlnlab.logic.formulas.ground_atoms import NAME
from mlnlab.logic.vocabulary import FrozenMapping, Vocabulary
from mlnlab.model.database.database import Database
from mlnlab.syntax.formulas.analysis import analyse
from mlnlab.syntax.formulas.tokens import Source
from mlnlab.widgets.edit.answering import Case
from mlnlab.widgets.edit.draft import Draft, fitting
from mlnlab.widgets.edit.editor_messages import MOST_FINDINGS, finding_message

_ADDITION = "<addition>"


@dataclass(frozen=True)
class Document:
    """A draft, the facts it is asked about, and the questions; ``query`` of ``None`` leaves the choice here.

    Without facts or sizes every predicate is open.
    """

    draft: Draft
    facts: Database | tuple[tuple[str, int], ...] | None = None
    query: tuple[str, ...] | None = None
    open: tuple[str, ...] = ()
    assumptions: tuple[tuple[str, bool | None], ...] = ()

    def replace_draft(self, draft: Draft) -> Document:
        """Return the document with another draft; facts that were worked out for the same model stay."""
        new = replace(self, draft=draft)
        if draft.model is self.draft.model and "database" in self.__dict__:
            new.__dict__["database"] = self.database
        return new

    def asking(self, query: tuple[str, ...] | None) -> Document:
        """Return the document with other questions."""
        return replace(self, query=query)

    def assuming(self, atom: str, value: bool | None) -> Document:
        """Return the document with an assumption about an atom, which stands above the facts."""
        return replace(self, assumptions=tuple({**self.assumed, atom: value}.items()))

    def forgetting(self, atom: str) -> Document:
        """Return the document without an assumption."""
        return replace(self, assumptions=tuple(pair for pair in self.assumptions if pair[0] != atom))

    @property
    def assumed(self) -> Mapping[str, bool | None]:
        """The assumed truth values by atom."""
        return dict(self.assumptions)

    @cached_property
    def database(self) -> Database:
        """The facts with the assumptions put in."""
        base = self._base
        return base.with_atoms(self.assumed) if self.assumptions else base

    @cached_property
    def _base(self) -> Database:
        match self.facts:
            case Database():
                vocabulary = self.draft.model.vocabulary_with(self.facts)
                known = {n: r for n, r in self.facts.relations.items() if n in vocabulary.predicates}
                return replace(self.facts, vocabulary=vocabulary, relations=FrozenMapping(known))
            case None:
                return Database(self.draft.model.vocabulary)
            case sizes:
                return Database(self.draft.model.vocabulary_with(dict(sizes)))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary with all constants, or the model's own where the facts do not fit it."""
        try:
            return self.database.vocabulary
        except MlnlabError:
            return self.draft.model.vocabulary

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The current queries: those given, without predicates that the model lost, or our choice."""
        known = self.draft.model.vocabulary.predicates
        if self.query is not None:
            return tuple(text for text in self.query if not NAME.fullmatch(text) or text in known)
        candidates = [
            name
            for name, predicate in known.items()
            if not predicate.closed and all(len(self.vocabulary.domain(t)) for t in predicate.types)
        ]
        if not isinstance(self.facts, Database):
            return tuple(candidates)
        listed = {name for name, relation in self.facts.relations.items() if len(relation.true)}
        return tuple(name for name in candidates if name not in listed) or tuple(candidates)

    @property
    def opened(self) -> tuple[str, ...]:
        """The predicates whose unlisted atoms are unknown, beside those that are asked for."""
        known = self.draft.model.vocabulary.predicates
        if isinstance(self.facts, Database):
            return tuple(name for name in self.open if name in known)
        return tuple(name for name, predicate in known.items() if not predicate.closed)

    def case(self, why: str) -> Case:
        """Return the question that the document puts, with an atom to explain."""
        return Case(self.draft.model, self.database, self.asked, self.opened, why)

    def problems_of(self, text: str) -> list[dict[str, Any]]:
        """Return the problems of statements that might be added."""
        source = Source(_ADDITION, fitting(text))
        found = analyse(source.text, file=_ADDITION, vocabulary=self.draft.model.vocabulary).diagnostics
        return [finding_message(problem, source) for problem in found[:MOST_FINDINGS]]
