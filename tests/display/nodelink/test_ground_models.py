"""What was ground, as a picture, a table and text: the numbers are those of the model."""

from __future__ import annotations

from bs4 import BeautifulSoup

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle, bundle_size
from mlnlab.display.nodelink.ground_networks import ground_model_scene
from mlnlab.display.scene.svg import svg_text

MODEL = (
    "S(p)\nC(p)\nF(p, p)\n1.5 S(x) => C(x)\n0.8 F(x, y) ^ S(x) => S(y)\n-1 C(x)\n2 F(x, y)\n1 S(x) <=> C(x)\n"
)


def model(facts="p = {A, B, C}\nF(A, B)", query=("S", "C")):
    mln = ml.MLN.from_text(MODEL)
    return ml.ground(mln, ml.Database.from_text(facts, mln), list(query))


def test_bars_are_ordered_by_their_share():
    found = model()
    (rows, _) = ground_model_scene(found).layers
    first = rows.children[0].tooltip
    assert first.startswith(found.largest.source.text.replace("=>", "⇒").split(" ")[0])
    assert "3 groundings: 0 true and 0 violated by evidence, 3 open" in first
    words = svg_text(ground_model_scene(found))
    assert "all 9 decided" in words
    assert "1 of 9 open" in words
    widths = [item.children[2].width for item in rows.children]
    assert widths == sorted(widths, reverse=True)
    assert sum(widths) > 0


def test_the_table_has_the_numbers_of_the_frame():
    found = model()
    page = BeautifulSoup(bundle(found)["text/html"], "html.parser")
    table = page.find_all("table")[0]
    rows = [
        [cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find("tbody").find_all("tr")
    ]
    frame = found.to_frame()
    columns = [
        "groundings",
        "true by evidence",
        "violated by evidence",
        "open",
        "clauses",
        "tables",
        "literals",
    ]
    assert [[int(cell) for cell in row[1:8]] for row in rows] == frame[columns].to_numpy().tolist()
    assert [int(row[8]) for row in rows] == frame["merged away"].tolist()
    ways = page.find_all("table")[1].get_text()
    assert "a table says" in ways


def test_nothing_open_and_contradictions_are_told():
    text = bundle(model("S(A)\nC(A)", ["F(A, A)"]))["text/html"]
    assert "Ground model" in text
    mln = ml.MLN.from_text("S(p)\nC(p)\nS(x).\n1 C(x)")
    found = ml.ground(mln, ml.Database.from_text("!S(A)", mln), "C")
    assert "the evidence alone contradicts S(x)." in bundle(found)["text/html"]
    closed = ml.ground(mln, ml.Database.from_text("S(A)\nC(A)", mln), "C")
    assert ground_model_scene(closed) is None
    assert "evidence decides every grounding" in bundle(closed)["text/html"]


def test_many_formulas_stay_small():
    text = "S(p)\np = {A, B}\n" + "\n".join(f"{n}.5 S(x) v S(y)" for n in range(60))
    found = ml.ground(ml.MLN.from_text(text))
    shown = bundle(found)
    assert bundle_size(shown) < 350_000
    assert "The 30 formulas with the fewest literals" in shown["text/html"]


def test_lazy_ground_models_are_shown():
    mln = ml.MLN.from_text("F(p, p)\np = {A, B, C}\n-1 F(x, y)\n3 F(x, y) => F(y, x)\n2 F(A, B)")
    shown = bundle(ml.lazy_ground(mln).activated(["F(A, B)"]))
    assert "2 known atoms of 9, 1 of them active; 3 clauses" in shown["text/html"]
    rows = [line.split()[-2:] for line in shown["text/plain"].splitlines()[-3:]]
    assert rows[1] == ["9", "1"]  # groundings, and how many of them are ground
