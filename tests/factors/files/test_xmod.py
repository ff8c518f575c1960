"""Files of networks with decision trees, as WinMine and Libra write them; hostile ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.files import xml_elements
from mlnlab.factors.files.xmod_reading import parse_xmod
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from tests.support.thoroughness import examples
from tests.support.tree_networks import joint_distribution, random_tree_network

VARIABLES = """<Variables>
<Variable name="Rain" type="categorical"><State index="0" name="no"/><State index="1" name="yes"/></Variable>
<Variable name="Wind" type="categorical">
<State index="0" name="calm"/><State index="1" name="breeze"/><State index="2" name="storm"/></Variable>
</Variables>"""
RAIN = """<LocalModel variable="Rain"><Inputs><Input variable="Wind"/></Inputs><DecisionTree>
<Vertex split="Wind">
    <Branch><Values>1</Values>
        <Leaf><Multinomial><Probs>0.25 0.75</Probs><Counts>0 0</Counts></Multinomial></Leaf></Branch>
    <Branch><Values>0 2</Values>
        <Vertex split="Wind">
            <Branch><Values>0</Values>
                <Leaf><Multinomial><Probs>0.9 0.1</Probs><Counts>0 0</Counts></Multinomial></Leaf></Branch>
            <Branch><Values>1 2</Values>
                <Leaf><Multinomial><Probs>0.5 0.5</Probs><Counts>0 0</Counts></Multinomial></Leaf></Branch>
        </Vertex></Branch>
