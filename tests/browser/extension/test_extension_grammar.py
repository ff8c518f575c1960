"""What editors in JupyterLab read: the grammars of the built extension against our own reader.

The grammars are asked in the browser that loaded them, so that what is tested is what ships.
"""

from __future__ import annotations

import pytest

from mlnlab.syntax.formulas.statements import statements
from mlnlab.syntax.formulas.tokens import Source, tokens
from tests.browser.lab import REPOSITORY
from tests.support.shared_data import files

SAMPLES = REPOSITORY / "sample_data"
# [name, from, to, the name around it] of all nodes, the empty error nodes among them.
READ = """([index, text]) => {
  const {state} = window.languageEditors[index];
  const {parser} = state.values.find(value => value?.tree && value.context?.parser).context;
  const found = [];
  parser.parse(text).iterate({enter: node => {
    const name = node.type.isError ? "error" : node.name;
    found.push([name, node.from, node.to, node.node.parent?.name ?? ""]);
  }});
  return found;
}"""
KEEP_EDITOR = """() => {
  (window.languageEditors ??= []).push(window.jupyterapp.shell.currentWidget.content.editor.editor);
}"""


@pytest.fixture(scope="module")
def read(lab):
    """A function from a language ("mln" or "db") and a text to the nodes of its tree."""
    names = ["mln", "db"]
    with lab.open(lab.write("grammars.ipynb", "1 + 1"), kernel=False) as page:
        for name in names:
            (lab.folder / f"empty.{name}").write_text("\n")
            page.command("docmanager:open", path=f"empty.{name}")
            page.page.wait_for_function(
                f"() => window.jupyterapp.shell.currentWidget.context?.path === 'empty.{name}'"
                " && window.jupyterapp.shell.currentWidget.content.editor?.editor.state.values"
                ".some(value => value?.tree && value.context?.parser)"
            )
            page.page.evaluate(KEEP_EDITOR)
        yield lambda name, text: page.page.evaluate(READ, [names.index(name), text])
        assert page.foreign == []


def places(nodes, *names):
    return [start for name, start, _, _ in nodes if name in names]


def language(text, nodes, name):
    """The texts of all nodes of a name."""
    return [text[start:end] for found, start, end, _ in nodes if found == name]


def of_kind(ending):
    ours = sorted(SAMPLES.glob(f"*/*.{ending}"))
    named = [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in ours]
    return [*files("data", f"**/*.{ending}"), *named]


def assert_read_alike(read, text):
    """Statements begin, and words mean, what they do for the reader that counts."""
    nodes = read("mln", text)
    assert places(nodes, "error") == []
    found = tokens(text)
    expected, problems = statements(Source("text", text), found)
    assert not problems
    assert places(nodes, "Statement") == [statement.start for statement in expected]
    for name, token_kinds in {"Or": {"OR"}, "Quantifier": {"QUANTIFIER"}, "Number": {"NUMBER"}}.items():
        wanted = [token.start_pos for token in found if token.type in token_kinds]
        assert places(nodes, name) == wanted, name


def test_a_quantified_variable_may_tell_its_type(read):
    text = "City(city)\nP(person)\n1.5 EXIST x:city, y P(y)\n2: FORALL z:person !P(z)\n"
    nodes = read("mln", text)
    assert not places(nodes, "error")
    assert len(places(nodes, "Statement")) == 4


@pytest.mark.parametrize("path", [*of_kind("mln"), *files("reference", "syntax/*.mln")])
def test_every_model_is_read_as_we_read_it(read, path):
    with path.open(encoding="utf-8", newline="") as file:
        assert_read_alike(read, file.read())


def begin_and_end_of(text, most=60_000):
    """Return whole lines from both ends of a long file: what stands between is more of the same."""
    if len(text) <= 2 * most:
        return text
    return text[: text.rfind("\n", 0, most) + 1] + text[text.index("\n", len(text) - most) + 1 :]


