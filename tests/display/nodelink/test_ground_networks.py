"""How ground networks are drawn: what is there, what a world or probabilities change, what never changes."""

from __future__ import annotations

import re
from itertools import pairwise, product

import numpy as np
import pytest
from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.model.hypergraph_scenes import places_in
from mlnlab.display.nodelink.ground_network_layout import can_be_drawn
from mlnlab.display.nodelink.ground_network_scenes import ground_network_scene, network_drawing, network_part
from mlnlab.display.nodelink.ground_networks import scene_of
from mlnlab.display.scene.items import Group, Path, Rectangle
from mlnlab.display.scene.patches import patch_between
from mlnlab.display.scene.svg import svg_text
from mlnlab.steps.recordings.trace import Trace
from tests.display.things import HOSTILE, hostile_model
from tests.support.effort import calls_of

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
-0.7 Smokes(x)
Cancer(Anna) v Cancer(Bob).
"""
FACTS = "Friends(Anna, Bob)\nFriends(Bob, Carl)\nFriends(Carl, Dora)\nFriends(Dora, Anna)\n0.7 Smokes(Dora)"


def friends(facts=FACTS, query=("Smokes", "Cancer")):
    mln = ml.MLN.from_text(MODEL)
    return ml.ground_network(mln, ml.Database.from_text(facts, mln), list(query))


def crowd(people, pairs, seed=0):
    """Friends of friends, too many for boxes with names."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, people, (pairs, 2))
    facts = "\n".join(f"Friends(P{a}, P{b})" for a, b in rows)
    mln = ml.MLN.from_text(MODEL.rsplit("\n", 2)[0])
    return ml.ground_network(mln, ml.Database.from_text(facts, mln), ["Smokes", "Cancer"])


def nodes(scene):
    layer = next(layer for layer in scene.layers if layer.id == "atoms")
    return {item.tooltip.split("\n")[0]: item for item in layer.children}


def links(scene):
    layer = next(layer for layer in scene.layers if layer.id == "links")
    return [item for item in layer.children if isinstance(item, Group)]


def test_there_is_a_box_for_each_atom_and_a_line_for_each_pair_and_formula():
    network = friends()
    scene = ground_network_scene(network)
    assert set(nodes(scene)) == set(map(str, network.atoms))
    drawn = {tuple(map(int, item.id.split("-")[-2:])) for item in links(scene)}
    assert drawn == set(map(tuple, network.pairs().tolist()))
    assert scene.description == "8 open atoms and 14 links; evidence decides 12 of 26 groundings."


def test_lines_lead_from_box_to_box():
    network = friends()
    scene = ground_network_scene(network)
    at = [(item.x, item.y) for item in nodes(scene).values()]
    for item in links(scene):
        start, end = (at[int(number)] for number in item.id.split("-")[-2:])
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", item.children[0].path)]
        assert numbers[:2] == pytest.approx(start, abs=0.11)
        assert numbers[-2:] == pytest.approx(end, abs=0.11)


def test_formulas_differ_by_hue_and_dash_and_hard_ones_are_thick():
    scene = ground_network_scene(friends())
    looks = {item.tooltip.split("\n")[0]: item.children[0].look for item in links(scene)}
    assert looks == {
        "1.5 Smokes(x) ⇒ Cancer(x)": "curve blue",
        "1.1 Friends(x, y) ⇒ (Smokes(x) ⇔ Smokes(y))": "curve orange dashed",
        "Cancer(Anna) ∨ Cancer(Bob).": "curve purple dotdash thick",
    }
    words = [
        item.text
        for item in scene.layers[-1].children[0].children
        for item in item.children
        if hasattr(item, "text")
    ]
    assert "1.5 Smokes(x) ⇒ Cancer(x)" in words
    assert "soft evidence 0.7 Smokes(Dora)" in words


def test_cards_tell_weights_and_what_a_formula_says_here():
    scene = ground_network_scene(friends())
    anna = nodes(scene)["Smokes(Anna)"]
    assert anna.tooltip.split("\n") == ["Smokes(Anna)", "in 4 links, 3 neighbours", "-0.7 Smokes(x)"]
    line = next(item for item in links(scene) if "Cancer(Anna) ∨" in item.tooltip)
    assert line.tooltip.split("\n") == ["Cancer(Anna) ∨ Cancer(Bob).", "hard", "Cancer(Anna) ∨ Cancer(Bob)"]


def test_links_of_more_atoms_are_marks():
    network = friends("Friends(Anna, Bob)\nCancer(Bob)\nSmokes(Eve)", ("Smokes", "Cancer", "Friends"))
    scene = ground_network_scene(network, view="factors")
    marks = [item for item in links(scene) if not isinstance(item.children[0], Path) or item.x]
    joined = [link for link in range(network.number_of_links) if len(network.links.atoms_of(link)) > 1]
    assert len(marks) == len(
        {(int(network.links.sources[k]), tuple(network.links.atoms_of(k))) for k in joined}
    )


