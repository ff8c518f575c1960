"""Every source that the code cites has an entry in ``mlnlab/references.bib``, and every entry is cited."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import mlnlab as ml
from mlnlab.inference.method_registry import methods

PACKAGE = Path(ml.__file__).parent
SAMPLES = PACKAGE.parent / "sample_data"
FILES = sorted([*PACKAGE.rglob("*.py"), *SAMPLES.rglob("*.py")])
YEAR = re.compile(r"(?<![\w.,/-])(19|20)\d\d(?![\w/])")
BEFORE = 160  # characters in front of a year in which its first author is named


class Source(NamedTuple):
    """An entry: surnames of the authors, year, and how it is called where it has no year."""

    surnames: tuple[str, ...]
    year: str
    cited: str
    keywords: str


def entries():
    text = (PACKAGE / "references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"^@\w+\{([\w-]+),\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        assert key not in found, key
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE))
        assert fields["title"], key
        authors = filter(None, fields.get("author", "").split(" and "))
        surnames = tuple(author.partition(",")[0] for author in authors)
        found[key] = Source(
            surnames, fields.get("year", ""), fields.get("cited", ""), fields.get("keywords", "")
        )
    assert len(found) == text.count("\n@")
    return found


ENTRIES = entries()


@cache
def prose_of(path):
    """Return the docstrings and comments of a file, each on one line."""
    return tuple(_prose(path.read_text(encoding="utf-8")))


def _prose(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield " ".join((ast.get_docstring(node) or "").split())
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    yield " ".join(token.string.lstrip("# ") for token in found if token.type == tokenize.COMMENT)


def source_of(prose, year):
    """Return the key of what is cited with a year: its first author is named shortly before."""
    before = prose[max(0, year.start() - BEFORE) : year.start()]
    for key, source in ENTRIES.items():
        if source.year == year.group() and source.surnames and source.surnames[0] in before:
            return key
    return None


@cache
def citations(path):
    return tuple(_citations(path))


def _citations(path):
    for prose in prose_of(path):
        for year in YEAR.finditer(prose):
            yield prose[max(0, year.start() - 60) : year.end()], source_of(prose, year)


def test_what_is_cited_has_an_entry():
    """In one test: for a thousand files a thousand tests would cost far more."""
    missing = [
        (str(path.relative_to(PACKAGE.parent)), words)
        for path in FILES
        for words, key in citations(path)
        if key is None
    ]
    assert not missing, f"add an entry to references.bib for: {missing}"


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.name)
def test_what_a_method_names_has_an_entry(method):
    for part in method.citation.split("; "):
        year = YEAR.search(part)
        called = [key for key, source in ENTRIES.items() if source.cited and part.startswith(source.cited)]
        assert called or (year and source_of(part, year)), f"no entry for {part}"


def test_every_entry_is_cited():
    cited = {key for path in FILES for _, key in citations(path)}
    prose = " ".join(words for path in FILES for words in prose_of(path))
    cited |= {key for key, source in ENTRIES.items() if source.cited and source.cited in prose}
    cited |= {key for key, source in ENTRIES.items() if source.keywords == "implemented"}
    assert set(ENTRIES) - cited == set()


def test_the_papers_that_are_implemented_are_there():
    implemented = {key for key, source in ENTRIES.items() if source.keywords == "implemented"}
    assert implemented == {"kok2009", "lecture-notes", "lowd2010", "sarkhel2016", "vandenbroeck2013"}
