"""Rules that no linter knows, checked on the syntax trees of the package's files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "mlnlab"
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted(path for path in PACKAGE.rglob("*.js") if "labextension" not in path.parts)

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}


def relative(path):
    return str(path.relative_to(PACKAGE))


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes_of(path):
    return tuple(ast.walk(tree_of(path)))


def called_in(path):
    """Return the last names of all that is called in a file."""
    called = (node.func for node in nodes_of(path) if isinstance(node, ast.Call))
    return {getattr(function, "attr", getattr(function, "id", "")) for function in called}


def imported_modules(path):
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def guilty(rule, files=PYTHON_FILES):
    """Return what a rule finds in each file that breaks it; a test for every file would cost far more."""
    return {relative(path): found for path in files if (found := rule(path))}


def imported_at_once(path, modules):
    """Return the modules of ours that a file imports as soon as it is imported itself."""
    left, found = list(tree_of(path).body), set()
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in modules else node.module for name in names} & modules
        elif not isinstance(node, ast.FunctionDef | ast.If):  # ``if TYPE_CHECKING`` imports nothing
            left += ast.iter_child_nodes(node)
    return found


def modules_behind(graph):
    """Return the mean number of modules that importing a module imports."""
    numbers = []
    for module in graph:
        behind, left = set(), [module]
        while left:
            new = graph[left.pop()] - behind
            behind |= new
            left += new
        numbers.append(len(behind - {module}))
    return sum(numbers) / len(numbers)


def test_few_modules_stand_behind_a_module():
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PYTHON_FILES
    }
    assert modules_behind({name: imported_at_once(path, set(names)) for name, path in names.items()}) < 40


def test_there_are_files_to_look_at():
    assert len(PYTHON_FILES) > 300
    assert len(SCRIPTS) > 20


def test_modules_are_imported_by_statement():
    """The layers are proven from import statements, so only few files may turn a name into a module."""
    harmless = ("importlib.metadata", "importlib.resources")

    def importing(path):
        if path.stem.endswith("registry") or path == PACKAGE / "__init__.py":
            return set()
        modules = {name for name in imported_modules(path) if not name.startswith(harmless)}
        names = ("import_module", "load_module", "resolve_name")
        forbidden = {"importlib.import_module", "importlib.util", "imp", "runpy"}
        return forbidden & modules | {call for call in called_in(path) if call.endswith(names)}

    assert not guilty(importing)


def test_text_is_never_run_as_code_and_nothing_is_unpickled():
    def running(path):
        called = {
            node.func.id
            for node in nodes_of(path)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        roots = {name.split(".")[0] for name in imported_modules(path)}
        allowing = {
            f"allow_pickle in line {node.value.lineno}"
            for node in nodes_of(path)
            if isinstance(node, ast.keyword)
            and node.arg == "allow_pickle"
            and not (isinstance(node.value, ast.Constant) and node.value.value is False)
        }
        return called & FORBIDDEN_CALLS | roots & FORBIDDEN_MODULES | allowing

    assert not guilty(running)


def test_functions_fit_on_a_screen():
    def too_long(path):
        functions = [
            node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        return {function.name: lines for function in functions if (lines := length_of(function)) > 40}

    assert not guilty(too_long)


def length_of(function):
    """Count the lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return body[-1].end_lineno - body[0].lineno + 1


def test_no_global_seed():
    seeding = re.compile(r"\bnp\.random\.seed\(|\bnumpy\.random\.seed\(|^import random$", re.MULTILINE)
    assert not guilty(lambda path: seeding.findall(path.read_text(encoding="utf-8")))


def test_scripts_never_make_markup_from_data():
    def making(path):
        source = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        # Emptying an element is the one harmless use.
        markup = r"(?:innerHTML|outerHTML)\s*\+?=\s*(?!=)(?!\"\"|''|``)\S+|insertAdjacentHTML"
        running = r"\beval\(|new Function\(|document\.write\("
        foreign = r"""(?:from|import)\s*\(?\s*["']https?:"""
        return re.findall(f"{markup}|{running}|{foreign}", source)

    assert not guilty(making, SCRIPTS)


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
            assert not others & set(imported_modules(path)), f"{module} imports another method"


def declares_method(path):
    names = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return bool(names & {"METHOD", "LEARNER"})
