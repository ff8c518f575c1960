"""Ground networks against the definition: who shares a grounding, and what that says of the distribution."""

from __future__ import annotations

import time
from itertools import combinations, product
from math import isfinite

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.ground_network import GroundNetwork
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.model.database.world import World
from tests.support import oracles, small_models
from tests.support.pace import slower
from tests.support.thoroughness import examples

PEOPLE = "person = {A, B, C}\nS(person)\nC(person)\nF(person, person)\n"
CLAUSES = (
    "1 S(x) => C(x)",
    "-0.5 S(x) v S(y)",
    "2 F(x, y) ^ S(x) => S(y)",
    "0.3 F(x, y) => F(y, x)",
    "1 S(x) ^ !C(x)",
    "S(A) v C(B).",
    "0.7 S(x) v C(x) v x = A",
    "1 S(x) <=> C(x)",
    "1.5 S(B)",
)


def network_of(text, facts=None, query=None, **options):
    mln = ml.MLN.from_text(text)
    db = None if facts is None else ml.Database.from_text(facts, mln)
    return ml.ground_network(mln, db, query, **options)


def edges_of(network):
    return {frozenset((network.atoms[a], network.atoms[b])) for a, b in network.pairs().tolist()}


def worlds_of(network):
    """All worlds that agree with the evidence."""
    question = network.clauses.question
    for chosen in product(*(range(choice.options) for choice in question.choices)):
        pairs = zip(question.choices, chosen, strict=True)
        atoms = (atom for choice, option in pairs for atom in choice.atoms[option : option + 1])
        yield World(question.vocabulary, question.true | frozenset(atoms))


def depends_on(formula, binding, worlds, atom):
    """Whether a grounding can change its truth when an atom does."""
    return any(
        evaluate(formula, world, binding) != evaluate(formula, world.flipped(atom), binding)
        for world in worlds
    )


def edges_by_definition(network):
    """Two open atoms are neighbours if and only if one grounding depends on both."""
    worlds = list(worlds_of(network))
    edges = set()
    for weighted in network.clauses.question.mln.formulas:
        for binding in groundings(weighted.formula, worlds[0]):
            own = [atom for atom in network.atoms if depends_on(weighted.formula, binding, worlds, atom)]
            edges |= set(map(frozenset, combinations(own, 2)))
    return edges


@settings(max_examples=examples(60))
@given(
    st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=3, unique=True),
    st.dictionaries(
        st.sampled_from(
            [f"{p}({c})" for p in "SC" for c in "ABC"] + [f"F({a},{b})" for a in "AB" for b in "BC"]
        ),
        st.booleans(),
    ),
    st.sampled_from([["S", "C"], ["S"], ["C", "S(A)"]]),
)
def test_edges_are_those_of_the_definition(formulas, evidence, query):
    facts = "\n".join(("" if true else "!") + atom for atom, true in evidence.items())
    network = network_of(PEOPLE + "\n".join(formulas), facts, query)
    assert edges_of(network) == edges_by_definition(network)


@settings(max_examples=examples(60))
@given(small_models.questions(most_atoms=7, hard=False))
def test_atoms_without_an_edge_are_independent_given_the_others(asked):
    """For whatever formula: the log-weight has no term in which two such atoms meet."""
    network = GroundNetwork(ground_clauses(asked.question))
    edges = edges_of(network)
    single = {
        choice.atoms[0] for choice in asked.question.choices if choice.options == 2 and choice.may_be_none
    }
    mln = asked.question.mln
    for a, b in combinations([atom for atom in network.atoms if atom in single], 2):
        if frozenset((a, b)) in edges:
            continue
        for world in worlds_of(network):
            corners = [world, world.flipped(a), world.flipped(b), world.flipped(a).flipped(b)]
            here, one, other, both = (oracles.log_weight(mln, corner) for corner in corners)
            if all(map(isfinite, (here, one, other, both))):
                assert here + both == pytest.approx(one + other, abs=1e-9)


def test_blankets_components_and_links():
    network = network_of(PEOPLE + "1.5 S(x) => C(x)\n2 F(x, y) ^ S(x) => S(y)\n", "F(A, B)\nC(C)", ["S", "C"])
    assert [str(atom) for atom in network.atoms] == ["S(A)", "S(B)", "S(C)", "C(A)", "C(B)"]
    assert {str(atom) for atom in network.markov_blanket("S(A)")} == {"S(B)", "C(A)"}
    assert network.markov_blanket(GroundAtom("S", ("C",))) == ()
    assert [[str(atom) for atom in part] for part in network.components()] == [
        ["S(A)", "S(B)", "C(A)", "C(B)"], ["S(C)"],
    ]  # fmt: skip
    frame = network.to_frame()
    assert frame["literals"].tolist() == ["!S(A) v C(A)", "!S(B) v C(B)", "!S(A) v S(B)"]
    assert frame["weight"].tolist() == [1.5, 1.5, 2]
    assert network.links_of(network.number("S(A)")).tolist() == [0, 2]
    assert repr(network) == "<GroundNetwork: 5 atoms, 3 links>"


