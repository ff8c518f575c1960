"""The generators keep what they document: probabilities, sizes, and what always holds."""

from __future__ import annotations

from collections import defaultdict

import networkx as nx
import pytest

import mlnlab as ml
from sample_data import (
    department,
    florentine_families,
    friends_smokers,
    karate_club,
    movies,
    university,
)


@pytest.mark.parametrize("generate", [friends_smokers, university, movies])
def test_a_seed_is_a_data_set(generate):
    assert generate(seed=3) == generate(seed=3)
    assert generate(seed=3).databases != generate(seed=4).databases


@pytest.mark.parametrize("people", [2, 3, 8, 30, 2000])
def test_friends_and_smokers_in_any_size(people):
    made = friends_smokers(people, seed=2)
    _, (known, complete) = made.load()
    assert len(known.domain("person")) == len(complete.domain("person")) == people
    friends = set(complete.rows("Friends"))
    assert friends == {(b, a) for a, b in friends}
    assert all(a != b for a, b in friends)
    assert set(known.rows("Friends")) == friends
    truth = set(complete.rows("Smokes"))
    assert set(known.rows("Smokes")) <= truth
    assert truth.isdisjoint(known.rows("Smokes", "false"))
    assert len(set(known.rows("Smokes")) | set(known.rows("Smokes", "false"))) == people // 2
    assert ("questions" in made.answers) == (people <= 12)


def test_too_few_people():
    with pytest.raises(ml.ArgumentError, match="at least 2"):
        friends_smokers(1)
    for people in ("x", 2.5, None):
        with pytest.raises(ml.ArgumentError, match="a whole number of at least 2, not"):
            friends_smokers(people)


def test_friends_and_smokers_keep_their_probabilities():
    _, (_, db) = friends_smokers(4000, seed=5).load()
    smokers = {name for (name,) in db.rows("Smokes")}
    ill = {name for (name,) in db.rows("Cancer")}
    people = set(db.domain("person"))
    assert len(smokers) / len(people) == pytest.approx(0.4, abs=0.03)
    assert len(ill & smokers) / len(smokers) == pytest.approx(0.5, abs=0.04)
    assert len(ill - smokers) / len(people - smokers) == pytest.approx(0.1, abs=0.03)


def test_the_graphs_are_networkxs():
    for made, graph, predicate in (
        (florentine_families(), nx.florentine_families_graph(), "Married"),
        (karate_club(), nx.karate_club_graph(), "Friends"),
    ):
        _, databases = made.load()
        again = databases[0].to_networkx(predicate).to_undirected()
        assert nx.is_isomorphic(again, graph)
        assert databases[0].number_of_facts() == 2 * graph.number_of_edges() + 1


def test_the_karate_club_splits_as_it_did():
    loaded = ml.sample("karate_club")
    (question,) = loaded.answers["questions"]
    happened = {f"WithInstructor({name})" for (name,) in loaded.databases["split"].rows("WithInstructor")}
    likely = {atom for atom, p in question["marginals"].items() if p > 0.5} | {"WithInstructor(Member1)"}
    assert likely == happened
    best = {*question["map"]["true_atoms"], "WithInstructor(Member1)"}
    assert best ^ happened == {"WithInstructor(Member9)", "WithInstructor(Member10)"}


def test_the_department_lifts_to_three_concepts():
    _, (db, question, _) = department().load()
    teaches, assists, advises = (set(db.rows(p)) for p in ("Teaches", "TAs", "Advises"))
    teacher = {course: professor for professor, course in teaches}
    assert {(teacher[course], student) for student, course in assists} == advises
    assert len(set(question.rows("Advises", "unknown"))) == 4


def rates(generate, schema_row, seeds=range(1, 21)):
    """Return how often something happens over many simulated data sets."""
    happened = total = 0
    for seed in seeds:
        for db in generate(seed).load()[1]:
            for outcome in schema_row(db):
                happened, total = happened + outcome, total + 1
    return happened / total


