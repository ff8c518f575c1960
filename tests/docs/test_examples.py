"""What people read is run: examples of docstrings, of the README, and the tables of the language page."""

import doctest
import inspect
import re
import sys
from pathlib import Path

import pytest

import mlnlab as ml

_EXCEPTIONS = {name for name in ml.__all__ if name.endswith("Error")}
_PUBLIC = sorted(set(ml.__all__) - _EXCEPTIONS - {"__version__", "Diagnostic"})


@pytest.mark.parametrize("name", _PUBLIC)
def test_every_public_name_has_a_running_example(name):
    thing = getattr(ml, name)
    module = sys.modules[thing.__module__]
    tests = [t for t in doctest.DocTestFinder(recurse=False).find(thing, name, module=module) if t.examples]
    assert tests, f"help({name}) shows no example"
    for test in tests:
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
        assert result.failed == 0


def test_the_package_docstring_is_true():
    lines = [line[4:] for line in inspect.cleandoc(ml.__doc__).splitlines() if line.startswith("    ")]
    exec("\n".join(lines), {})
    assert lines


def _blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_readme_runs(repository):
    blocks = _blocks(repository / "README.md", "python")
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)
    assert 0 < names["marginals"]["Smokes(Bob)"] < 1


def test_the_readme_names_what_there_is_and_what_is_missing(repository):
    there, missing = (repository / "README.md").read_text(encoding="utf-8").split("## Not here yet")
    missing = missing.split("\n## ")[0]
    pages = [there, *(page.read_text(encoding="utf-8") for page in (repository / "mlnlab").glob("*.md"))]
    for name in {name for page in pages for name in re.findall(r"\bml\.([A-Za-z_]+)", page)}:
        assert hasattr(ml, name), f"a page shows ml.{name}"
    for name in set(re.findall(r"\bml\.([A-Za-z_]+)`", missing)):
        assert not hasattr(ml, name), f"ml.{name} is there"


def test_links_of_the_pages_lead_somewhere(repository):
    pages = [repository / "README.md", repository / "CONTRIBUTING.md", *(repository / "mlnlab").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_diagnostics_that_the_language_page_names_exist(repository):
    page = (repository / "mlnlab" / "LANGUAGE.md").read_text(encoding="utf-8")
    section = page.split("## What has no meaning here")[1]
    codes = re.findall(r"`([a-z]+(?:-[a-z]+)+)`", section)
    sources = "".join(p.read_text(encoding="utf-8") for p in Path(ml.__file__).parent.glob("syntax/**/*.py"))
    assert len(codes) >= 5
    for code in codes:
        assert f'"{code}"' in sources, code


def test_the_language_page_shows_texts_that_read(repository):
    page = (repository / "mlnlab" / "LANGUAGE.md").read_text(encoding="utf-8")
    section = page.split("## Declarations")[1].split("## Formulas")[0]
    declarations = [m for m in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE) if "include" not in m]
    assert len(declarations) >= 6
    for declaration in declarations:
        assert not [d for d in ml.check(declaration) if d.severity == "error"], declaration
