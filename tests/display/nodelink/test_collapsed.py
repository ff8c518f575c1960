"""Large pictures: groups in groups that open in their place, histograms where even these are too many."""

from __future__ import annotations

import re
import time
from functools import cache

import networkx as nx
import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.model.hypergraph_scenes import places_in
from mlnlab.display.nodelink.collapsed import MOST_SHOWN, collapse_graph, expand_groups, push_apart
from mlnlab.display.nodelink.collapsed_outline import (
    MOST_GROUPS,
    MOST_MEMBERS,
    ROOT,
    bin_words,
    compact,
    histograms,
    outline_of,
    summary_chart,
)
from mlnlab.display.nodelink.ground_networks import scene_of as network_scene
from mlnlab.display.nodelink.layouts.communities import communities
from mlnlab.display.scene.items import Circle, Group
from mlnlab.display.scene.svg import svg_text
from tests.display.nodelink.test_ground_networks import crowd
from tests.display.scene.gallery import many
from tests.display.scene.pages import draw, events, item, mount, open_page
from tests.display.things import HOSTILE
from tests.support.thoroughness import examples


@cache
def towns(people=9_000, per=60, friendships=24_000, seed=1):
    """People who know mostly those of their own town."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, people, friendships)
    near = first // per * per + rng.integers(0, per, friendships)
    second = np.where(rng.random(friendships) < 0.9, near, rng.integers(0, people, friendships))
    mln = ml.MLN.from_text("Knows(person, person)\nLivesIn(person, town)\nOld(person)")
    frames = {
        "Knows": {"a": [f"P{n}" for n in first], "b": [f"P{n}" for n in second]},
        "LivesIn": {"a": [f"P{n}" for n in range(people)], "t": [f"T{n // per}" for n in range(people)]},
        "Old": {"a": [f"P{n}" for n in range(0, people, 7)]},
    }
    return ml.Hypergraph.from_database(ml.Database.from_frames(frames, mln))


@cache
def network():
    return crowd(900, 1500)


def graphs():
    return [pytest.param(towns, id="hypergraph"), pytest.param(network, id="network")]


def folds(scene, state):
    return [item.id for item in scene.items() if item.expands == state]


def groups_of(outline, path=ROOT):
    for child in outline.children(path):
        yield child
        yield from groups_of(outline, child.path)


# --- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", graphs())
def test_groups_hold_every_node_once(graph):
    outline = outline_of(graph())
    for cluster in (outline.cluster(ROOT), *groups_of(outline)):
        children = outline.children(cluster.path)
        assert len(children) <= MOST_GROUPS
        if children:
            inside = np.concatenate([child.members for child in children])
            assert sorted(inside.tolist()) == sorted(cluster.members.tolist())
            assert len(children) > 1 or cluster.path == ROOT
        else:
            assert len(cluster.members) <= MOST_MEMBERS


def test_kinds_come_first():
    outline = outline_of(towns())
    assert [(child.words, len(child.members)) for child in outline.children(ROOT)] == [
        ("person", 9_000),
        ("town", 150),
    ]
    predicates = outline_of(network())
    assert [child.words for child in predicates.children(ROOT)] == ["Smokes", "Cancer"]


def test_who_belongs_together_is_in_one_group():
    """People of one town mostly share a group, and their towns are with them."""
    outline = outline_of(towns())
    group = np.full(9_000, -1)
    for place, child in enumerate(outline.children((0,))):
        group[child.members] = place
    names = [int(outline.name(node)[1:]) for node in range(9_000)]
    town = np.array(names) // 60
    shares = [np.bincount(group[town == number]).max() / 60 for number in range(150)]
    assert np.mean(shares) > 0.8


@pytest.mark.parametrize(
    ("edges", "size"),
    [
        ([(0, leaf) for leaf in range(1, 2_000)], 2_000),
        ([], 2_000),
        ([(0, 0)] * 5, 300),
        (list(nx.complete_graph(90).edges), 90),
        (list(nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40)).edges), 1_600),
    ],
    ids=["star", "isolated", "loops", "complete", "grid"],
)
def test_communities_are_several_whatever_the_graph(edges, size):
    labels = communities(size, edges, 24)
    counts = np.bincount(labels)
    assert 2 <= len(counts) <= 24
    assert counts.min() > 0
    assert counts.max() < 0.95 * size
    assert (np.diff(counts) <= 0).all()
    assert (communities(size, edges, 24) == labels).all()


def test_communities_are_nearly_as_good_as_planted_ones():
    graph = nx.planted_partition_graph(12, 30, 0.4, 0.01, seed=4)
    labels = communities(360, np.array(graph.edges), 24)
    parts = [set(np.flatnonzero(labels == k).tolist()) for k in range(labels.max() + 1)]
    planted = [set(range(30 * k, 30 * k + 30)) for k in range(12)]
    assert nx.community.modularity(graph, parts) > 0.9 * nx.community.modularity(graph, planted)


# --- what is drawn --------------------------------------------------------------------------------


def test_the_whole_is_a_few_discs_with_counts():
    scene = expand_groups(towns())
    assert folds(scene, "closed") == ["group-0", "group-1"]
    texts = {
        part.text
        for found in scene.items()
        if isinstance(found, Group)
        for part in found.children
        if hasattr(part, "text")
    }
    assert {"9,000", "person", "150", "town"} <= texts
    line = next(found for found in scene.items() if found.id == "group-0/group-1")
    assert line.tooltip.split("\n") == ["person and town", "9,000 atoms in common"]


@pytest.mark.parametrize("graph", graphs())
def test_a_click_opens_a_group_in_its_place(graph):
    groups = collapse_graph(graph())
    first = groups.scene()
    opened = groups.scene({"group-0"})
    assert folds(opened, "open") == ["group-0"]
    assert set(folds(opened, "closed")) == {"group-1", *(child.id for child in groups.outline.children((0,)))}
    assert groups.scene().to_json() == first.to_json()
    assert expand_groups(graph(), ["group-0"]).to_json() == opened.to_json()


def test_in_the_end_there_are_nodes_and_their_lines():
    groups = collapse_graph(network())
    outline = groups.outline
    leaf = next(cluster for cluster in groups_of(outline, (0,)) if not outline.children(cluster.path))
    path = [f"group-{'-'.join(map(str, leaf.path[:end]))}" for end in range(1, len(leaf.path) + 1)]
    scene = groups.scene(path)
    nodes = {found.id: found for found in scene.items() if found.pick}
    assert {found.tooltip.split("\n")[0] for found in nodes.values()} == {
        outline.name(node) for node in leaf.members.tolist()
    }
    lines = next(found for found in scene.items() if found.id == "single")
    members = set(leaf.members.tolist())
    inside = [pair for pair in network().pairs().tolist() if set(pair) <= members]
    assert lines.path.count("M") == len(inside)


def test_lines_count_the_links_in_common():
    groups = collapse_graph(network())
    outline, incidence = groups.outline, groups.outline.incidence.toarray()
    scene = groups.scene({"group-0"})
    checked = 0
    for found in scene.items():
        if "/group" not in found.id or found.id.startswith("region"):
            continue
        names = [tuple(map(int, name.split("-")[1:])) for name in found.id.split("/")]
        touched = [incidence[:, outline.cluster(path).members].any(axis=1) for path in names]
        number = int((touched[0] & touched[1]).sum())
        assert f"{number:,} link" in found.tooltip
        checked += 1
    assert checked > 10


def test_a_link_with_several_nodes_in_a_group_counts_once():
    mln = ml.MLN.from_text("Met(person, person, town)")
    facts = "\n".join(f"Met(P{n}, P{n + 1}, T{n % 3})" for n in range(100))
    scene = expand_groups(ml.Hypergraph.from_database(ml.Database.from_text(facts, mln)))
    line = next(found for found in scene.items() if found.id == "group-0/group-1")
    assert line.tooltip.split("\n")[1] == "100 atoms in common"


def test_no_more_is_opened_than_can_be_drawn():
    groups = collapse_graph(towns())
    everything = [cluster.id for cluster in groups_of(groups.outline)]
    scene = groups.scene(everything)
    shown = [found for found in scene.items() if found.pick or found.expands == "closed"]
    assert 300 < len(shown) <= MOST_SHOWN
    assert bundle_size({"scene": scene.to_json()}) < 500_000


def test_what_does_not_exist_is_not_opened():
    groups = collapse_graph(towns())
    strange = ["group-7", "group-0-99", "group-", "group-x", "constant-0-1", "", "group-0-0-0-0-0-0-0"]
    assert groups.scene(strange).to_json() == groups.scene().to_json()
    assert [groups.describe(name) for name in strange[:4]] == [""] * 4


def test_what_is_clicked_is_told_of():
    groups = collapse_graph(network())
    assert groups.describe("group-0").split("\n")[:2] == [
        "Smokes",
        f"{len(groups.outline.cluster((0,)).members)} open atoms",
    ]
    name = groups.outline.node_id(5)
    atom = network().atoms[5]
    told = groups.describe(name).split("\n")
    assert told[0] == str(atom)
    blanket = network().markov_blanket(atom)
    assert told[3].startswith(f"{len(blanket)} neighbour")
    assert all(str(other) in told[3] for other in blanket[:3])


# --- places ---------------------------------------------------------------------------------------

points = st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=2, max_size=9, unique=True)


@settings(max_examples=examples(70))
@given(points, st.data())
def test_what_is_pushed_never_comes_nearer(found, data):
    places = np.array(found)
    growth = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 5.0, 80.0]), min_size=len(found), max_size=len(found)))
    )
    moved = push_apart(places, growth)
    before = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    after = np.hypot(*(moved[:, None] - moved[None]).transpose(2, 0, 1))
    apart = before > 1e-6
    assert (after >= before - 1e-6).all()
    assert (after[apart] >= (before + growth[:, None] + growth[None])[apart] - 1e-6).all()


def discs(scene):
    """The middles and radii of closed groups and regions."""
    found = {}
    for thing in scene.items():
        if isinstance(thing, Group) and (thing.expands == "closed" or thing.id.startswith("region")):
            radius = next(part.radius for part in thing.children if isinstance(part, Circle))
            found[thing.id.removeprefix("region/")] = (thing.x, thing.y, radius)
    return found


@pytest.mark.parametrize("graph", graphs())
def test_opened_groups_and_others_do_not_overlap(graph):
    groups = collapse_graph(graph())
    opened = {"group-0", "group-0-1", "group-0-2", "group-1"}
    found = discs(groups.scene(opened))
    for name, (x, y, radius) in found.items():
        for other, (u, v, reach) in found.items():
            related = f"{name}-".startswith(f"{other}-") or f"{other}-".startswith(f"{name}-")
            if not related:
                assert np.hypot(x - u, y - v) > radius + reach - 0.5, (name, other)
        parent = name.rpartition("-")[0]
        if parent in found:
            x0, y0, outer = found[parent]
            assert np.hypot(x - x0, y - y0) + radius <= outer + 0.5


def test_opening_a_group_does_not_reshuffle_the_others():
    groups = collapse_graph(towns())
    before, after = (discs(groups.scene(opened)) for opened in ({"group-0"}, {"group-0", "group-0-5"}))
    others = [name for name in before if name.startswith("group-0-") and name != "group-0-5"]
    start = np.array([before[name][:2] for name in others]) - before["group-0-5"][:2]
    end = np.array([after[name][:2] for name in others]) - after["group-0-5"][:2]
    ways = np.hypot(*end.T) - np.hypot(*start.T)
    assert np.ptp(ways) < 1  # all are pushed equally far,
    turned = (start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]) / np.hypot(*start.T) / np.hypot(*end.T)
    assert np.abs(turned).max() < 0.01  # straight outwards
    again = discs(groups.scene({"group-0"}))
    assert again == before


def test_order_and_detours_make_no_difference():
    groups = collapse_graph(towns())
    groups.scene({"group-1", "group-0", "group-0-7"})
    opened = ["group-0-3", "group-0"]
    assert groups.scene(opened).to_json() == expand_groups(towns(), opened[::-1]).to_json()


def test_ids_stay_and_are_numbers():
    groups = collapse_graph(towns())
    scene = groups.scene({"group-0", "group-0-1"})
    assert all(re.fullmatch(r"[a-z0-9/-]*", found.id) for found in scene.items())
    assert set(places_in(groups.scene({"group-0"}))) - {"group-0-1"} >= {f"group-0-{k}" for k in range(2, 20)}


# --- in a browser, in a cell ----------------------------------------------------------------------


def test_a_click_asks_for_the_children_and_a_click_on_the_name_closes(browser):
    groups = collapse_graph(network())
    with open_page(browser, width=1400, height=900) as page:
        mount(page, groups.scene(), width=680)
        item(page, "group-0").click()
        assert events(page, "expand") == [{"type": "expand", "id": "group-0", "open": True}]
        draw(page, groups.scene({"group-0"}))
        assert item(page, "group-0").get_attribute("aria-expanded") == "true"
        item(page, "region/group-0").click(position={"x": 30, "y": 150}, force=True)
        assert len(events(page, "expand")) == 1
        item(page, "group-0").click()
        assert events(page, "expand")[-1] == {"type": "expand", "id": "group-0", "open": False}


def test_a_large_network_in_a_cell_shows_its_kinds_opened():
    scene = network_scene(network())
    assert folds(scene, "open") == folds(scene, "closed") == []
    assert not [found for found in scene.items() if found.pick]
    assert "region/group-0" in {found.id for found in scene.items()}
    assert bundle_size(bundle(network())) < 350_000


def test_hostile_names_are_texts():
    mln = ml.MLN.from_text("Knows(person, person)")
    names = [f"{name[:200]}{n}" for n in range(40) for name in HOSTILE]
    frames = {"Knows": {"a": names, "b": names[1:] + names[:1]}}
    graph = ml.Hypergraph.from_database(ml.Database.from_frames(frames, mln))
    groups = collapse_graph(graph)
    scene = groups.scene([cluster.id for cluster in groups_of(groups.outline)])
    text = svg_text(scene)
    assert "<script" not in text
    assert "<img" not in text
    assert scene.to_json()


def test_a_graph_without_nodes_or_links():
    mln = ml.MLN.from_text("Knows(person, person)")
    empty = ml.Hypergraph.from_database(ml.Database.from_text("", mln))
    assert folds(expand_groups(empty), "closed") == []
    lonely = ml.Hypergraph.from_database(ml.Database.from_text("person = {A, B, C}", mln))
    assert len(folds(expand_groups(lonely), "closed")) == 2


# --- histograms -----------------------------------------------------------------------------------


def test_histograms_count_every_node():
    graph = many(5_000, 30_000)
    found = histograms(outline_of(graph))
    degrees = graph.degrees()
    for histogram in found:
        name = list(graph.constants)[histogram.kind]
        first = graph.offsets[name]
        own = degrees[first : first + len(graph.constants[name])]
        assert histogram.total == len(own)
        assert histogram.most == own.max()
        for number, count in enumerate(histogram.counts):
            low, high = (0, 0) if number == 0 else (2 ** (number - 1), 2**number - 1)
            assert count == ((own >= low) & (own <= high)).sum()
            assert bin_words(number) in {f"{low:,}–{high:,}", f"{low}"}


def test_bars_are_as_high_as_the_counts():
    outline = outline_of(many(5_000, 30_000))
    histogram = histograms(outline)[0]
    bars = [part for part in summary_chart(outline).scene().items() if part.id.startswith("line-0-0-")]
    heights = [bar.height for bar in bars]
    expected = np.array(histogram.counts) / max(histogram.counts) * max(heights)
    assert heights == pytest.approx(expected.tolist(), abs=0.06)
    in_words = f"{histogram.counts[-1]:,} constants in {bin_words(len(bars) - 1)} atoms"
    assert bars[-1].tooltip == in_words.replace("1 constants", "1 constant")


def test_numbers_in_few_letters():
    assert [compact(n) for n in (0, 950, 1_000, 9_540, 12_345, 3_400_000)] == [
        "0",
        "950",
        "1k",
        "9.5k",
        "12k",
        "3.4M",
    ]


def test_a_million_facts_are_summarised():
    rng = np.random.default_rng(0)
    mln = ml.MLN.from_text("Knows(person, person)")
    rows = rng.integers(0, 200_000, (2, 500_000))
    frames = {"Knows": {"a": [f"P{n}" for n in rows[0]], "b": [f"P{n}" for n in rows[1]]}}
    graph = ml.Hypergraph.from_database(ml.Database.from_frames(frames, mln))
    began = time.perf_counter()
    found = bundle(graph)
    print(f"\n{graph!r}: {time.perf_counter() - began:.2f} s")
    page = BeautifulSoup(found["text/html"], "html.parser")
    assert "Too large to be drawn one by one" in page.get_text()
    assert page.img["alt"].startswith("Hypergraph: ")
    assert bundle_size(found) < 100_000
