"""Rules that no linter knows, checked on the syntax trees of the package's files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "mlnlab"
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted(path for path in PACKAGE.rglob("*.js") if "labextension" not in path.parts)

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}


def relative(path):
    return str(path.relative_to(PACKAGE))


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported_modules(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_modules_are_imported_by_statement(path):
    """The layers are proven from import statements, so only few files may turn a name into a module."""
    if path.name == "registry.py" or path == PACKAGE / "__init__.py":
        return
    harmless = ("importlib.metadata", "importlib.resources")
    modules = [name for name in imported_modules(tree_of(path)) if not name.startswith(harmless)]
    assert not {"importlib.import_module", "importlib.util", "imp", "runpy"} & set(modules)
    calls = {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}
    assert not {call for call in calls if call.endswith(("import_module", "load_module", "resolve_name"))}


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_text_is_never_run_as_code_and_nothing_is_unpickled(path):
    tree = tree_of(path)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & FORBIDDEN_CALLS
    assert not {name.split(".")[0] for name in imported_modules(tree)} & FORBIDDEN_MODULES
    allowing = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]
    assert not allowing


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_functions_fit_on_a_screen(path):
    functions = [
        node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    too_long = {function.name: lines for function in functions if (lines := length_of(function)) > 40}
    assert not too_long


def length_of(function):
    """Count the lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return body[-1].end_lineno - body[0].lineno + 1


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_no_global_seed(path):
    source = path.read_text(encoding="utf-8")
    assert not re.search(
        r"\bnp\.random\.seed\(|\bnumpy\.random\.seed\(|^import random$", source, re.MULTILINE
    )


@pytest.mark.parametrize("path", SCRIPTS or [None], ids=lambda path: relative(path) if path else "none yet")
def test_scripts_never_make_markup_from_data(path):
    if path is None:
        return
    source = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    # Emptying an element is the one harmless use.
    uses = re.findall(r"(?:innerHTML|outerHTML)\s*\+?=\s*(?!=)(?!\"\"|''|``)\S+|insertAdjacentHTML", source)
    assert not uses
    assert not re.search(r"\beval\(|new Function\(|document\.write\(", source)
    assert not re.search(r"""(?:from|import)\s*\(?\s*["']https?:""", source)


def test_methods_do_not_import_each_other():
    """A file that declares METHOD or LEARNER is one algorithm; what two share belongs in a third file."""
    for name in ("inference", "learning", "structure"):
        methods = {
            f"mlnlab.{name}.{path.stem}": path
            for path in (PACKAGE / name).glob("*.py")
            if declares_method(path)
        }
        for module, path in methods.items():
            others = set(methods) - {module}
            assert not others & set(imported_modules(tree_of(path))), f"{module} imports another method"


def declares_method(path):
    names = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return bool(names & {"METHOD", "LEARNER"})
