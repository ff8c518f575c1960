"""The loops in C come to our results, and a comparison sees where they do not."""

from __future__ import annotations

import pytest

from mlnlab.inference.search.landscape import landscape_of
from mlnlab.inference.search.walk_arrays import members_of
from tests.benchmarks.beside_c import (
    cluster_speed,
    enumeration_speed,
    gibbs_speed,
    in_c,
    leaf_speed,
    message_speed,
    sample_sat_speed,
    walk_sat_speed,
)
from tests.benchmarks.beside_c.measurement import TINY, Measurement, compared

needs_compiler = pytest.mark.skipif(in_c.find_compiler() is None, reason="no C compiler here")


def friends(effort, functions):
    landscape = landscape_of(gibbs_speed.smokers())
    return walk_sat_speed.flips_per_second("", landscape, members_of(landscape.ground), effort, functions)


MEASUREMENTS = {
    "gibbs": lambda c: gibbs_speed.updates_per_second("", gibbs_speed.smokers(), TINY, c),
    "gibbs-3-sat": lambda c: gibbs_speed.updates_per_second("", gibbs_speed.three_sat(1_000), TINY, c),
    "max-walk-sat": lambda c: friends(TINY, c),
    "max-walk-sat-3-sat": lambda c: walk_sat_speed.flips_per_second(
        "", *walk_sat_speed.three_sat(1_000), TINY, c
    ),
    "sample-sat": lambda c: sample_sat_speed.moves_per_second("", *sample_sat_speed.smokers_torn(), TINY, c),
    "sample-sat-3-sat": lambda c: sample_sat_speed.moves_per_second(
        "", *sample_sat_speed.three_sat(1_000), TINY, c
    ),
    "messages": lambda c: message_speed.messages_per_second("", gibbs_speed.smokers(), TINY, c),
    "tables": lambda c: message_speed.draws_per_second("", message_speed.lattice(), TINY, c),
    "cluster-messages": lambda c: cluster_speed.log_messages_per_second("", 20, TINY, c),
    "allowed-cells": lambda c: cluster_speed.sums_per_second("", 37, TINY, c),
    "leaf-counts": lambda c: leaf_speed.words_per_second("", leaf_speed.random_table(), TINY, c),
    "enumeration": lambda c: enumeration_speed.worlds_per_second(24, 1, c),
}


@pytest.fixture(scope="module")
def wrong_in_c(tmp_path_factory):
    """The loops with a fault in each."""
    folder = tmp_path_factory.mktemp("wrong")
    for source in in_c.SOURCES.glob("*.c"):
        text = source.read_text().replace("if (w >> a & 1) marginals", "if (w >> a & 2) marginals")
        text = text.replace("double told = log(worth)", "double told = 0.5 * log(worth)")
        text = text.replace("+= log(sums[value])", "+= 0.5 * log(sums[value])")
        text = text.replace("terms[at] = low + high", "terms[at] = low - high")
        text = text.replace("popcountll(mask & row[c])", "popcountll(mask | row[c])")
        # Numbers below a half only: other ones, but none by which a loop would look beside its arrays.
        (folder / source.name).write_text(text.replace("0x1.0p-53", "0x0.8p-53"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_c, "SOURCES", folder)
        with in_c.functions_in_c(in_c.find_compiler()) as functions:
            yield functions


@needs_compiler
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_the_loop_in_c_follows_ours(in_c, name):
    found = MEASUREMENTS[name](in_c)
    assert found.same_results
    assert min(found.ours, found.in_c, found.ratio, found.memory) > 0


@needs_compiler
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_other_results_in_c_are_seen(wrong_in_c, name):
    assert not MEASUREMENTS[name](wrong_in_c).same_results


def test_a_compiler_that_fails_gives_its_reason(tmp_path):
    script = tmp_path / "gcc"
    script.write_text("#!/bin/sh\necho 'gcc: error: no licence' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(in_c.CompilerError, match="failed: gcc: error: no licence"):
        in_c.compiled_functions(str(script), tmp_path)


def test_a_ratio_is_the_median_of_the_rounds():
    found = compared("x", "steps", 6_000_000, [(1.0, 2.0), (2.0, 2.0), (3.0, 30.0)], same_results=True)
    assert found == Measurement("x", "steps", 3.0, 3.0, 2.0, same_results=True)
