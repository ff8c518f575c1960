"""Heuristic 2 on a path whose ground atoms are all true: it has nothing to judge clauses by."""

from __future__ import annotations

import pytest

import mlnlab as ml

WORDS = "Leads(person)\nIn(film, person)\nUnder(person, person)"


@pytest.fixture(scope="module")
def dbs():
    """Two teams each, whose clusters hold nothing but true atoms."""
    texts = []
    for n in range(2):
        for t in range(2):
            actors = [f"A{n}{t}{k}" for k in range(3)]
            lines = [f"In(M{n}{t}, {a})\nUnder({a}, D{n}{t})" for a in actors]
            texts.append("\n".join([f"Leads(D{n}{t})\nIn(M{n}{t}, D{n}{t})", *lines]))
    mln = ml.MLN.from_text(WORDS)
    return [ml.Database.from_text("\n".join(texts[n : n + 2]), mln) for n in (0, 2)]


def test_a_rule_is_lost_where_its_path_is_pure_unless_such_paths_are_spared(dbs):
    options = {"longest": 4, "fewest": 0, "length_penalty": 0.01, "path_length_penalty": 0.02}
    verdicts = {}
    for spared in (False, True):
        found = ml.learn_structure(dbs, method="lhl", pure_paths=spared, **options)
        (rule,) = [
            one for one in found.candidates
            if str(one.clause) == "!In(f, p1) v !In(f, p2) v !Leads(p1) v Under(p2, p1)"
        ]  # fmt: skip
        assert -0.08 < rule.near < 0  # nearly all of it the penalty: nothing was left to gain
        verdicts[spared] = rule.verdict
        rules = sum("Under" in str(one.formula) for one in found.clauses[3:])
        assert bool(rules) is spared
    assert verdicts == {False: "dropped on its path", True: "retained"}
