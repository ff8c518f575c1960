"""WebKB's model, the data that are at hand, and the synthetic web of its size."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.studies.count_spreads import conditioning
from mlnlab.experiments.webkb import (
    CATEGORIES,
    mihalkova_mooney_databases,
    page_class_databases,
    synthetic_web,
    webkb_model,
)


@pytest.fixture(scope="module")
def web():
    return synthetic_web()


def test_the_model_is_that_of_the_thesis():
    assert webkb_model().to_text().splitlines()[-3:] == [
        "Has(p, +w) => Class(p, +c)",
        "!Has(p, +w) => Class(p, +c)",
        "Class(p1, +c1) ^ LinksTo(p1, p2) => Class(p2, +c2)",
    ]
    assert len(webkb_model(links=False, absent_words=False, priors=["Course"]).formulas) == 2


def test_the_synthetic_web_has_the_published_size(web):
    pages = [len(db.domain("page")) for db in web.databases]
    links = sum(len(db.relation("LinksTo").true) for db in web.databases)
    assert (len(pages), sum(pages), links, web.weights) == (4, 4165, 10_935, 10_891)
    assert len(web.mln.expand(web.databases[0]).formulas) == 10_891
    assert {db.domain("word") for db in web.databases} == {web.databases[0].domain("word")}
    assert all(set(db.domain("class")) == set(CATEGORIES) for db in web.databases)
    for db in web.databases:
        rows = db.relation("LinksTo").true
        assert (rows[:, 0] != rows[:, 1]).all()


def test_a_seed_is_a_web():
    small = {"pages": 60, "links": 80, "words": 12}
    one, again, other = synthetic_web(3, **small), synthetic_web(3, **small), synthetic_web(4, **small)
    assert one.databases == again.databases
    assert one.databases != other.databases
    for wrong in ({"pages": 3}, {"words": 0}, {"rarest": 0.7}, {"links": 10_000, "pages": 60}):
        with pytest.raises(ml.ArgumentError, match=r"at least 40 pages|too many"):
            synthetic_web(**{**small, **wrong})


def test_words_fall_off_and_links_are_between_kinds_that_link(web):
    pages = 4165
    stands = sum(np.bincount(db.relation("Has").true[:, 1], minlength=774) for db in web.databases)
    assert stands[:5].min() > 0.15 * pages
    assert stands[-50:].max() < 0.05 * pages
    ranks = np.arange(1, 775)
    slope = np.polyfit(np.log(ranks), np.log(np.maximum(stands, 1)), 1)[0]
    assert -1.2 < slope < -0.6
    classes = [{c: {p for p, of in db.rows("Class") if of == c} for c in CATEGORIES} for db in web.databases]
    linked = chance = 0.0
    for db, of in zip(web.databases, classes, strict=True):
        links = list(db.rows("LinksTo"))
        linked += sum(a in of["Course"] and b in of["Professor"] for a, b in links)
        share = len(of["Course"]) * len(of["Professor"]) / len(db.domain("page")) ** 2
        chance += share * len(links)
    assert linked > 2 * chance
    assert all(of["Professor"] <= of["Faculty"] <= of["Person"] for of in classes)


def log_odds(true, false):
    return np.log((true + 0.5) / (false + 0.5))


def test_what_was_planted_shows_in_the_pages():
    made = synthetic_web(11, pages=3000, links=100, words=12, rarest=0.1)
    entailed = {"Student": ["Person"], "Professor": ["Person", "Faculty"], "Course": []}
    planted, shown = [], []
    for category, others in entailed.items():
        columns = [CATEGORIES.index(name) for name in (category, *others)]
        for word in range(12):
            there, counts = f"Word{word + 1}", np.zeros((2, 2))
            for db in made.databases:
                has = {page for page, name in db.rows("Has") if name == there}
                of = {page for page, name in db.rows("Class") if name == category}
                nothing = set(db.domain("page")) - {page for page, _ in db.rows("Class")}
                counts += [[len(part & has), len(part - has)] for part in (of, nothing)]
            planted.append(made.planted[word, columns].sum())
            shown.append(log_odds(*counts[0]) - log_odds(*counts[1]))
    assert np.corrcoef(planted, shown)[0, 1] > 0.95


def test_conditioning_of_the_web_is_what_links_and_rare_words_make_it():
    webs = {
        rarest: synthetic_web(5, pages=400, links=1000, words=20, rarest=rarest) for rarest in (0.005, 0.1)
    }
    found = {
        rarest: conditioning(made.mln, [db.without(["Class"]) for db in made.databases], ["Class"])
        for rarest, made in webs.items()
    }
    assert found[0.005].number > 3 * found[0.1].number
    for one in found.values():
        assert one.number > one.without("LinksTo").number
    # A word that stands on k pages has the variance k / 4.
    stands = sum(np.bincount(db.relation("Has").true[:, 1], minlength=20) for db in webs[0.1].databases)
    variances = dict(zip(found[0.1].formulas, found[0.1].variances, strict=True))
    for word in range(20):
        assert variances[f"Has(p, Word{word + 1}) => Class(p, Course)"] == pytest.approx(stands[word] / 4)
        assert variances[f"!Has(p, Word{word + 1}) => Class(p, Course)"] == pytest.approx(
            (400 - stands[word]) / 4
        )


def test_forclifts_pages(data_folder):
    found = page_class_databases(data_folder / "webkb-forclift")
    assert len(found) == 8
    db = found["webkb-fold12-train1"]
    assert [len(db.relation(name).true) for name in ("LinksTo", "Class", "Has")] == [
        518, 279, 260 + 260 + 49 + 31 + 27 + 21 + 17 + 15 + 13 + 7,
    ]  # fmt: skip
    assert set(db.domain("class")) == {
        "Student",
        "Course",
        "Faculty",
        "Department",
        "Staff",
        "ResearchProject",
    }
    with pytest.raises(ml.ArgumentError, match="There are no files"):
        page_class_databases(data_folder)


def test_mihalkova_and_mooneys_people(data_folder):
    found = mihalkova_mooney_databases(data_folder / "webkb-mm")
    db = found["webkb_fold1"]
    links = set(db.rows("LinksTo"))
    assert 0 < len(links) <= 28 + 14 + 89
    of = {}
    for page, name in db.rows("Class"):
        of.setdefault(name, set()).add(page)
    assert (len(of["Student"]), len(of["Faculty"])) == (148, 46)
    assert of["Student"] | of["Faculty"] <= of["Person"]
    assert not db.rows("Has") or not list(db.rows("Has"))