</Vertex></DecisionTree></LocalModel>"""
WIND = """<LocalModel variable="Wind"><DecisionTree>
<Leaf><Multinomial><Probs>0.333333333333 0.333333333333 0.333333333333</Probs></Multinomial></Leaf>
</DecisionTree></LocalModel>"""


def document(*local_models, variables=VARIABLES):
    models = "\n".join(local_models)
    return (
        '<?xml version="1.0" standalone="yes"?>\n<AnalysisNotebook>\n'
        f'{variables}\n<Model name=""><LocalModels>\n{models}\n</LocalModels></Model>\n</AnalysisNotebook>\n'
    )


def test_a_chain_of_vertices_on_one_variable_is_one_split():
    network = parse_xmod(document(RAIN, WIND))
    assert [(v.name, v.values) for v in network.variables] == [
        ("Rain", ("no", "yes")), ("Wind", ("calm", "breeze", "storm"))
    ]  # fmt: skip
    table = network.to_tables()["Rain"]
    assert table.probabilities.tolist() == [[0.9, 0.1], [0.25, 0.75], [0.5, 0.5]]
    assert isinstance(network.trees[0].nodes[0], TreeSplit)
    assert len(network.trees[0].nodes) == 4
    assert network.trees[1].leaves()[0].probabilities == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_tables_are_read_as_trees():
    entries = "".join(
        f"<TableEntry><InputStates>{wind}</InputStates><Multinomial><Probs>{p} {1 - p}</Probs></Multinomial>"
        "</TableEntry>" for wind, p in enumerate([0.5, 0.25, 0.125])
    )  # fmt: skip
    inputs = '<Inputs><Input variable="Wind"/></Inputs>'
    table = f'<LocalModel variable="Rain">{inputs}<Table>{entries}</Table></LocalModel>'
    network = parse_xmod(document(table, WIND))
    assert network.to_tables()["Rain"].probabilities.tolist() == [[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]]
    short = table.replace("<InputStates>2</InputStates>", "<InputStates>3</InputStates>")
    with pytest.raises(ml.InputError, match=r"no entry for the inputs \(2,\)"):
        parse_xmod(document(short, WIND))
    none = table.replace(entries, "")
    with pytest.raises(ml.InputError, match="the table has 0 of its 3 entries"):
        parse_xmod(document(none, WIND))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_networks_come_back(seed):
    network = random_tree_network(np.random.default_rng(seed), most_values=4, splits=9)
    again = parse_xmod(ml.xmod_text(network))
    assert again.variables == network.variables
    assert joint_distribution(again) == joint_distribution(network)
    assert [len(tree.nodes) for tree in again.trees] == [len(tree.nodes) for tree in network.trees]
    assert ml.xmod_text(again) == ml.xmod_text(network)


def test_merged_leaves_and_odd_names_come_back(tmp_path):
    variables = ml.RandomVariable('<A & "B">', ("x<y", "ü")), ml.RandomVariable.numbered("C", 3)
    split = TreeSplit(1, (1, 2, 1)), TreeLeaf((0.1, 0.9)), TreeLeaf((0.5, 0.5))
    network = TreeNetwork(variables, (DecisionTree(split), DecisionTree((TreeLeaf((0.2, 0.3, 0.5)),))))
    ml.save_xmod(network, tmp_path / "odd.xmod")
    again = ml.load_xmod(tmp_path / "odd.xmod")
    assert again.variables == variables
    assert joint_distribution(again) == pytest.approx(joint_distribution(network))


def test_types_of_variables_are_read():
    variables = """<Variables><TypeVariables><Variable name="t"><State index="1" name="b"/>
    <State index="0" name="a"/></Variable></TypeVariables><Variable name="X" typeVariable="t"/></Variables>"""
    leaf = "<Leaf><Multinomial><Probs>1 0</Probs></Multinomial></Leaf>"
    tree = f'<LocalModel variable="X"><DecisionTree>{leaf}</DecisionTree></LocalModel>'
    assert parse_xmod(document(tree, variables=variables)).variables[0].values == ("a", "b")


OWN = RAIN.replace('"Wind"', '"Rain"').replace("0 2", "0").replace("1 2", "1")
BOMB = """<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><AnalysisNotebook>&b;</AnalysisNotebook>"""
FILE = """<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><AnalysisNotebook>&a;</AnalysisNotebook>"""


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "this is not XML: no element found"),
    ("<AnalysisNotebook>", "this is not XML"),
    ("<html/>", "begins with <AnalysisNotebook>, not with <html>"),
    ("<AnalysisNotebook/>", "<AnalysisNotebook> holds 0 <Variables>, and needs one"),
    (BOMB, "line 1: entities are declared"),
    (FILE, "line 1: entities are declared"),
    ("<a>" * 60_000, "nested more than 50,000 times"),
    (b"\xff\xfe\x00", "this is not XML"),
    (document(WIND), "Rain has no <LocalModel>"),
    (document(RAIN, RAIN, WIND), "line 21: Rain has a second <LocalModel>"),
    (document(RAIN.replace("0 2", "2"), WIND), "no branch of the vertex on Wind has the value 0"),
    (document(RAIN.replace("0 2", "0 3"), WIND), "Wind has no value 3"),
    (document(RAIN.replace("0 2", "all"), WIND), "<Values> lists whole numbers"),
    (document(RAIN.replace('split="Wind"', 'split="Wnd"'), WIND), "no variable Wnd.* Wind"),
    (document(OWN, WIND), "The tree for Rain splits on variable 0"),
    (document(RAIN.replace(' split="Wind"', ""), WIND), "<Vertex> has no attribute split"),
    (document(RAIN.replace("0.9 0.1", "0.9 0.2"), WIND), "2 probabilities for Rain that add up to 1"),
    (document(RAIN.replace("0.9 0.1", "0.9 x"), WIND), "2 probabilities for Rain"),
    (document(RAIN.replace("0.9 0.1", "nan nan"), WIND), "2 probabilities for Rain"),
    (document(RAIN.replace("<Leaf>", "<Leaf/><Leaf>", 1), WIND), "<Branch> holds 2 of <Vertex> and <Leaf>"),
    (document(RAIN, WIND, variables=VARIABLES.replace('index="1"', 'index="0"')), "states are numbered"),
    (document(RAIN, WIND, variables=VARIABLES.replace('"1"', f'"{"1" * 5000}"')), "states are numbered"),
    (document(RAIN, WIND, variables=VARIABLES.replace('"yes"', '"no"')), "Rain has the value no twice"),
    (document(RAIN, WIND, variables=VARIABLES.replace('"Rain"', '"Wind"')), "no variable Rain"),
])  # fmt: skip
def test_wrong_and_hostile_files_are_refused(text, sentence):
    with pytest.raises(ml.InputError, match=sentence):
        parse_xmod(text, "model.xmod")


def test_deep_trees_are_read_without_recursion(monkeypatch):
    depth = 1_200
    variables = [ml.RandomVariable.numbered(f"X{n}", 2) for n in range(depth + 1)]
    nodes = []
    for number in range(1, depth + 1):
        nodes += [TreeSplit(number, (2 * number - 1, 2 * number)), TreeLeaf((0.5, 0.5))]
    trees = [DecisionTree((*nodes, TreeLeaf((0.5, 0.5)))), *[DecisionTree((TreeLeaf((0.5, 0.5)),))] * depth]
    network = TreeNetwork(tuple(variables), tuple(trees))
    assert len(parse_xmod(ml.xmod_text(network)).trees[0].nodes) == 2 * depth + 1
    monkeypatch.setattr(xml_elements, "DEEPEST", 1_000)
    with pytest.raises(ml.InputError, match="nested more than 1,000 times"):
        parse_xmod(ml.xmod_text(network))