def test_blocks_are_there():
    network = ml.ground_network(
        ml.MLN.from_text("p = {A}\ncolour = {Red, Green, Blue}\nHas(p, colour!)\n1 Has(x, Red)")
    )
    looks = [item.children[0].look for item in links(ground_network_scene(network))]
    assert looks == ["curve grey dotted thick"] * 3


# --- worlds and probabilities ---------------------------------------------------------------------


def filling(node):
    frame, inside = node.children[:2]
    return inside.width / (frame.width - 6)


def test_truth_is_told_by_frame_and_filling():
    network = friends()
    truths = [True, False] * 4
    scene = ground_network_scene(network, truths)
    for (name, node), truth in zip(nodes(scene).items(), truths, strict=True):
        assert node.children[0].look == ("ring grey thick" if truth else "ring grey dashed")
        assert filling(node) == truth
        assert f"{'true' if truth else 'false'} in this world" in node.tooltip, name


def test_boxes_are_filled_as_far_as_atoms_are_probable():
    network = friends()
    probabilities = np.linspace(0, 1, 8)
    for truths in (None, probabilities > 0.4):
        shown = nodes(ground_network_scene(network, truths, probabilities)).values()
        assert [filling(node) for node in shown] == pytest.approx(probabilities, abs=0.002)
        assert [f"probability {p:.3f}" in node.tooltip for node, p in zip(shown, probabilities, strict=True)]
    unknown = nodes(ground_network_scene(network, probabilities=[np.nan] * 8)).values()
    assert all(filling(node) == 0 and "probability" not in node.tooltip for node in unknown)


@pytest.mark.parametrize("network", [friends(), crowd(60, 90)], ids=["boxes", "dots"])
def test_a_new_state_changes_values_only(network):
    drawing = network_drawing(network)
    rng = np.random.default_rng(1)
    scenes = [
        drawing.scene(rng.random(network.number_of_atoms) > 0.5, rng.random(network.number_of_atoms))
        for _ in range(4)
    ]
    ids = [[item.id for item in scene.items()] for scene in scenes]
    assert all(other == ids[0] for other in ids)
    assert len({str(scene.to_json()) for scene in scenes}) == len(scenes)
    for before, after in pairwise(scenes):
        patch = patch_between(before, after)
        assert patch is not None
        assert len(patch) > 0


def test_ids_are_numbers_that_stay_when_evidence_comes():
    before = nodes(ground_network_scene(friends()))
    after = nodes(ground_network_scene(friends(FACTS + "\nSmokes(Bob)")))
    assert set(after) == set(before) - {"Smokes(Bob)"}
    assert all(before[name].id == after[name].id for name in after)


def test_earlier_places_are_kept():
    first = ground_network_scene(friends())
    fresh = ground_network_scene(friends(FACTS + "\nSmokes(Bob)"))
    kept = ground_network_scene(friends(FACTS + "\nSmokes(Bob)"), previous=places_in(first))

    def moved(scene):
        old, new = places_in(first), places_in(scene)
        names = [name for name in new if name in old and name.startswith("atom")]
        return np.mean([np.hypot(*np.subtract(old[name], new[name])) for name in names])

    assert moved(kept) < 30
    assert moved(kept) < moved(fresh)


def test_a_sampler_fills_its_network():
    mln = ml.MLN.from_text(MODEL)
    sampler = ml.sampler(
        "gibbs",
        mln,
        ml.Database.from_text(FACTS, mln),
        query=["Smokes", "Cancer"],
        samples=200,
        burn_in=20,
        seed=3,
    )
    trace = Trace()
    from mlnlab.steps.step import run

    run(sampler, observers=[trace])
    reader = sampler.reader()
    draw = network_part(reader, chain=1)
    scenes = []
    for index in trace.indices:
        step = trace.seek(index)
        scene = draw(step, trace)
        truths = reader.truths(step.state)[1]
        shown = nodes(scene)
        assert ["thick" in shown[str(atom)].children[0].look for atom in reader.atoms] == truths.tolist()
        if step.state.batches.samples:
            found = reader.marginals(step.state)
            for atom in reader.atoms:
                assert filling(shown[str(atom)]) == pytest.approx(found[str(atom)], abs=0.002)
        scenes.append(scene)
    assert all(patch_between(a, b) is not None for a, b in pairwise(scenes))


