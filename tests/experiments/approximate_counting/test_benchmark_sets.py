"""The data of Sarkhel et al. (2016): sizes by arithmetic, disjoint folds, parts as a filter leaves them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.experiments.approximate_counting import benchmark_sets
from mlnlab.experiments.approximate_counting.benchmark_sets import (
    FOLDS,
    PRINTED_SIZES,
    benchmark,
    er,
    keep_constants,
    protein,
    smoker,
    webkb,
)


def test_sizes_are_those_of_the_arithmetic():
    people = smoker().size
    assert (people["clauses"], people["atoms"]) == (3 * 250 + 2 * 250**2, 250**2 + 2 * 250)
    n = benchmark_sets.PROTEINS
    proteins = protein().size
    assert proteins["clauses"] == 14 * 14 * n**2 + 14 * n + n**2
    assert proteins["parameters"] == 14 * 14 + 14 + 1 == PRINTED_SIZES["protein"].parameters
    assert proteins["clauses"] == pytest.approx(PRINTED_SIZES["protein"].clauses, rel=1e-3)
    pages = webkb(80).size
    assert pages["clauses"] == 7 * 80 * 774 + 49 * 80**2 + 7 * 80
    assert pages["atoms"] == 80 * 774 + 80**2 + 7 * 80


def test_generated_sizes_are_near_the_printed_ones():
    for found in (smoker(), protein()):
        assert found.size["evidence"] == pytest.approx(PRINTED_SIZES[found.name].evidence, rel=0.05)
    assert [smoker(seed=s).whole.number_of_facts() for s in (3, 3)] == [smoker(seed=3).size["evidence"]] * 2
    assert smoker(seed=4).whole != smoker(seed=3).whole


@pytest.mark.parametrize("made", [smoker(23), protein(31), webkb(60)], ids=["smoker", "protein", "webkb"])
def test_folds_share_no_constants_and_parts_are_what_a_filter_leaves(made):
    dealt = np.concatenate([fold[made.sampled] for fold in made.folds])
    assert sorted(dealt) == list(range(len(made.whole.domain(made.sampled))))
    train, test = made.split(2)
    held_out = set(test.domain(made.sampled))
    assert held_out.isdisjoint(train.domain(made.sampled))
    vocabulary = made.mln.vocabulary
    for part in (train, test):
        kept = set(part.domain(made.sampled))
        for name, predicate in vocabulary.predicates.items():
            expected = {
                row for row in made.whole.rows(name)
                if all(c in kept for c, t in zip(row, predicate.types, strict=True) if t == made.sampled)
            }  # fmt: skip
            assert set(part.rows(name)) == expected


def test_fractions_are_of_the_constants():
    made = protein(100)
    sizes = [len(made.split(0, k)[0].domain("protein")) for k in (0.05, 0.5, 1.0)]
    assert sizes == [4, 40, 80]
    some, all_ = (made.split(0, k)[0] for k in (0.5, 1.0))
    assert set(some.domain("protein")) < set(all_.domain("protein"))
    for wrong in (0, -1, 1.5):
        with pytest.raises(ArgumentError, match="sampling fraction"):
            made.split(0, wrong)
    with pytest.raises(ArgumentError, match="folds 1 to 5"):
        made.split(FOLDS)


def test_cora_is_merged_and_its_folds_are_those_of_the_files(data_folder):
    made = er(data_folder)
    assert made.size["atoms"] == 2_946_386
    assert made.size["clauses"] > 7e11
    train, test = made.split(0)
    assert (len(train.domain("bib")), len(test.domain("bib"))) == (1036, 259)
    assert test.number_of_facts() == 7463
    sizes = {type_: len(made.whole.domain(type_)) for type_ in made.mln.vocabulary.types}
    by_hand = sum(
        np.prod([sizes[type_] for type_ in predicate.types])
        for predicate in made.mln.vocabulary.predicates.values()
    )
    assert made.size["atoms"] == by_hand


def test_keeping_nothing_leaves_an_empty_database():
    made = smoker(10)
    empty = keep_constants(made.whole, {"person": np.zeros(0, np.int64)})
    assert empty.number_of_facts() == 0
    assert not empty.domain("person")


def test_clauses_are_counted_as_an_enumeration_counts_them():
    made = protein(4)
    pairs = len(list(product(made.whole.domain("protein"), repeat=2)))
    assert made.size["clauses"] == 14 * 14 * pairs + 14 * 4 + pairs


def test_other_data_are_refused_with_the_names_that_there_are():
    with pytest.raises(ArgumentError, match="There is no data smokers"):
        benchmark("smokers")
    with pytest.raises(ArgumentError, match="--files names the folder"):
        benchmark("er")