def test_what_must_hold_and_conjunctions_are_written_as_they_are():
    network = network_of("t = {X}\nP(t)\nQ(t)\nR(t)\n-1 P(x) ^ !Q(x)\nP(x) v R(x).\n1 P(x) ^ (Q(x) v R(x))")
    frame = network.to_frame()
    assert frame["literals"].tolist() == ["P(X) ^ !Q(X)", "P(X) v R(X)", "formula over P(X), Q(X), R(X)"]
    assert frame["hard"].tolist() == [False, True, False]
    assert np.isnan(frame["weight"][1])


def test_blocks_join_their_atoms():
    text = "p = {A, B}\ncolour = {Red, Green, Blue}\nHas(p, colour!)\n1 Has(x, Red)"
    network = network_of(text)
    assert len(edges_of(network)) == 6
    assert len(network.components()) == 2
    assert network.sources[int(network.links.sources[-1])].kind == "block"
    assert set(map(str, network.markov_blanket("Has(A, Red)"))) == {"Has(A, Green)", "Has(A, Blue)"}
    joint = network_of(text + "\n1 Has(A, c) <=> Has(B, c)")
    assert len(edges_of(joint)) == 15  # the table depends on both choices as a whole


def test_conditions_and_soft_evidence_are_links_and_queries_are_none():
    text = "t = {X, Y}\nP(t)\nQ(t)\n1 P(x)"
    network = network_of(text, "0.3 P(X)", ["P", "P(X) ^ Q(Y)"], given="P(Y) v Q(Y)")
    assert network.to_frame()["kind"].tolist() == ["formula", "formula", "soft evidence", "given"]
    mln = ml.MLN.from_text(text)
    sampler = gibbs.ground(gibbs_question(mln))
    assert {source.kind for source in sampler.clauses.sources} == {"query", "formula"}
    assert GroundNetwork(sampler.clauses).to_frame()["kind"].tolist() == ["formula", "formula"]


def gibbs_question(mln):
    return pose(mln, ml.Database.from_text("", mln), ["P", "P(X) ^ Q(Y)"])


def test_graphs():
    network = network_of(PEOPLE + "1.5 S(x) => C(x)\n2 S(x)\nF(x, y) ^ S(x) => S(y).", "F(A, B)", ["S", "C"])
    graph = network.to_networkx()
    assert set(graph.nodes) == set(network.atoms)
    assert set(map(frozenset, graph.edges)) == edges_of(network)
    a, b, c = (GroundAtom(*pair) for pair in (("S", ("A",)), ("S", ("B",)), ("C", ("A",))))
    assert graph.nodes[a]["weights"] == (2.0,)
    assert graph.edges[a, b]["weights"] == (None,)
    assert graph.edges[a, c] == {"formulas": ("1.5 S(x) => C(x)",), "weights": (1.5,)}
    factors = network.to_networkx(factors=True)
    assert nx.is_bipartite(factors)
    assert factors.number_of_nodes() == network.number_of_atoms + network.number_of_links
    projected = nx.bipartite.projected_graph(factors, network.atoms)
    assert set(map(frozenset, projected.edges)) == edges_of(network)


# --- sizes before anything is grounded ------------------------------------------------------------


def open_groundings(tally):
    return tally.groundings - tally.true - tally.false


@st.composite
def asked_models(draw):
    """A model, facts of every kind, and some of its predicates."""
    mln = draw(small_models.models(most_atoms=9))
    atoms = oracles.all_atoms(mln.vocabulary)
    marks = st.sampled_from(["", "", "", "true", "false", "unknown", "soft"])
    values = {"true": True, "false": False, "unknown": None, "soft": 0.3}
    marked = {str(atom): values[mark] for atom in atoms if (mark := draw(marks))}
    inhabited = list(dict.fromkeys(atom.predicate for atom in atoms))
    query = draw(st.lists(st.sampled_from(inhabited), min_size=1, unique=True))
    return mln, ml.Database(mln.vocabulary).with_atoms(marked), query


@settings(max_examples=examples(80))
@given(asked_models())
def test_sizes_are_bounds_and_open_atoms_are_exact(asked):
    try:
        network = ml.ground_network(*asked)
    except ml.UnsatisfiableError:
        return
    size = network.size
    assert size == ml.network_size(*asked)
    assert size.open_atoms == network.number_of_atoms
    formulas = [source for source in size.sources if source.kind == "formula"]
    tallies = [tally for source, tally in network.tallies if source.kind == "formula"]
    for source, tally in zip(formulas, tallies, strict=True):
        assert tally.groundings <= source.groundings
        assert open_groundings(tally) <= source.most_open <= source.groundings
        if source.exact:
            assert open_groundings(tally) == source.most_open


@pytest.mark.parametrize("formula", CLAUSES[:5] + CLAUSES[7:])
def test_without_evidence_sizes_are_those_of_the_network(formula):
    network = network_of(PEOPLE + formula)
    tally = next(tally for source, tally in network.tallies if source.kind == "formula")
    decides_itself = formula in {"2 F(x, y) ^ S(x) => S(y)", "0.3 F(x, y) => F(y, x)"}  # where x is y
    assert network.size.exact != decides_itself
    assert (open_groundings(tally) == network.size.most_open) != decides_itself
    assert network.size.open_atoms == network.number_of_atoms == 15