def test_a_new_state_is_drawn_with_less_work():
    """Live views ask twenty times a second: a state costs far less than the first drawing."""
    network = crowd(120, 150)
    rng = np.random.default_rng(0)
    drawings = []

    def drawn():
        drawings.append(network_drawing(network))
        again()

    def again():
        truths, probabilities = rng.random(network.number_of_atoms) > 0.5, rng.random(network.number_of_atoms)
        drawings[0].scene(truths, probabilities)

    first = calls_of(drawn)
    assert max(calls_of(again) for _ in range(5)) < first / 3


# --- in a cell ------------------------------------------------------------------------------------


def page_of(value):
    return BeautifulSoup(bundle(value)["text/html"], "html.parser")


def test_the_display_tells_first_what_was_known_before():
    page = page_of(friends())
    text = page.get_text(" ")
    assert "8 open atoms and 14 links; evidence decides 12 of 26 groundings" in text
    assert text.index(
        "Known before grounding: 8 open atoms, at most 14 of 26 groundings of formulas open"
    ) < text.index("as a table")
    assert page.img["alt"].startswith("Ground network: 8 open atoms")
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in page.find("table").find_all("tr")]
    assert rows[2] == ["1.1 Friends(x, y) ⇒ (Smokes(x) ⇔ Smokes(y))", "16", "12", "0", "4"]


def test_nothing_open_and_impossible_get_sentences():
    mln = ml.MLN.from_text("t = {A}\nP(t)\nQ(t)\n1 P(x)\nQ(x).")
    page = page_of(ml.ground_network(mln, ml.Database.from_text("P(A)", mln), ["P"]))
    assert "Nothing is open" in page.get_text()
    assert "No world is possible: the evidence alone contradicts Q(x)." in page.get_text()
    assert page.img is None


def test_sizes_show_themselves():
    mln = ml.MLN.from_text("S(person)\nF(person, person)\n2 F(x, y) ^ S(x) => S(y)\n1 S(x)")
    page = page_of(ml.network_size(mln, {"person": 100_000}))
    assert "10,000,100,000 open atoms, at most 10,000,100,000 of 10,000,100,000 groundings" in page.get_text()
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in page.find_all("tr")]
    assert rows[1:] == [
        ["2.0 F(x, y) ∧ S(x) ⇒ S(y)", "10,000,000,000", "at most 10,000,000,000"],
        ["1.0 S(x)", "100,000", "100,000"],
    ]


@pytest.mark.parametrize("network", [friends(), crowd(60, 90), crowd(150, 250), crowd(900, 1500)])
def test_whatever_the_size_it_fits_into_a_notebook(network):
    assert bundle_size(bundle(network)) < 350_000
    scene = scene_of(network)
    for item in scene.items():
        if isinstance(item, Group) and item.id.startswith(("atom", "link")):
            assert -20 <= item.x <= scene.width + 1
            assert -20 <= item.y <= scene.height + 1


@pytest.mark.parametrize("name", HOSTILE[:6])
def test_hostile_names_are_texts(name):
    network = ml.ground_network(hostile_model(name), None, ["Smokes", "Cancer"])
    scene = ground_network_scene(network)
    text = svg_text(scene)
    assert "<script" not in text
    assert "<img" not in text
    assert all(re.fullmatch(r"[a-z0-9-]*", item.id) for item in scene.items())


def test_the_same_network_is_drawn_the_same():
    assert ground_network_scene(friends()).to_json() == ground_network_scene(friends()).to_json()


def test_boxes_do_not_overlap():
    boxes = [
        (node.x, node.y, node.children[0].width, node.children[0].height)
        for node in nodes(ground_network_scene(friends())).values()
    ]
    for (x, y, width, height), (u, v, other, high) in product(boxes, boxes):
        if (x, y) != (u, v):
            assert abs(x - u) >= (width + other) / 2 - 1 or abs(y - v) >= (height + high) / 2 - 1


def test_what_is_drawn_atom_by_atom_is_bounded():
    assert can_be_drawn(crowd(120, 150))
    assert not can_be_drawn(crowd(900, 1500))
    assert isinstance(nodes(ground_network_scene(friends()))["Smokes(Anna)"].children[0], Rectangle)


def test_more_links_than_a_page_can_show_are_told_of():
    names = ", ".join(f"X{n}" for n in range(24))
    network = ml.ground_network(ml.MLN.from_text(f"t = {{{names}}}\nP(t)\n1 P(x) v P(y) v P(z)"))
    assert not can_be_drawn(network)
    scene = network_drawing(network).scene([True] * 24)
    number = int(re.search(r"([\d,]+) links of these are too many", scene.description)[1].replace(",", ""))
    drawn = [item for item in links(scene) if item.id]
    assert 0 < len(drawn) <= 1_000
    assert 0 < number < network.number_of_links
