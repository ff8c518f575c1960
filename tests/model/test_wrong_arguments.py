"""Wrong kinds of values get a sentence where they are given, not a raw error further in."""

from __future__ import annotations

import sys

import pytest

import mlnlab as ml

MLN = ml.MLN.from_text("S(person)\nF(person, person)\n1.5 S(x) ^ F(x, y) => S(y)\n-1 S(x)")
DB = ml.Database.from_text("S(Anna)\nF(Anna, Bob)", MLN)
WORLD = DB.world()
TAKE_DOMAINS = (
    ml.infer, ml.map_state, ml.ground, ml.ground_network, ml.network_size, ml.inference_plan, ml.conflict,
    ml.factor_graph, ml.lazy_ground, ml.lazy_map_state, ml.sensitivities, ml.equiprobable_classes, ml.log_z,
    MLN.__class__.expand, MLN.__class__.with_domains, MLN.__class__.vocabulary_with,
)  # fmt: skip


@pytest.mark.parametrize("function", TAKE_DOMAINS)
def test_sizes_of_nothing_that_has_a_size(function):
    with pytest.raises(ml.ArgumentError, match="by name, such as 'person', not by 5"):
        function(MLN, {5: 3})
    for size in (2**63, 10**20):
        with pytest.raises(ml.ArgumentError, match=f"The size of person can be {sys.maxsize:,} at most"):
            function(MLN, {"person": size})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ml.MLN("S(person)"), "takes a Vocabulary; a text is read by ml.MLN.from_text"),
        (lambda: ml.MLN(MLN.vocabulary, ("1 S(x)",)), "takes WeightedFormulas; mln.add"),
        (lambda: ml.MLN.from_text("S(t)", semantics=[]), 'semantics is "textbook" or "alchemy"'),
        (lambda: ml.MLN.from_formulas(None), "in pairs with a weight"),
        (lambda: MLN.diff(None), "compared with another model, not None"),
        (lambda: MLN.with_domains(None), "Sizes are given by type"),
        (lambda: MLN.with_weights(None), "Weights are given as a list"),
        (lambda: ml.Database("S(Anna)"), "a text is read by ml.Database.from_text"),
        (lambda: ml.Database.from_text(None, MLN), "Facts are read from a text, not None"),
        (lambda: DB.domain(None), "Types are given by name"),
        (lambda: DB.domain([]), "Types are given by name"),
        (lambda: DB.places(None), "pairs of a ground atom and whether it is true"),
        (lambda: DB.places("Zork"), "pairs of a ground atom and whether it is true"),
        (lambda: DB.to_csv(None), "The path of a folder is needed, not None"),
        (lambda: DB.to_csv("\0"), "The path of a folder is needed"),
        (lambda: DB.to_sqlite(None), "The path of a file is needed, not None"),
        (lambda: DB.to_sqlite("x" * 5000), "cannot be written"),
        (lambda: DB.with_atoms(None), "Atoms are set by a mapping"),
        (lambda: DB.with_atoms({"S(Anna)": "x"}), "True, False, None or a probability"),
        (lambda: DB.with_facts(None), "Facts are read from a text"),
        (lambda: DB.without(None), "Predicates are named in a list"),
        (lambda: MLN.vocabulary.with_predicate(None), "A predicate is needed"),
        (lambda: WORLD.count(None), "None"),
        (lambda: WORLD.number_of_groundings(None), "None"),
        (lambda: WORLD.flipped(None), "pairs of a predicate and its constants"),
        (lambda: ml.World.of(MLN.vocabulary, None), "pairs of a predicate and its constants"),
        (lambda: ml.World.of(MLN.vocabulary, ["S("]), "pairs of a predicate and its constants"),
        (lambda: ml.World(MLN.vocabulary, ["S(A)"]), "pairs of a predicate and its constants"),
        (lambda: ml.World(MLN.vocabulary, "S(A)"), "pairs of a predicate and its constants"),
        (lambda: ml.conflict(None, DB), "A model is needed first"),
        (lambda: ml.evaluate(MLN, None), "judged by a database or a list of them, not None"),
        (lambda: ml.evaluate(MLN, [5]), "judged by a database or a list of them, not 5"),
        (lambda: ml.HeldOut(None), "Held out is a database or a list of them"),
        (lambda: ml.equiprobable_classes(MLN, MLN), "Sizes or a database"),
        (lambda: ml.predicates(None), "Declarations are a text"),
        (lambda: ml.sample_network([]), "There is no network"),
        (lambda: ml.Soft(None), "A weight must be a number, not None"),
        (lambda: ml.Fixed("1"), "A weight must be a number"),
        (lambda: ml.LearningCurve(None), "tuple of series"),
        (lambda: ml.circuit_json(None), "A circuit is needed"),
        (lambda: ml.lift(MLN, {}), "given as a database"),
        (lambda: ml.lift(MLN).text(None), "A theory is needed"),
        (lambda: ml.lift(MLN).compile().why_not([]), "Rules are given by name"),
        (lambda: ml.infer(MLN, DB, query=["S"]).why(None), "A ground atom is a text"),
        (lambda: ml.groundings(MLN, DB).by([]), "no free variable"),
        (lambda: ml.groundings(MLN, DB).status(None), "A ground atom is needed"),
        (lambda: ml.learn_weights(MLN, DB).condition(5), "2 weights are needed, not 5"),
    ],
)
def test_each_wrong_value_gets_a_sentence(call, sentence):
    with pytest.raises(ml.MlnlabError) as refusal:
        call()
    assert sentence in str(refusal.value)
    assert str(refusal.value).rstrip()[-1] in ".)]|^"