@pytest.mark.parametrize(
    "path", [*of_kind("db"), *files("data", "**/*.func"), *files("reference", "syntax/*.db")]
)
def test_every_fact_file_is_read(read, path):
    text = begin_and_end_of(path.read_text(encoding="utf-8"))
    nodes = read("db", text)
    assert places(nodes, "error") == []
    assert "Fact" in {name for name, *_ in nodes} or not text.strip()


STRANGE = {
    "blanks behind a line": "1 A(x) ^ B(y) \nC(z) ^ D(x)\n",
    "a comment before what goes on": "2 A(x)   // why\n// because\n=> C(y)\n",
    "a comment in the middle": "@ 3 D(x) /* e\n*/ v E(x).\nF(x).\n",
    "two on a line": "F(x). 2 G(x)\n",
    "carriage returns": "1 A(x) v\r\n B(x)\r\n2 C(x)\r\n",
    "a blank line": "1 A(x)\n\n2 B(x)\n",
    "constants first": '"q r" != x\nx = y\n',
    "names like words": "v(x) v v(y)\nexist(x) v EXISTS x exist(x)\nExist=1 y A(y)\n∃x A(x)\n",
    "or at the begin of a line": "A(x)\nv B(x)\n",
    "a named weight": "x: A(x)\nH(x) :- A(x), B(x)\n",
    "brackets over lines": "t = {A,\n  B,\n\n C}\n1 (A(x)\n v B(x))\n",
    "apostrophes and hyphens": "1 A(O'Neil) v B(Mary-Jo) v C(x')\n",
    "calculations": "1 A(t + 1) v B(t++) ^ t - 1 < 3 * s\n1 *A(x) v B(x)\nlog(0.3/0.7) A(+x)\n",
    "no line end": "1 A(x)",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE.keys())
def test_strange_places_are_read_alike(read, text):
    assert_read_alike(read, text)


def test_names_are_told_apart(read):
    text = '%%mln small\n1.5 Likes(x, Anna) ^ likes(+y, "Bo B") => O\'Neil = z // Eva(w)\n'
    nodes = read("mln", text)
    predicates = [text[a:b] for name, a, b, around in nodes if around == "Atom" and name != "Arguments"]
    assert predicates == ["Likes", "likes"]
    assert language(text, nodes, "Magic") == ["%%mln small"]
    assert set(language(text, nodes, "Constant")) == {"Likes", "Anna", "O'Neil"}
    assert language(text, nodes, "String") == ['"Bo B"']
    assert set(language(text, nodes, "Variable")) == {"likes", "x", "y", "z"}
    assert language(text, nodes, "LineComment") == ["// Eva(w)"]


def test_words_of_facts_are_told_apart(read):
    facts = ['!Friends(Anna, "B, b") ?Smokes(x.y-z)', "0.7 Age(Bo, 25)", "Bo = MotherOf(Cy)"]
    text = "\n".join(["%%db", *facts, "t = {1, ..., 5}\n"])
    nodes = read("db", text)
    assert places(nodes, "error") == []
    predicates = [text[a:b] for name, a, b, around in nodes if around == "Atom" and name != "Arguments"]
    assert predicates == ["Friends", "Smokes", "Age", "MotherOf"]
    assert language(text, nodes, "Number") == ["0.7", "25", "1", "5"]
    assert len(places(nodes, "Fact")) == 5


def test_unfinished_texts_do_not_spread(read):
    """While somebody types, the rest of the file keeps its colours, but for a comment that is still open."""
    text = "1 Smokes(x) ^\n\n2 Cancer(x\n\n3 Smokes(y) v Cancer(y)\n"
    nodes = read("mln", text)
    assert text.index("v C") in places(nodes, "Or")
    text = "A(x)\n/* B(x)\nC(x)"
    assert language(text, read("mln", text), "BlockComment") == ["/* B(x)\nC(x)"]
    assert len(places(read("db", "A(B, )\nC(D)\n"), "Fact")) == 2
