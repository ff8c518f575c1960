"""The marriages among fifteen families of Renaissance Florence, and the question who sides with the Medici.

The marriages are those of networkx's ``florentine_families_graph`` (Breiger and Pattison, 1986, after
Padgett). The model is ours, to teach with: loyalty follows marriage. The Medici side with themselves, the
Albizzi, who exiled them in 1433, do not; the other thirteen families are the question.
"""

from __future__ import annotations

from mlnlab.logic.vocabulary import FrozenMapping

from ..plain_answers import by_enumeration, ground
from ..rules import Facts, Rule, domains_of
from ..texts import SampleTexts, counts_of, facts_text, model_text, question

SCHEMA = {"Married": ("family", "family"), "Medicean": ("family",)}
RULES = (
    Rule(0.2, (("Medicean", ("x",)),), ()),
    Rule(0.8, (("Married", ("x", "y")), ("Medicean", ("x",))), (("Medicean", ("y",)),)),
)
_COMMENT = """Marriages among the families of Renaissance Florence: who sides with the Medici?
The marriages are networkx's florentine_families_graph (Breiger and Pattison, 1986, after
Padgett); the model is ours, to teach with."""


def florentine_families() -> SampleTexts:
    """Return the marriages (both ways), the two known loyalties, and the model."""
    import networkx as nx

    graph = nx.florentine_families_graph()
    pairs = sorted({(a, b) for edge in graph.edges for a, b in (edge, edge[::-1])})
    facts: Facts = {"Married": pairs, "Medicean": [("Medici",)]}
    false = [("Medicean", ("Albizzi",))]
    domains = domains_of(facts, SCHEMA)
    unknown = [("Medicean", (family,)) for family in domains["family"] if family not in {"Medici", "Albizzi"}]
    true = [(predicate, row) for predicate, rows in facts.items() for row in rows]
    exact = by_enumeration(ground(RULES, SCHEMA, domains, true, unknown))
    text = facts_text("florentine_families: marriages, and two known loyalties", facts, false)
    answers = {
        "counts": {"florentine_families": counts_of(RULES, SCHEMA, facts)},
        "questions": [question("florentine_families", ["Medicean"], exact)],
    }
    model = model_text(_COMMENT, SCHEMA, RULES)
    return SampleTexts("florentine_families", model, FrozenMapping({"florentine_families": text}), answers)
