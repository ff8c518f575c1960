"""UAI and BIF: written and read back, wrong texts refused with their places, mutated texts never a crash."""

from __future__ import annotations

import re
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.files.bif_reading import bif_network
from mlnlab.factors.files.uai_reading import uai_evidence, uai_model
from tests.factors import brute_force as plain
from tests.support.pace import slower

GREENHOUSE = ml.bif_text(ml.sample_network("greenhouse"))
LATTICE = ml.uai_text(ml.sample_network("lattice"))
COIN = """network coin {
  property author = someone; // the coin is fair
}
variable Coin { type discrete [ 2 ] { heads, tails }; property position = (1, 2); }
variable Bet { type discrete[2] { won lost }; }
/* the bet
   is on heads */
probability ( Coin ) { table 0.5, 0.5; }
probability ( Bet | Coin ) { (heads) 1.0 0.0; default 0.1, 0.9; }
"""


def same_network(one, other):
    assert one.variables == other.variables
    for left, right in zip(one.tables, other.tables, strict=True):
        assert left.parents == right.parents
        assert np.array_equal(left.probabilities, right.probabilities)


# --- round trips ----------------------------------------------------------------------------------


@given(plain.networks())
def test_bif_keeps_every_bit_and_every_name(network):
    found = bif_network(ml.bif_text(network))
    same_network(found, network)
    assert found.name == (network.name or "unnamed")


@given(plain.networks())
def test_uai_keeps_every_bit_of_a_bayesian_network(network):
    found = uai_model(ml.uai_text(network))
    assert [v.size for v in found.variables] == [v.size for v in network.variables]
    assert found.parents() == network.parents()
    for left, right in zip(found.tables, network.tables, strict=True):
        assert np.array_equal(left.probabilities, right.probabilities)


@given(plain.graphs())
def test_uai_keeps_the_weights_of_a_factor_graph(graph):
    text = ml.uai_text(graph)
    found = uai_model(text)
    assert [found.scope(factor) for factor in found.factors] == [
        graph.scope(factor) for factor in graph.factors
    ]
    for left, right in zip(found.factors, graph.factors, strict=True):
        assert np.allclose(left.logs, right.logs, rtol=1e-14, atol=1e-13)
    assert ml.uai_text(found) == text


def test_files_are_written_and_read(tmp_path):
    network = ml.sample_network("greenhouse")
    ml.save_bif(network, tmp_path / "a.bif")
    same_network(ml.load_bif(tmp_path / "a.bif"), network)
    ml.save_uai(network, tmp_path / "a.uai")
    evidence = {"Alarm": "rings", "Season": "summer"}
    (tmp_path / "a.evid").write_text(ml.uai_evidence_text(network, evidence))
    known = ml.load_uai_evidence(tmp_path / "a.evid")
    ours = ml.junction_tree(network).calibrated(evidence)
    theirs = ml.junction_tree(ml.load_uai(tmp_path / "a.uai")).calibrated(known)
    assert theirs.log_z == pytest.approx(ours.log_z, rel=1e-14)
    assert list(theirs["x8"].values()) == pytest.approx(list(ours["Soil"].values()))
    with pytest.raises(ml.InputError, match="There is no file"):
        ml.load_uai(tmp_path / "none.uai")
    with pytest.raises(ml.InputError, match="There is no file"):
        ml.load_bif(tmp_path / "none.bif")


def test_weights_that_uai_cannot_hold_are_refused():
    coin = ml.RandomVariable.numbered("c", 2)
    for logs in ([0, -800], [0, 800]):
        with pytest.raises(ml.ArgumentError, match="too large or too small for UAI"):
            ml.uai_text(ml.FactorGraph([ml.Factor((coin,), logs)]))
    assert "0.0 1.0" in ml.uai_text(ml.FactorGraph([ml.Factor((coin,), [-np.inf, 0])]))
    with pytest.raises(ml.ArgumentError, match="is written"):
        ml.uai_text(3)
    with pytest.raises(ml.ArgumentError, match="written as BIF"):
        ml.bif_text(ml.sample_network("lattice"))


# --- what a text means ----------------------------------------------------------------------------


def test_the_last_variable_of_an_uai_scope_turns_fastest():
    graph = uai_model("MARKOV\n2\n2 3\n1\n2 1 0\n6\n1 2\n3 4\n5 6\n")
    assert graph.factors[0].weight({"x1": 2, "x0": 1}) == 6
    assert graph.factors[0].weight({"x1": 1, "x0": 0}) == 3


