"""The pages name what there is: their links lead somewhere, the files and names they mention exist."""

from __future__ import annotations

import re

import pytest

from tests.how_to_add.skeletons import PAGES

KINDS = {
    "inference_method", "optimizer", "structure_learner", "lifted_rule", "picture", "widget", "data_set",
}  # fmt: skip
each = pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)


def test_there_is_a_page_and_a_skeleton_for_each_kind():
    assert {page.stem for page in PAGES.glob("*.md")} == KINDS
    skeletons = {path.stem.removeprefix("skeleton_") for path in PAGES.glob("skeleton_*")}
    assert skeletons == KINDS


@each
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert any(link.startswith("skeleton_") for link in links)
    assert all((PAGES / link).exists() for link in links)


@each
def test_files_that_are_named_exist(page, repository):
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8")))
    files = {path.relative_to(repository).as_posix() for folder in ("mlnlab", "tests", "sample_data")
             for path in (repository / folder).rglob("*.py")}  # fmt: skip
    missing = {name for name in named if "NAME" not in name and not any(one.endswith(name) for one in files)}
    assert not missing


@each
def test_names_that_are_mentioned_exist(page, repository):
    text = page.read_text(encoding="utf-8")
    folders = [repository / "mlnlab", repository / "sample_data"]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    words = set(re.findall(r"`([A-Za-z_]+(?:\.[A-Za-z_]+)?)(?:\([^`]*\))?=?`", text)) - {"NAME", "ml"}
    parts = {part for word in words for part in word.split(".")} - {"py", "md"}
    assert not {
        part
        for part in parts
        if len(part) > 3 and not part.startswith(("NAME", "test_")) and part not in code
    }


@each
def test_the_unwritten_rules_are_written(page):
    rules = {
        "optimizer": ("reason` must not be empty", "points uphill"),
        "picture": ("has its table", "`<details>`", "says what it left out"),
        "structure_learner": ("It must not be empty",),
        "lifted_rule": ("must not be empty",),
        "inference_method": ("refuse_large",),
    }
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert all(rule in text for rule in rules.get(page.stem, ()))
    assert all(len(line) <= 125 for line in page.read_text(encoding="utf-8").split("\n"))
