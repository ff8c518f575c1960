"""Movies, directors and casts, simulated: the schema and the sizes of the IMDB data set, none of its facts.

The predicates and types are those of Mihalkova and Mooney's data (2007), and the numbers of actors,
directors, films and genres of each database are those of its five folds. Who plays where comes from this
simulator:

- everyone is an actor or a director, never both: always;
- each film has a director; where there are more directors than films, some films have several; else a
  director may direct two: always;
- an actor plays in one film, and in another one: 0.08;
- an actor has worked under the directors of all films he or she plays in: always, and under nobody else;
- an actor is a woman: 0.4; a director's sex is known: 0.15;
- a director works in at most five genres: one always, each further one: 0.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from mlnlab.logic.vocabulary import FrozenMapping

from ..names import happens, invented_names, pick, shuffled
from ..rules import Rule
from ..texts import SampleTexts, counts_of, facts_text, model_text, sizes_of

SCHEMA = {
    "actor": ("person",),
    "director": ("person",),
    "gender": ("person", "sex"),
    "movie": ("film", "person"),
    "genre": ("person", "type"),
    "workedUnder": ("person", "person"),
}
RULES = (
    Rule(math.inf, (), (("actor", ("p",)), ("director", ("p",)))),
    Rule(math.inf, (("actor", ("p",)), ("director", ("p",))), ()),
    Rule(math.inf, (("workedUnder", ("a", "d")),), (("actor", ("a",)),)),
    Rule(math.inf, (("workedUnder", ("a", "d")),), (("director", ("d",)),)),
    Rule(None, (("movie", ("f", "a")), ("movie", ("f", "d")), ("actor", ("a",)), ("director", ("d",))),
         (("workedUnder", ("a", "d")),)),
    Rule(None, (("movie", ("f", "a")), ("workedUnder", ("a", "d"))), (("movie", ("f", "d")),)),
    Rule(None, (("workedUnder", ("a", "d")), ("workedUnder", ("a", "e"))), (("=", ("d", "e")),)),
    Rule(None, (("genre", ("d", "t")),), (("director", ("d",)),)),
    Rule(None, (("workedUnder", ("a", "d")),), ()),
)  # fmt: skip
_COMMENT = """Simulated movies, with the schema and the sizes of the IMDB data set of Mihalkova and
Mooney (2007) and none of its facts. Five databases. Hard rules hold in the data, the
others hold more or less: their weights are to be learned."""


@dataclass(frozen=True, slots=True)
class Studio:
    """The sizes of one database, after a fold of the IMDB data set."""

    name: str
    actors: int
    directors: int
    films: int
    genres: int


STUDIOS = (
    Studio("aurora", 55, 3, 4, 7),
    Studio("borealis", 55, 4, 4, 7),
    Studio("cascade", 43, 18, 4, 2),
    Studio("drumlin", 40, 4, 4, 1),
    Studio("estuary", 43, 3, 4, 1),
)
_GENRES = ("Drama", "Comedy", "Thriller", "Romance", "Adventure", "Mystery", "Western")
_FILM_WORDS = (
    ("Silent", "Golden", "Broken", "Distant", "Hidden"),
    ("Harbour", "Orchard", "Mirror", "Lantern"),
)
Facts = dict[str, list[tuple[str, ...]]]


def movies(seed: int = 124) -> SampleTexts:
    """Return the five databases and a model with rules that hold in them more or less."""
    rng = Random(seed)
    people = iter(invented_names(sum(studio.actors + studio.directors for studio in STUDIOS), rng))
    titles = iter(shuffled([first + second for first in _FILM_WORDS[0] for second in _FILM_WORDS[1]], rng))
    databases, counts, sizes = {}, {}, {}
    for studio in STUDIOS:
        actors = [next(people) for _ in range(studio.actors)]
        directors = [next(people) for _ in range(studio.directors)]
        films = [next(titles) for _ in range(studio.films)]
        facts = _studio(actors, directors, films, list(_GENRES[: studio.genres]), rng)
        databases[studio.name] = facts_text(f"movies, {studio.name}, seed {seed}: all that is true", facts)
        counts[studio.name] = counts_of(RULES, SCHEMA, facts)
        sizes[studio.name] = sizes_of(facts, SCHEMA)
    answers = {"sizes": sizes, "counts": counts}
    return SampleTexts("movies", model_text(_COMMENT, SCHEMA, RULES), FrozenMapping(databases), answers)


def _studio(
    actors: list[str], directors: list[str], films: list[str], genres: list[str], rng: Random
) -> Facts:
    facts: Facts = {name: [] for name in SCHEMA}
    facts["actor"] = [(name,) for name in actors]
    facts["director"] = [(name,) for name in directors]
    facts["gender"] = [(name, _sex(rng)) for name in actors]
    facts["gender"] += [(name, _sex(rng)) for name in directors if happens(0.15, rng)]
    directed = _directed(directors, films, rng)
    cast = _cast(actors, films, rng)
    for film in films:
        facts["movie"] += [(film, name) for name in directed[film] + cast[film]]
    pairs = [(actor, director) for film in films for actor in cast[film] for director in directed[film]]
    facts["workedUnder"] = list(dict.fromkeys(pairs))
    facts["genre"] = _genres(directors, genres, rng)
    return facts


def _sex(rng: Random) -> str:
    return "Female" if happens(0.4, rng) else "Male"


def _directed(directors: list[str], films: list[str], rng: Random) -> dict[str, list[str]]:
    """Give each film a director and each director a film."""
    directed: dict[str, list[str]] = {film: [] for film in films}
    for number in range(max(len(films), len(directors))):
        film = films[number] if number < len(films) else pick(films, rng)
        directed[film].append(directors[number] if number < len(directors) else pick(directors, rng))
    return directed


def _cast(actors: list[str], films: list[str], rng: Random) -> dict[str, list[str]]:
    cast: dict[str, list[str]] = {film: [] for film in films}
    for actor in actors:
        first = pick(films, rng)
        cast[first].append(actor)
        if happens(0.08, rng):
            cast[pick([film for film in films if film != first], rng)].append(actor)
    return cast


def _genres(directors: list[str], genres: list[str], rng: Random) -> list[tuple[str, ...]]:
    """Give each director one genre and perhaps more; every genre turns up."""
    rows = [(pick(directors, rng), genre) for genre in genres]
    for director in directors:
        while happens(0.4, rng):
            rows.append((director, pick(genres, rng)))
        if not any(name == director for name, _ in rows):
            rows.append((director, pick(genres, rng)))
    return list(dict.fromkeys(rows))