def test_the_last_variable_of_a_bayes_scope_is_the_child():
    network = uai_model("BAYES 2 2 2 2  2 0 1  1 0  4 .9 .1 .2 .8  2 0.25 .75")
    assert network["x1"].parents[0].name == "x0"
    assert network["x1"].probabilities.tolist() == [[0.9, 0.1], [0.2, 0.8]]


def test_bif_in_its_usual_dresses():
    network = bif_network(COIN)
    assert network.name == "coin"
    assert network["Bet"].probabilities.tolist() == [[1, 0], [0.1, 0.9]]
    # In a table the variable's own values turn slowest: P(won | heads), P(won | tails), P(lost | heads), ...
    row = COIN.replace("(heads) 1.0 0.0; default 0.1, 0.9;", "table 1.0 0.1 0.0 0.9;")
    assert bif_network(row)["Bet"].probabilities.tolist() == [[1, 0], [0.1, 0.9]]
    bare = COIN.replace("Bet | Coin", "Bet, Coin")
    assert bif_network(bare)["Bet"].parents[0].name == "Coin"


def test_keywords_may_be_names():
    text = (
        'network table {} variable type { type discrete [3] { table, default, "a } b" }; }'
        "probability ( type ) { default 0.25, 0.25, 0.5; }"
    )
    network = bif_network(text)
    assert network.variables == (ml.RandomVariable("type", ("table", "default", "a } b")),)
    same_network(bif_network(ml.bif_text(network)), network)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("2 0 1 3 2", {"x0": "1", "x3": "2"}),
        ("1\n1 4 0\n", {"x4": "0"}),
        ("1 4 0", {"x4": "0"}),
        ("0", {}),
        ("", {}),
        ("1\n0\n", {}),
    ],
)
def test_uai_evidence_in_both_forms(text, known):
    assert dict(uai_evidence(text)) == known


def test_numbers_of_variables_and_values_have_a_limit():
    assert dict(uai_evidence("1 1000000000 0")) == {"x1000000000": "0"}
    for text, what in (("1 5000000000 0", "variable"), ("1 3 5000000000", "value")):
        with pytest.raises(ml.InputError, match=f"the number of a {what}: it is from 0 to 1,000,000,000"):
            uai_evidence(text)


# --- what is wrong --------------------------------------------------------------------------------


def refused(read, text):
    with pytest.raises(ml.InputError) as caught:
        read(text)
    return caught.value.diagnostics


UAI = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n 1 2\n\n6\n 1 2 3\n 4 5 6\n"


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "said"),
    [
        ("MARKOV", "markov", "no-kind", (1, 1), "try: MARKOV"),
        ("MARKOV", "GRAPH", "no-kind", (1, 1), "MARKOV or BAYES"),
        ("2 3\n2", "2 0\n2", "number-out-of-range", (3, 3), "number of values of x1"),
        ("2 3\n2", "2 x\n2", "no-whole-number", (3, 3), "x is not a whole number"),
        ("2 3\n2", "2 ٣\n2", "no-whole-number", (3, 3), "not a whole number"),
        ("2 0 1", "2 0 7", "number-out-of-range", (6, 5), "from 0 to 1"),
        ("2 0 1", "2 1 1", "variable-twice", (6, 5), "variable 1 twice"),
        ("\n6\n", "\n5\n", "wrong-number-of-entries", (11, 1), "2 times 3 entries, not 5"),
        (" 4 5 6", " 4 5", "unfinished-file", (13, 4), "ends too early"),
        (" 4 5 6", " 4 5 6 7", "too-long", (13, 8), "goes on after the table of factor 1"),
        (" 4 5 6", " 4 -5 6", "no-weight", (13, 4), "-5 is not a weight"),
        (" 4 5 6", " 4 1_0 6", "no-number", (13, 4), "1_0 is not a number"),
        (" 4 5 6", " 4 nan 6", "no-number", (13, 4), "nan is not a number"),
        (" 4 5 6", " 4 1e999 6", "no-weight", (13, 4), "1e999 is not a weight"),
        (" 4 5 6", " 4 5e 6", "no-number", (13, 4), "5e is not a number"),
        ("\n2\n2 3", "\n99999999999999999999\n2 3", "number-out-of-range", (2, 1), "number of variables"),
        ("2 3\n2", "2 1000000000000\n2", "number-out-of-range", (3, 3), "1,000,000 here"),
    ],
)
def test_wrong_uai_has_a_place(old, new, code, place, said):
    assert old in UAI
    (found,) = refused(uai_model, UAI.replace(old, new, 1))
    assert found.code == code
    assert (found.span.line, found.span.column) == place
    assert said in str(found)
    assert "^" in str(found)


