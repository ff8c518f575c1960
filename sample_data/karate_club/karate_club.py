"""Zachary's karate club: friendships of 34 members, and the question who follows whom when the club splits.

The friendships and the split are those of networkx's ``karate_club_graph`` (Zachary, 1977). Member 1 is
the instructor, member 34 the officer; the model, ours, says that friends go the same way. Two members are
evidence, 32 the question: 4 billion worlds, but few friendships, so that summing out one member after the
other is exact.
"""

from __future__ import annotations

from mlnlab.logic.vocabulary import FrozenMapping

from ..plain_answers import by_elimination, ground
from ..rules import Facts, Rule, domains_of
from ..texts import SampleTexts, counts_of, facts_text, model_text, question

SCHEMA = {"Friends": ("member", "member"), "WithInstructor": ("member",)}
RULES = (
    Rule(0.1, (), (("WithInstructor", ("x",)),)),
    Rule(0.5, (("Friends", ("x", "y")), ("WithInstructor", ("x",))), (("WithInstructor", ("y",)),)),
)
_COMMENT = """Zachary's karate club: who goes with the instructor (member 1) when the club splits?
Friendships and split are networkx's karate_club_graph (Zachary, 1977); the model is ours."""


def karate_club() -> SampleTexts:
    """Return the friendships with the two leaders' sides, the split as it happened, and the model."""
    import networkx as nx

    graph = nx.karate_club_graph()
    names = {node: f"Member{node + 1}" for node in graph.nodes}
    edges = sorted({(a, b) for edge in graph.edges for a, b in (edge, edge[::-1])})
    friends = [(names[a], names[b]) for a, b in edges]
    with_instructor = [(names[node],) for node, club in graph.nodes(data="club") if club == "Mr. Hi"]
    facts: Facts = {"Friends": friends, "WithInstructor": [("Member1",)]}
    split: Facts = {"Friends": friends, "WithInstructor": with_instructor}
    databases = {
        "karate_club": facts_text(
            "karate_club: friendships and the two leaders", facts, [("WithInstructor", ("Member34",))]
        ),
        "split": facts_text("karate_club: the split as it happened", split),
    }
    domains = domains_of(facts, SCHEMA)
    leaders = {"Member1", "Member34"}
    unknown = [("WithInstructor", (member,)) for member in domains["member"] if member not in leaders]
    true = [(predicate, row) for predicate, rows in facts.items() for row in rows]
    exact = by_elimination(ground(RULES, SCHEMA, domains, true, unknown))
    answers = {
        "counts": {"split": counts_of(RULES, SCHEMA, split)},
        "questions": [question("karate_club", ["WithInstructor"], exact)],
    }
    return SampleTexts("karate_club", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)