def test_the_university_keeps_its_probabilities():
    def advised_beyond_coursework(db):
        advised = {student for student, _ in db.rows("advisedBy")}
        return [s in advised for s, phase in db.rows("inPhase") if phase != "Coursework"]

    def in_coursework_with_temporary_advisor(db):
        advised = {student for student, _ in db.rows("tempAdvisedBy")}
        return [s in advised for s, phase in db.rows("inPhase") if phase == "Coursework"]

    def known_phase(db):
        phases = {student for student, _ in db.rows("inPhase")}
        return [student in phases for (student,) in db.rows("student")]

    def with_position(db):
        positions = {professor for professor, _ in db.rows("hasPosition")}
        return [professor in positions for (professor,) in db.rows("professor")]

    def with_assistant(db):
        assisted = {(course, quarter) for course, _, quarter in db.rows("ta")}
        return [(course, quarter) in assisted for course, _, quarter in db.rows("taughtBy")]

    def offered_once(db):
        times = defaultdict(int)
        for course, _, _ in db.rows("taughtBy"):
            times[course] += 1
        return [count == 1 for count in times.values()]

    expected = {
        advised_beyond_coursework: 0.85,
        in_coursework_with_temporary_advisor: 0.85,
        known_phase: 0.65,
        with_position: 0.84,
        with_assistant: 0.55,
        offered_once: 0.35,
    }
    for row, probability in expected.items():
        assert rates(university, row, range(1, 6)) == pytest.approx(probability, abs=0.06), row.__name__


def test_rules_of_the_university_hold_more_often_than_by_chance():
    loaded = ml.sample("university")
    together = chance = advised = 0
    for db in loaded.databases.values():
        papers = defaultdict(set)
        for title, person in db.rows("publication"):
            papers[person].add(title)
        students, professors = list(db.rows("student")), list(db.rows("professor"))
        pairs = set(db.rows("advisedBy"))
        together += sum(bool(papers[s] & papers[p]) for s, p in pairs)
        advised += len(pairs)
        chance += sum(bool(papers[s] & papers[p]) for (s,) in students for (p,) in professors)
    everybody = sum(
        db.relation("student").listed * db.relation("professor").listed for db in loaded.databases.values()
    )
    assert together / advised > 3 * chance / everybody


@pytest.mark.parametrize("seed", range(1, 6))
def test_what_always_holds_in_the_simulated_data(seed):
    for generate in (university, movies):
        made = generate(seed)
        hard = [i for i, line in enumerate(made.model.split("\n\n")[-1].split("\n")) if line.endswith(".")]
        assert len(hard) == 4
        for sizes, counts in zip(
            made.answers["sizes"].values(), made.answers["counts"].values(), strict=True
        ):
            person, constants = sizes["constants"]["person"], sizes["constants"]
            most = [person, person]
            if generate is university:
                most += 2 * [constants["course"] * person * constants["quarter"]]
            else:
                most += 2 * [person * person]
            assert [counts[i] for i in hard] == most


@pytest.mark.parametrize("seed", range(1, 6))
def test_movies_keep_the_published_sizes(seed):
    sizes = movies(seed).answers["sizes"].values()
    assert sum(sum(found["constants"].values()) for found in sizes) == 316
    assert sum(found["ground_atoms"] for found in sizes) == 17793
    assert sum(found["true_atoms"] for found in sizes) == pytest.approx(1224, rel=0.06)


def test_worked_under_is_playing_in_a_film_of_the_director():
    for db in ml.sample("movies").databases.values():
        directors = {name for (name,) in db.rows("director")}
        casts = defaultdict(set)
        for film, person in db.rows("movie"):
            casts[film].add(person)
        expected = {(a, d) for cast in casts.values() for a in cast - directors for d in cast & directors}
        assert set(db.rows("workedUnder")) == expected


def test_the_published_sizes():
    total = sum(sizes["true_atoms"] for sizes in ml.sample("university").answers["sizes"].values())
    assert total == 2112
    assert len(ml.sample("university").mln.vocabulary.types) == 9
    assert len(ml.sample("university").mln.vocabulary.predicates) == 12
    total = sum(sizes["true_atoms"] for sizes in ml.sample("movies").answers["sizes"].values())
    assert total == 1224


def test_invented_names_do_not_run_out():
    _, databases = friends_smokers(5000, seed=1).load()
    assert len(databases[1].domain("person")) == 5000