def test_wrong_bayes_tables_have_a_place():
    good = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n.5 .5\n\n4\n.9 .1\n.2 .8\n"
    assert uai_model(good).parents() == ((), (0,))
    for old, new, code, line in (
        (".2 .8", ".2 .7", "no-distribution", 11),
        ("2 0 1", "2 1 0", "table-twice", 11),
        ("2\n2 2\n2\n1 0\n2 0 1\n\n2\n.5 .5", "2\n2 2\n2\n2 1 0\n2 0 1\n\n4\n.5 .5 .5 .5", "cycle", 1),
        ("2\n1 0\n2 0 1\n\n2\n.5 .5", "1\n2 0 1\n", "no-table", 1),
    ):
        (found,) = refused(uai_model, good.replace(old, new, 1))
        assert (found.code, found.span.line) == (code, line)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 4", "unfinished-file"),
        ("2 0 1 0 0", "variable-twice"),
        ("1 a 2", "no-whole-number"),
        ("1 0 1 5", "too-long"),
    ],
)
def test_wrong_evidence(text, code):
    assert refused(uai_evidence, text)[0].code == code


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "said"),
    [
        ("network coin {", "netwrk coin {", "no-block", (1, 1), "network, variable or probability"),
        ("discrete [ 2 ]", "discrete [ 3 ]", "wrong-number-of-values", (4, 33), "2 values, not 3"),
        ("discrete [ 2 ]", "continuous [ 2 ]", "no-type", (4, 22), "not a type of variables"),
        ("heads, tails", "heads, heads", "wrong-values", (4, 39), "value heads twice"),
        ("variable Bet", "variable Coin", "variable-twice", (5, 10), "declared twice"),
        ("Bet | Coin", "Bet | Cion", "unknown-variable", (9, 21), "did you mean Coin"),
        ("Bet | Coin", "Bet Coin | Coin", "one-child", (9, 19), "one variable"),
        ("(heads) 1.0 0.0", "(head) 1.0 0.0", "unknown-value", (9, 31), "did you mean heads"),
        (
            "(heads) 1.0 0.0",
            "(heads, heads) 1.0 0.0",
            "wrong-row",
            (9, 31),
            "2 values, and there are 1 parents",
        ),
        ("(heads) 1.0 0.0", "(heads) 1.0 0.1", "no-distribution", (9, 38), "add up to 1.1"),
        ("(heads) 1.0 0.0", "(heads) 1.0", "wrong-number-of-entries", (9, 38), "2 numbers"),
        ("(heads) 1.0 0.0", "(heads) 1,0 x", "no-probability", (9, 42), "x is not a probability"),
        (
            "(heads) 1.0 0.0; default 0.1, 0.9;",
            "(heads) 1.0 0.0;",
            "missing-rows",
            (9, 15),
            "where Coin is tails",
        ),
        ("probability ( Coin ) {", "probability ( Coin ) ", "unexpected-symbol", (8, 23), "expected: {"),
        ("table 0.5, 0.5; }", "table 0.5, 0.5;", "unfinished-block", (8, 38), "ends too early"),
        ("table 0.5, 0.5; }", "table 0.5, 0.5 }", "unexpected-symbol", (8, 39), ";"),
        ("table 0.5, 0.5", "table 0.5, -0.5", "no-probability", (8, 35), "-0.5 is not a probability"),
        ("is on heads */", "is on heads", "open-end", (6, 1), "comment has no end"),
        (
            "probability ( Coin ) { table 0.5, 0.5; }",
            "",
            "no-table",
            (4, 10),
            "Coin has no probability block",
        ),
        ("{ heads,", '{ "heads,', "open-end", (4, 39), "string has no end"),
    ],
)
def test_wrong_bif_has_a_place(old, new, code, place, said):
    assert old in COIN
    found = refused(bif_network, COIN.replace(old, new, 1))
    assert found[0].code == code, str(found[0])
    assert (found[0].span.line, found[0].span.column) == place
    assert said in str(found[0])


