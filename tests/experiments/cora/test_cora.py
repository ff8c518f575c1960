"""Cora's model, canopies, what they save: on citations of our own, and on Cora where it is at hand."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.cora import SAME, Identity, canopies, canopy_sizes, cora_databases, cora_model
from mlnlab.experiments.folds.joined_models import expanded_together, grounded_weights
from mlnlab.experiments.studies.count_spreads import conditioning, transitivity_variance
from mlnlab.logic.formulas.weights import Hard, ToLearn


@pytest.fixture(scope="module")
def sets():
    return ml.sample("citations").databases


def cosine(one, other, of):
    """Return the cosine of two bags of words, weighted by rarity, from the definition."""
    rarity = {
        word: np.log1p(len(of) / sum(word in words for words in of.values()))
        for words in of.values()
        for word in words
    }
    inner = sum(rarity[word] ** 2 for word in of[one] & of[other])
    sizes = [np.sqrt(sum(rarity[word] ** 2 for word in of[name])) for name in (one, other)]
    return inner / (sizes[0] * sizes[1])


# --- the model ------------------------------------------------------------------------------------


def test_the_model_has_the_rules_of_the_paper():
    mln = cora_model()
    texts = mln.to_text()
    for rule in (
        "HasWordTitle(f1, +w) ^ HasWordTitle(f2, +w) => SameTitle(f1, f2)",
        "HasWordTitle(f1, w) ^ HasWordTitle(f2, w) => SameTitle(f1, f2)",
        "Title(b1, f1) ^ Title(b2, f2) ^ HasWordTitle(f1, +w) ^ HasWordTitle(f2, +w) => SameBib(b1, b2)",
        "Title(b1, f1) ^ Title(b2, f2) ^ SameTitle(f1, f2) => SameBib(b1, b2)",
        "Title(b1, f1) ^ Title(b2, f2) ^ SameBib(b1, b2) => SameTitle(f1, f2)",
    ):
        assert rule in texts, rule
    for name in SAME:
        assert f"{name}(x, y) ^ {name}(y, z) => {name}(x, z)" in texts
    kinds = {type(one.weight) for one in mln.formulas}
    assert kinds == {ToLearn, Hard}
    assert sum(isinstance(one.weight, Hard) for one in mln.formulas) == 4  # reflexivity alone
    assert sum(isinstance(one.weight, Hard) for one in cora_model(symmetry=True).formulas) == 8


def test_every_switch_takes_its_rules_away():
    full = len(cora_model().formulas)
    assert full - len(cora_model(transitivity=False).formulas) == 4
    assert full - len(cora_model(word_independent=False).formulas) == 9
    assert full - len(cora_model(per_word=False).formulas) == 18
    assert full - len(cora_model(signs="both").formulas) == 18
    for wrong in ({"signs": "some"}, {"words": "mine"}):
        with pytest.raises(ml.ArgumentError, match=r"is .* or .*, not"):
            cora_model(**wrong)


def test_weights_are_for_the_words_of_all_databases_together(sets):
    mln = cora_model()
    expanded = expanded_together(mln, list(sets.values()))
    words = {
        t: {w for db in sets.values() for w in db.domain(t)} for t in ("authorword", "titleword", "venueword")
    }
    soft = sum(not isinstance(one.weight, Hard) for one in expanded.formulas)
    assert soft == 6 * sum(map(len, words.values())) + 9 + 6 + 4 + 4
    shared = ml.MLN.from_text(cora_model(words="shared").to_text())
    assert "word" in shared.vocabulary.types


# --- canopies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.2, 0.5])
def test_pairs_are_inside_if_their_words_are_similar(sets, threshold):
    db = sets["birch"]
    found = canopies(db, threshold)
    titles = {title: {w for t, w in db.rows("HasWordTitle") if t == title} for title in db.domain("title")}
    words = {f: dict.fromkeys(db.domain("bib")) for f in ("Author", "Title", "Venue")}
    cited = {b: set() for b in db.domain("bib")}
    for field in words:
        for bib, entity in db.rows(field):
            cited[bib] |= {(field, w) for e, w in db.rows(f"HasWord{field}") if e == entity}
    for name, of in (("SameTitle", titles), ("SameBib", cited)):
        false = set(found.evidence.rows(name, "false"))
        expected = {(a, b) for a in of for b in of if a != b and cosine(a, b, of) < threshold}
        assert false == expected
        assert set(found.evidence.rows(name)) == {(a, a) for a in of}
        truth = set(db.rows(name))
        assert set(found.database.rows(name)) == truth - expected
        (row,) = (row for row in found.rows if row.predicate == name)
        assert row.lost == len(truth & expected)
        assert row.pairs == len(of) * (len(of) - 1)
        assert row.inside == row.pairs - len(expected)
    assert set(found.to_frame()["predicate"]) == set(SAME)
    assert "true ones lost" in repr(found)


def test_a_threshold_of_zero_rules_out_nothing_and_one_of_one_nearly_all(sets):
    none, nearly = canopies(sets["cedar"], 0), canopies(sets["cedar"], 1.0)
    assert all(row.inside == row.pairs and row.recall == 1.0 for row in none.rows)
    assert sum(row.inside for row in nearly.rows) < sum(row.pairs for row in none.rows) / 5
    mixed = canopies(sets["cedar"], {"SameTitle": 0})
    assert [row.inside == row.pairs for row in mixed.rows].count(True) >= 1


def test_what_is_ruled_out_is_not_asked(sets):
    found = canopies(sets["hazel"], 0.3)
    model = grounded_weights(cora_model(per_word=False))
    open_atoms = ml.network_size(model, found.evidence, list(SAME)).open_atoms
    assert open_atoms == sum(row.inside for row in found.rows)


def test_canopies_of_anything(sets):
    mln = ml.MLN.from_text("Says(person, word)\nAlias(person, person)")
    db = ml.Database.from_text("Says(A, Hi)\nSays(B, Hi)\nSays(C, Bye)\nAlias(A, C)", mln)
    found = canopies(db, 0.5, [Identity("Alias", (("Says",),))])
    assert set(found.evidence.rows("Alias", "false")) == {("A", "C"), ("C", "A"), ("B", "C"), ("C", "B")}
    assert found.rows[0].lost == 1
    wrong = [
        ((db, 1.5, [Identity("Alias", ())]), "between 0 and 1"),
        ((db, {"Friend": 0.1}, [Identity("Alias", ())]), "A threshold is given for Friend"),
        ((db, 0.1, [Identity("Says", ())]), "two things of one type"),
    ]
    for arguments, sentence in wrong:
        with pytest.raises(ml.ArgumentError, match=sentence):
            canopies(*arguments)


def test_sizes_with_canopies_and_without(sets):
    mln = cora_model()
    found = canopy_sizes(mln, sets, [0.4])
    none, some = found.rows
    assert none.weights == some.weights
    assert none.recall == 1.0 >= some.recall
    assert none.open_atoms > some.open_atoms
    # Counted without marks: the same as grounding what +w stands for, word by word.
    expanded = grounded_weights(expanded_together(mln, [sets["birch"]]))
    evidence = canopies(sets["birch"], 0.4).evidence
    ground = ml.ground(expanded, evidence, list(SAME))
    alone = canopy_sizes(mln, [sets["birch"]], [0.4]).rows[1]
    tautologies = 2 * alone.open_atoms
    assert alone.ground_clauses == sum(source.open for source in ground.sources) + tautologies
    assert "thesis (4.3.1)" in found.to_frame()["canopies"].tolist()
    with pytest.raises(ml.ArgumentError, match="at least one database"):
        canopy_sizes(mln, [])


def test_transitivity_without_canopies_has_a_formula():
    mln = ml.MLN.from_text("Same(thing, thing)\nSame(x, x).\nSame(x, y) ^ Same(y, z) => Same(x, z)")
    for number in (3, 4, 6):
        names = [f"T{n}" for n in range(number)]
        db = ml.Database.from_text("\n".join(f"Same({n}, {n})" for n in names), mln)
        assert conditioning(mln, db, ["Same"]).variances[0] == pytest.approx(transitivity_variance(number))


# --- the real data --------------------------------------------------------------------------------


def test_cora_as_it_is_at_hand(data_folder):
    dbs = cora_databases(data_folder / "cora")
    assert sum(len(db.domain("bib")) for db in dbs.values()) == 1295
    found = canopies(dbs["cora_fold1"])
    bibs = next(row for row in found.rows if row.predicate == "SameBib")
    assert bibs.inside < 0.2 * bibs.pairs
    assert bibs.recall > 0.9
    mln = cora_model()
    soft = sum(
        not isinstance(one.weight, Hard) for one in expanded_together(mln, list(dbs.values())).formulas
    )
    assert soft == 6 * 556 + 23
    with pytest.raises(ml.ArgumentError, match="There are no files"):
        cora_databases(data_folder)
