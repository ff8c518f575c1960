"""Judge faults in one pytest process: collect once, note which tests call a function, fork for each fault.

A fault in a function is put in by exchanging the function's code in a fork: nothing is imported again. One at
the top of a module or class, which runs at import, is written into the copied tree and judged by a new
process. Only tests that call the function run, the quickest first.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import importlib
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from types import CodeType, FunctionType

import pytest

from tests.mutants.sites import with_fault

RED, GREEN, UNREACHED = "red", "survived", "unreached"
NOT_PUT_IN = "no loaded function has this code"
MARKS = "not benchmark and not proof and not browser"
OPTIONS = ("-q", "-x", "-n0", "-p", "no:cacheprovider", "-m", MARKS)
MOST_OF_A_FILE = 0.2  # of the time for watching
PATIENCE = 20  # seconds beyond thrice what the tests took: who does not end by then goes round in circles
WAITING = 3  # times as long by the clock of a busy machine


def judge(tree, sites, names, seconds, tell):
    """Call ``tell(site, verdict, by)`` for each site; print why where some could not be judged.

    Tests are watched without a fault for so many seconds of the processor; those not watched judge nothing.
    """
    verdicts, said = tree / "verdicts.jsonl", tree / "said.txt"
    verdicts.write_text("", encoding="utf-8")
    judging = Judge(tree, sites, seconds, verdicts)
    fork(lambda: _run_pytest(tree, [*OPTIONS, *names], judging, said), float("inf"))
    lines = verdicts.read_text(encoding="utf-8").splitlines()
    for number, verdict, by in map(json.loads, lines):
        tell(sites[number], verdict, by)
    if len(lines) < len(sites):
        print(f"{len(sites) - len(lines)} faults were not judged:", said.read_text(encoding="utf-8")[-2000:])


def fork(work, seconds):
    """Do work in a fork; return its exit code, or None where it took the processor longer, or waits long."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            if seconds < float("inf"):
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            code = int(work() or 0)
        except Exception:  # noqa: BLE001 - it is printed, and a fork must not go on
            traceback.print_exc()
        finally:
            os._exit(code)
    end = time.monotonic() + WAITING * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run_pytest(tree, options, plugin, said):
    os.chdir(tree)
    for stream in (1, 2):
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.path.insert(0, str(tree))
    os.environ.update(PYTHONPATH=str(tree), PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.split(".")[0] in {"mlnlab", "tests"}]:
        del sys.modules[name]
    return pytest.main(options, plugins=[plugin])


@dataclass(slots=True)
class Watched:
    """A test that is green without a fault: its file, its seconds, and the functions that it called."""

    file: str
    seconds: float
    functions: set