def test_all_problems_of_a_file_in_one_pass():
    text = (
        COIN.replace("discrete [ 2 ]", "discrete [ 3 ]")
        .replace("won lost", "won won")
        .replace("0.5, 0.5", "x, y")
    )
    assert [found.code for found in refused(bif_network, text)] == [
        "wrong-number-of-values",
        "wrong-values",
        "no-probability",
    ]
    # What follows from a wrong declaration is no problem of its own.
    (only,) = refused(bif_network, COIN.replace("variable Coin {", "variable Coin "))
    assert only.code == "unexpected-symbol"


def test_a_cycle_in_bif_is_named():
    text = COIN.replace("( Coin ) { table 0.5, 0.5; }", "( Coin | Bet ) { default 0.5, 0.5; }")
    (found,) = refused(bif_network, text)
    assert re.search("Coin → Bet → Coin|Bet → Coin → Bet", found.message)


def test_many_problems_are_cut_short():
    text = "".join(f"variable v{n} {{ }}\n" for n in range(3_000))
    with pytest.raises(ml.InputError, match=r"has 3,000 problems. The first 20 are") as caught:
        bif_network(text)
    assert len(caught.value.diagnostics) == 20


def test_short_texts_cannot_ask_for_much_memory():
    names = "".join(f"variable v{n} {{ type discrete [4] {{a b c d}}; }}\n" for n in range(40))
    rest = "".join(f"probability (v{n}) {{ default .25 .25 .25 .25; }}\n" for n in range(1, 40))
    wide = "probability (v0 | " + ", ".join(f"v{n}" for n in range(1, 40)) + ") { default .25 .25 .25 .25; }"
    (found,) = refused(bif_network, names + rest + wide)
    assert found.code == "missing-rows"
    big = "MARKOV 60 " + "9 " * 60 + "1 60 " + " ".join(map(str, range(60))) + f" {9**60} 1 2 3"
    assert refused(uai_model, big)[0].code in {
        "unfinished-file",
        "number-out-of-range",
        "wrong-number-of-entries",
    }


def test_no_text_at_all():
    for read in (uai_model, uai_evidence):
        assert refused(read, b"\x00\x01")[0].code == "not-text"
        assert refused(read, b"\xff\xfe1 2")[0].code
    assert refused(bif_network, b"\xff")[0].code == "not-utf-8"
    assert refused(uai_model, "")[0].code == "unfinished-file"
    assert bif_network("").variables == ()


# --- mutations ------------------------------------------------------------------------------------


@st.composite
def mutations(draw, text):
    """A text with a few stretches cut, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        put = draw(
            st.sampled_from(
                ["", text[start:end] * 2, "{", "}", "(", "|", ";", '"', "/*", "-1", "9" * 25, "é\u2028"]
            )
        )
        text = text[:start] + put + text[end:]
    return text


def survives(read, text):
    try:
        read(text)
    except ml.InputError as problem:
        for found in problem.diagnostics:
            assert str(found)
            assert found.span.line >= 1


@given(mutations(GREENHOUSE))
def test_mutated_bif_never_crashes(text):
    survives(bif_network, text)


@given(mutations(LATTICE))
def test_mutated_uai_never_crashes(text):
    survives(uai_model, text)


@given(st.text(alphabet='{}()[]|,;"/*\\ \n01.ab-e', max_size=80))
def test_noise_never_crashes(text):
    for read in (bif_network, uai_model, uai_evidence):
        survives(read, text)


def test_a_million_numbers_are_read_in_seconds():
    table = " ".join(["0.25"] * 1_000_000)
    started = process_time()
    graph = uai_model(f"MARKOV 2 1000 1000 1 2 0 1 1000000 {table}")
    assert process_time() - started < 20 * slower()
    assert graph.number_of_cells == 1_000_000


def test_a_recorded_grid_has_the_marginals_that_another_program_found(reference_folder):
    folder = reference_folder / "rivals-outputs"
    found = ml.junction_tree(ml.load_uai(folder / "grid-14x14.uai")).calibrated()
    words = (folder / "grid-14x14.exact.MAR").read_text().split()
    assert found.log_z == pytest.approx(float(words[1]), abs=1e-6)
    numbers = iter(words[words.index("MAR") + 1 :])
    for variable in range(int(next(numbers))):
        recorded = [float(next(numbers)) for _ in range(int(next(numbers)))]
        assert list(found[f"x{variable}"].values()) == pytest.approx(recorded, abs=1e-6)
    assert next(numbers, None) is None
