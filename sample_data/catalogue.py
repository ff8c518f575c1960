"""List the generators of the sample data sets, with the origin of each and a remark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .citations.citations import citations
from .department.department import department
from .florentine_families.florentine_families import florentine_families
from .friends_smokers.friends_smokers import friends_smokers
from .karate_club.karate_club import karate_club
from .movies.movies import movies
from .texts import SampleTexts
from .university.university import university
from .web_pages.web_pages import web_pages


@dataclass(frozen=True, slots=True)
class Entry:
    """A data set: its origin, its generator, and a remark."""

    origin: str
    generate: Callable[[], SampleTexts]
    remark: str = ""


CATALOGUE = {
    "friends_smokers": Entry(
        "simulated, seed 40",
        friends_smokers,
        "`friends_smokers(people=1000, seed=1)` makes any other. With k smokers among n people all else is"
        " independent, so that log Z without evidence is a sum over k, for any n.",
    ),
    "department": Entry(
        "written by hand after Figure 1 of Kok and Domingos (ICML 2009); the names are ours",
        department,
        "`figure_1.db` is the department after many years: with it LiftGraph ends at Figure 1 at the paper's"
        " λ = 1, which is the most probable of all clusterings there. With `department.db` it cannot: where"
        " only a few of many atoms are true, the small groups are more probable.",
    ),
    "florentine_families": Entry(
        "networkx's florentine_families_graph (Breiger and Pattison, 1986, after Padgett); the model is ours",
        florentine_families,
    ),
    "karate_club": Entry(
        "networkx's karate_club_graph (Zachary, 1977); the model is ours",
        karate_club,
        "`split.db` holds the split as it happened. The members whose marginal is above 1/2 are exactly those"
        " who went with the instructor; the most probable world is wrong about members 9 and 10.",
    ),
    "university": Entry(
        "simulated, seed 8; not a fact of UW-CSE is in it",
        university,
        "Hard rules hold in every database. Models written for UW-CSE run on these data. The sizes: 885"
        " constants, 2112 true atoms and 260945 ground atoms; published for UW-CSE: 929, 2112 and 260254.",
    ),
    "movies": Entry(
        "simulated, seed 124; not a fact of IMDB is in it",
        movies,
        "Hard rules hold in every database. Models written for the IMDB data set run on these data. The"
        " sizes, 316 constants, 1224 true atoms and 17793 ground atoms, are those published for it.",
    ),
    "citations": Entry(
        "simulated, seed 6; not a fact of Cora is in it",
        citations,
        "The model of `mlnlab.experiments.cora` runs on these data, too, and `canopies` rules out pairs. In"
        " the table, formulas with `+` are counted for all constants together.",
    ),
    "web_pages": Entry(
        "simulated, seed 9; nothing of WebKB is in it",
        web_pages,
        "`mlnlab.experiments.webkb.synthetic_web()` makes such data in WebKB's size. In the table, formulas"
        " with `+` are counted for all constants together.",
    ),
}