class Judge:
    """A plugin that judges faults instead of running the tests."""

    def __init__(self, tree, sites, seconds, verdicts):
        self.tree, self.sites, self.seconds, self.verdicts = tree, sites, seconds, verdicts
        self.watched, self.failed = {}, False
        self.package, self.profile = str(tree / "mlnlab"), None
        self.called, self.shared = set(), set()  # by a test, and by the fixtures that tests of a file share

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed
        if report.when == "setup" and self.profile is not None:
            self._note_profile()
            self.shared |= self.called

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        gc.unfreeze()  # otherwise functions could not be found
        for site in self.sites:
            importlib.import_module(
                site.file.removesuffix(".py").replace("/", ".")
            )  # also what is loaded late
        self._watch(session.items)
        for number, site in enumerate(self.sites):
            verdict, by = self._verdict(session.items, site)
            with self.verdicts.open("a", encoding="utf-8") as file:
                file.write(json.dumps([number, verdict, by]) + "\n")
        return True

    # --- tests without a fault ------------------------------------------------------------------

    def _watch(self, items):
        notes = self.tree / "watched.jsonl"
        notes.write_text("", encoding="utf-8")
        fork(lambda: self._write_calls(items, notes), self.seconds)
        for line in notes.read_text(encoding="utf-8").splitlines():
            number, seconds, functions = json.loads(line)
            self.watched[number] = Watched(_file(items[number]), seconds, set(map(tuple, functions)))

    def _write_calls(self, items, notes):
        def note(frame, event, _):
            if frame.f_code.co_filename.startswith(self.package):
                self.called.add(frame.f_code)

        before, end = None, 0.0
        with notes.open("w", encoding="utf-8") as file:
            for number, item in enumerate(items):
                if _file(item) != before:
                    before, end = _file(item), _seconds() + self.seconds * MOST_OF_A_FILE
                    self.shared.clear()
                if _seconds() > end:
                    continue  # other files are to have their turn
                self.called.clear()
                began, self.profile = _seconds(), cProfile.Profile(builtins=False)
                threading.settrace(note)
                self.profile.enable()
                green = self._is_green(items, number)
                self.profile.disable()
                self._note_profile()
                if green:
                    functions = [_name(code) for code in self.called | self.shared]
                    file.write(json.dumps([number, _seconds() - began, functions]) + "\n")
                    file.flush()

    def _note_profile(self):
        codes = (entry.code for entry in self.profile.getstats() if isinstance(entry.code, CodeType))
        self.called.update(code for code in codes if code.co_filename.startswith(self.package))

    def _is_green(self, items, number):
        """Run the test of a number; what a test prepares for the next one stays."""
        self.failed = False
        following = items[number + 1] if number + 1 < len(items) else None
        items[number].config.hook.pytest_runtest_protocol(item=items[number], nextitem=following)
        return not self.failed

    # --- tests with one -------------------------------------------------------------------------

    def _verdict(self, items, site):
        path = self.tree / site.file
        text = path.read_text(encoding="utf-8")
        faulty = with_fault(text, site)
        codes = changed_codes(text, faulty, str(path))
        if codes is None:
            return self._verdict_of_new_process(items, path, text, faulty)
        chosen = self._choose(set(map(_name, codes)))
        if not chosen:
            return UNREACHED, []
        most = 3 * sum(self.watched[number].seconds for number in chosen) + PATIENCE
        by = self.tree / "red.txt"
        code = fork(lambda: self._run_faulty([items[number] for number in chosen], codes, by), most)
        if code == 0:
            return GREEN, sorted({self.watched[number].file for number in chosen})
        if (red := by.read_text(encoding="utf-8")) == NOT_PUT_IN:
            return self._verdict_of_new_process(items, path, text, faulty)
        return RED, red if code is not None else f"is ended: {red}"

    def _choose(self, functions):
        """Return the numbers of tests that call one of the functions, the quickest first, up to a limit."""
        chosen, seconds = [], 0.0
        callers = [number for number, test in self.watched.items() if test.functions & functions]
        for number in sorted(callers, key=lambda number: self.watched[number].seconds):
            seconds += self.watched[number].seconds
            if chosen and seconds > self.seconds / 3:
                break
            chosen.append(number)
        return chosen

    def _run_faulty(self, items, codes, by):
        by.write_text(NOT_PUT_IN, encoding="utf-8")
        exchange(codes)
        for number, item in enumerate(items):
            by.write_text(item.nodeid, encoding="utf-8")
            if not self._is_green(items, number):
                return 1
        return 0

    def _verdict_of_new_process(self, items, path, text, faulty):
        """Judge a fault that shows at import by the files whose tests call any function of its file."""
        users = [
            test for test in self.watched.values() if any(name == str(path) for name, *_ in test.functions)
        ]
        names = {test.file for test in users}
        if not names:
            return UNREACHED, []
        left_out = [
            f"--deselect={item.nodeid}"
            for number, item in enumerate(items)
            if _file(item) in names and number not in self.watched
        ]
        most = 3 * sum(test.seconds for test in self.watched.values() if test.file in names) + PATIENCE
        command = [sys.executable, "-m", "pytest", *OPTIONS, *left_out, *sorted(names)]
        path.write_text(faulty, encoding="utf-8")
        try:
            done = subprocess.run(
                command, cwd=self.tree, timeout=WAITING * most, capture_output=True, check=False
            )
        except subprocess.TimeoutExpired:
            return RED, "does not end"
        finally:
            path.write_text(text, encoding="utf-8")
        return (GREEN, sorted(names)) if done.returncode in {0, 5} else (RED, sorted(names))


def _seconds():
    """Return the seconds of the processor that this process and those it waited for have had."""
    return sum(os.times()[:4])


def _file(item):
    return item.nodeid.split("::", 1)[0]


def _name(code):
    return code.co_filename, code.co_firstlineno, code.co_name


def changed_codes(text, faulty, path):
    """Return the functions' codes that a fault changes, with the new ones; None if it is outside of them."""
    changed = {}
    old, new = (compile(program, path, "exec", dont_inherit=True) for program in (text, faulty))
    while True:
        inner, faulty_inner = _inner(old), _inner(new)
        differing = [pair for pair in zip(inner, faulty_inner, strict=False) if pair[0] != pair[1]]
        if len(inner) != len(faulty_inner) or len(differing) > 1:
            return None
        if not differing:
            return changed if old in changed else None
        old, new = differing[0]
        if old.co_flags & inspect.CO_OPTIMIZED:
            changed[old] = new
        elif changed:
            return None  # a class inside of a function


def _inner(code):
    return [value for value in code.co_consts if isinstance(value, CodeType)]


def exchange(codes):
    """Give all living functions with old codes the new ones."""
    functions = [thing for thing in gc.get_objects() if isinstance(thing, FunctionType)]
    changed = [function for function in functions if function.__code__ in codes]
    assert changed, NOT_PUT_IN
    for function in changed:
        function.__code__ = codes[function.__code__]