def test_blocks_are_counted_block_by_block():
    text = "p = {A, B, C, D}\ncolour = {Red, Green, Blue}\nHas(p, colour!)\n1 Has(x, Red)"
    network = network_of(text, "Has(A, Red)\n!Has(A, Blue)\n!Has(B, Red)", ["Has"])
    assert network.size.open_atoms == network.number_of_atoms == 8
    closed = network_of(
        text.replace("!)", "?)"), "?Has(A, Red)\nHas(B, Red)\n?Has(B, Blue)", "Has(A, Red)", closed="Has"
    )
    assert closed.size.open_atoms == closed.number_of_atoms == 1


def test_closed_premises_and_open_atoms_bound_the_groundings():
    text = "S(person)\nF(person, person)\n2 F(x, y) ^ S(x) => S(y)\n1 S(x) v S(y) v S(z)\n1 F(x, y) => S(z)"
    mln = ml.MLN.from_text(text)
    facts = "person = {" + ", ".join(f"P{n}" for n in range(300)) + "}\n"
    db = ml.Database.from_text(facts + "F(P1, P2)\nF(P2, P3)\n?S(P1)\n?S(P2)", mln)
    size = ml.network_size(mln, db, "F(P9, P9)", closed=["F"])
    assert size.open_atoms == 2
    # S(x) v S(y) v S(z) is open but where all three are among the 298 people of whom it is known.
    assert [source.most_open for source in size.sources] == [2, 300**3 - 298**3, 2 * 300]
    assert [source.exact for source in size.sources] == [False, True, False]
    assert size.to_frame()["open at most"].tolist() == [2, 536_408, 600]
    assert repr(size) == "<NetworkSize: 2 open atoms, at most 537,010 of 54,090,000 groundings>"


def test_a_quantifier_has_variables_of_its_own():
    mln = ml.MLN.from_text("P(t)\nQ(t)\n1 P(x) v (EXIST x Q(x))")
    db = ml.Database.from_text("t = {A, B, C}\n?Q(A)", mln)
    network = ml.ground_network(mln, db, "P(A)", closed=["P"])
    (source,) = network.size.sources
    assert source.most_open == 3
    assert [tally.clauses for _, tally in network.tallies] == [3]


def test_what_is_too_large_is_refused_at_once_with_its_size_and_ways_out():
    mln = ml.MLN.from_text("S(person)\nF(person, person)\n2 F(x, y) ^ S(x) => S(y)\n1 F(x, y) => F(y, x)")
    began = time.process_time()
    with pytest.raises(TooLargeError, match=r"10,000,100,000 open atoms and up to 20,000,000,000") as caught:
        ml.ground_network(mln, {"person": 100_000})
    assert caught.value.estimate == 10_000_100_000
    with pytest.raises(
        TooLargeError, match=r"the limit is 1,000 groundings(.|\n)*fewer constants(.|\n)*limit="
    ) as caught:
        ml.ground_network(mln, {"person": 30}, limit=1_000)
    assert caught.value.estimate == 1_800
    assert time.process_time() - began < 5 * slower()  # ten thousand million atoms
    assert ml.ground_network(mln, {"person": 30}, limit=1_800).number_of_links < 1_800


def test_a_large_block_is_no_list_of_pairs():
    network = network_of("t = {" + ", ".join(f"X{n}" for n in range(4_000)) + "}\nP(t!)\n1 P(X1)")
    with pytest.raises(TooLargeError, match="7,998,000 pairs"):
        network.to_networkx()
    assert len(network.markov_blanket("P(X7)")) == 3_999
    assert network.to_networkx(factors=True).number_of_edges() == 4_001


def test_an_atom_that_is_no_node_gets_a_sentence():
    network = network_of(PEOPLE + "1 S(x) => C(x)", "S(A)", ["S", "C"])
    with pytest.raises(ArgumentError, match="S\\(A\\) is not open here"):
        network.markov_blanket("S(A)")
    with pytest.raises(ArgumentError):
        network.markov_blanket("S(Nobody)")


def test_a_network_without_atoms():
    network = network_of(PEOPLE + "1 S(x) => C(x)", "C(A)\nC(B)\nC(C)", ["C"])
    assert network.number_of_atoms == network.number_of_links == 0
    assert network.components() == ()
    assert network.to_networkx().number_of_nodes() == 0
    assert network.to_frame().empty


def test_hostile_names_are_names():
    name = '"><script>alert(1)</script>\\ " $x$'
    P = ml.predicates("P(t)")[0]
    mln = ml.MLN.from_formulas([(1.0, P(ml.variables("x")[0])), (2.0, P(name) >> P("B"))])
    network = ml.ground_network(mln)
    assert network.markov_blanket(GroundAtom("P", (name,))) == (GroundAtom("P", ("B",)),)
    assert any(name in atom.arguments for atom in network.to_networkx())
