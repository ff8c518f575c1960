"""The thesis's condition numbers: each cause that is named moves the number when it is switched off."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.experiments.cora import cora_databases, with_own_fields
from mlnlab.experiments.studies.condition_numbers import cora_condition_numbers, web_condition_numbers


@pytest.mark.parametrize("field", ["Author", "Title", "Venue"])
def test_every_citation_has_fields_of_its_own_with_the_words_of_the_text(field):
    for db in ml.sample("citations").databases.values():
        own = with_own_fields(db)
        assert max(Counter(f for _, f in own.rows(field)).values()) == 1
        assert Counter(b for b, _ in own.rows(field)) == Counter(b for b, _ in db.rows(field))
        words = {name: {w for f, w in db.rows(f"HasWord{field}") if f == name} for _, name in db.rows(field)}
        for bib, name in own.rows(field):
            text = name.removesuffix(f" of {bib}")
            assert (bib, text) in set(db.rows(field))
            assert {w for f, w in own.rows(f"HasWord{field}") if f == name} == words[text]
        cited = {
            f: [b for b, g in db.rows(field) if g == f] for f in db.domain(db.vocabulary[field].types[1])
        }
        pairs = sum(len(cited[f]) * len(cited[g]) for f, g in db.rows(f"Same{field}"))
        assert len(list(own.rows(f"Same{field}"))) == pairs
        assert set(own.rows("SameBib")) == set(db.rows("SameBib"))


def numbers(table):
    return dict(zip(table["problem"], table["condition number"], strict=True))


def test_among_few_citations_transitivity_makes_the_number_too():
    name, db = next(iter(ml.sample("citations").databases.items()))
    found = numbers(cora_condition_numbers({name: db}))
    own = "fields of each citation's own"
    assert found[own] > 2 * found[own + ", transitivity without a weight"]


@pytest.mark.proof
def test_on_cora_shared_texts_and_transitivity_make_the_number(data_folder):
    name, db = next(iter(cora_databases(data_folder / "cora").items()))
    found = numbers(cora_condition_numbers({name: db}))
    shared, own = "equal texts are one field", "fields of each citation's own"
    free = ", transitivity without a weight"
    assert found[shared] > 1.5 * found[shared + free]
    assert found[shared + free] > 10 * found[own + free]
    assert found[own] > 100 * found[own + free]


def test_on_a_web_uneven_links_and_rare_words_make_the_number():
    table = web_condition_numbers(pages=1000, links=3000, words=60)
    found = numbers(table)
    usual = found["links and words as usual"]
    assert usual > 1.3 * found["links spread evenly"] > 1.3 * found["links spread evenly, no links"]
    assert usual > 3 * found["no rare words"]
    assert set(table["thesis"]) == {7000.0}


def test_the_command_prints_and_keeps_the_table(tmp_path, capsys):
    assert main(["reproduce", "condition-numbers", "--folder", str(tmp_path), "--data", "small-web"]) == 0
    assert "links spread evenly, no links" in capsys.readouterr().out
    kept = pd.read_csv(tmp_path / "small-web-condition-numbers.csv")
    assert kept["condition number"].min() > 1
    assert main(["reproduce", "condition-numbers", "--folder", str(tmp_path), "--data", "cora"]) != 0
    assert "name the folder that has a folder cora in it" in capsys.readouterr().err
    assert main(["reproduce", "condition-numbers", "--folder", str(tmp_path), "--data", "webkb"]) != 0
    assert "There are no condition numbers for webkb" in capsys.readouterr().err
