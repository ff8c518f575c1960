"""``mlnlab infer`` where it samples: options, errors in every format, warnings, progress, Ctrl-C."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys

import pytest

import mlnlab as ml
from mlnlab.cli import main
from mlnlab.cli.output import progress_bar
from mlnlab.steps.runs import status_line
from tests.support.patience import PATIENCE

MODEL = """
Smokes(person)
Cancer(person)
Friends(person, person)
1.5 Smokes(x) => Cancer(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
"""
FACTS = "Friends(Ivan, John)\nFriends(John, Ivan)\nSmokes(Ivan)\n"
QUERY = ["-q", "Smokes,Cancer"]


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "a.mln").write_text(MODEL)
    (tmp_path / "a.db").write_text(FACTS)
    (tmp_path / "b.db").write_text("Smokes(Zoe)\n")
    return [str(tmp_path / name) for name in ("a.mln", "a.db", "b.db")]


def gibbs(*options):
    return [*QUERY, "--method", "gibbs", *options]


def test_the_options_reach_the_method(paths, capsys):
    assert main(["infer", *paths[:2], *gibbs("--samples", "1e3", "--chains", "3", "--burn-in", "7")]) == 0
    assert "gibbs: 3 chains of 1,000 samples each" in capsys.readouterr().err
    assert main(["infer", *paths[:2], *gibbs("--option", "samples=20", "--option", "thin = 2")]) == 0
    assert "4 chains of 20 samples each" in capsys.readouterr().err


def test_the_same_seed_gives_the_same_answer_and_that_of_python(paths, capsys):
    shown = []
    for seed in ("7", "7", "8"):
        assert main(["infer", *paths[:2], *gibbs("--samples", "200", "--seed", seed)]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != shown[2]
    mln = ml.load(paths[0])
    found = ml.infer(mln, ml.load_db(paths[1], mln), ["Smokes"], open=["Cancer"], method="gibbs",
                     samples=200, seed=7)  # fmt: skip
    assert f"{found['Smokes(John)']:.4f} ± {found.error('Smokes(John)'):.4f}  Smokes(John)" in shown[0]


def test_auto_takes_the_options_of_all_it_may_choose(paths, capsys):
    options = ["--option", "limit=2", "--option", "sweeps-per-state=none", "--samples", "60"]
    assert main(["infer", *paths[:2], *QUERY, *options]) == 0
    assert "of 60 samples each" in capsys.readouterr().err
    assert main(["infer", *paths[:2], *QUERY, "--samples", "60", "--seed", "1"]) == 0
    assert "enumeration: 8 worlds" in capsys.readouterr().err


def test_an_exact_method_takes_a_seed_and_needs_none(paths, capsys):
    assert main(["infer", *paths[:2], *QUERY, "--method", "enumeration", "--seed", "5"]) == 0
    assert "±" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--option", "sample=3"], "enumeration and gibbs have no option sample; did you mean samples?"),
        (["--option", "samples"], "--option samples: write NAME=VALUE, with one of limit, samples,"),
        (["--option", "samples=many"], "samples must be a whole number, not 'many'."),
        (["--samples", "2.5"], "samples must be a whole number, not '2.5'."),
        (["--samples", "inf"], "samples must be a whole number, not 'inf'."),
        (["--samples", "0", "--method", "gibbs"], "samples must be a whole number of at least 1, not 0."),
        (["--seed", "-1", "--method", "gibbs"], "seed must be a whole number of at least 0, not -1."),
        (["--samples", "3", "--option", "samples=4"], "The option samples is given twice."),
        (["--option", "sweeps_per_state=x"], "sweeps_per_state must be a whole number or none, not 'x'."),
        (["--chains", "2", "--method", "enumeration"], "enumeration has no option chains."),
        (["--option", "limit=9", "--method", "gibbs"], "gibbs has no option limit."),
        (["--option", "\x1b[1m=1"], "no option �[1m"),
    ],
)
def test_bad_options_get_a_sentence(paths, options, sentence, capsys):
    assert main(["infer", *paths[:2], *QUERY, *options]) == 1
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_errors_stand_in_every_format(paths, tmp_path, capsys):
    options = gibbs("--samples", "400", "--seed", "2")
    assert main(["infer", *paths[:2], *options]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "  1.0000           Smokes(Ivan)  (fact)"
    assert second[8:11] == " ± "
    for name in ("o.csv", "o.json"):
        assert main(["infer", *paths[:2], *options, "-o", str(tmp_path / name)]) == 0
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    (answer,) = json.loads((tmp_path / "o.json").read_text())
    assert list(rows[0]) == ["query", "probability", "fact", "error", "r_hat", "effective_size"]
    assert [rows[0][column] for column in ("error", "r_hat", "effective_size")] == ["0.0", "", ""]
    assert answer["complete"] is True
    assert answer["r_hats"]["Smokes(Ivan)"] is None
    for row in rows[1:]:
        assert float(row["error"]) == answer["errors"][row["query"]] > 0
        assert float(row["r_hat"]) == answer["r_hats"][row["query"]]
        assert float(row["effective_size"]) == answer["effective_sizes"][row["query"]] > 10


def test_exact_and_sampled_answers_in_one_table(paths, tmp_path):
    options = [*QUERY, "--option", "limit=2", "--samples", "50", "-o", str(tmp_path / "o.csv")]
    assert main(["infer", *paths, *options]) == 0
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    exact = [row for row in rows if row["database"] == paths[2] and row["fact"] == "false"]
    assert [row["query"] for row in exact] == ["Cancer(Zoe)"]
    assert float(exact[0]["error"]) < 1e-12
    assert exact[0]["r_hat"] == ""


def test_doubts_are_lines_of_their_own(paths, capsys):
    assert main(["infer", *paths[:2], *gibbs("--samples", "2", "--chains", "1", "--burn-in", "0")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"{paths[1]}: gibbs: 1 chain of 2 samples each")
    assert all(line.startswith("warning: ") for line in lines[1:])
    assert any("Fewer than 100 effective samples for Smokes(John)" in line for line in lines[1:])
    assert not any("SamplingWarning" in line or "Warning:" in line for line in lines)


# --- progress ----------------------------------------------------------------------------------------


class Terminal:
    """Keeps what is written to it."""

    def __init__(self, looked_at=True):
        self.text, self.looked_at = "", looked_at

    def isatty(self):
        return self.looked_at

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal_only(paths, monkeypatch, capsys):
    terminal = Terminal()
    bars = progress_bar.progress_bars
    monkeypatch.setattr(progress_bar, "progress_bars", lambda name, total: bars(name, total, terminal))
    monkeypatch.setattr(status_line, "_EVERY_SECONDS", 0.0)
    assert main(["infer", *paths[:2], *gibbs("--samples", "300", "--burn-in", "100")]) == 0
    lines = terminal.text.split("\r")
    assert lines[1] == "a.db  grounding"
    assert any(re.search(r"a\.db  burn-in  \d+ s", line) for line in lines)
    assert any(re.search(r" of 300 samples  \d+ s left  R-hat ", line) for line in lines)
    assert any("[################] 100%  300 of 300 samples" in line for line in lines)
    assert lines[-1] == ""
    assert set(lines[-2]) == {" "}
    assert "samples  " not in capsys.readouterr().err
    assert bars("a", 1, Terminal(looked_at=False)) == ()


def test_progress_is_drawn_at_most_ten_times_a_second(monkeypatch):
    mln, now, terminal = ml.MLN.from_text("e = {A, B}\nP(e)\n1 P(x)"), [0.0], Terminal()
    bar = progress_bar.ProgressBar("x\x1b", 50, terminal, clock=lambda: now[0])
    steps = list(ml.sampler("gibbs", mln, samples=50, burn_in=0, sweeps_per_state=1).steps())
    for step in steps:
        bar.on_step(step)
        now[0] += 0.03
    assert terminal.text.count("\r") == (len(steps) + 3) // 4
    assert "\x1b" not in terminal.text
    monkeypatch.setenv("COLUMNS", "20")
    now[0] += 1
    bar.on_step(steps[-1])
    assert len(terminal.text.rpartition("\r")[2].rstrip()) < 20


def test_a_method_without_samples_shows_its_steps():
    class Counting:
        def metrics(self):
            return {"objective": 2.0}

    from mlnlab.steps.step import Step

    assert progress_bar.progress_line("pll", None, Step(12, 3.4, Counting())) == "pll  step 12  3 s"


# --- Ctrl-C ------------------------------------------------------------------------------------------


def interrupting_after(samples, monkeypatch):
    """Let somebody press Ctrl-C at the first state with so many samples."""

    class Finger:
        def on_step(self, step):
            if step.state.samples >= samples:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    monkeypatch.setattr(progress_bar, "progress_bars", lambda name, total: (Finger(),))


@pytest.mark.parametrize("target", [None, "o.json", "o.csv"])
def test_stopping_prints_what_is_known(paths, tmp_path, monkeypatch, capsys, target):
    interrupting_after(10_000, monkeypatch)
    output = [] if target is None else ["-o", str(tmp_path / target)]
    assert main(["infer", *paths[:2], *gibbs("--samples", "100000", "--seed", "1"), *output]) == 130
    shown = capsys.readouterr()
    assert f"{paths[1]}: stopped early; gibbs: 4 chains of " in shown.err
    assert shown.err.splitlines()[-1] == "stopped"
    text = shown.out if target is None else (tmp_path / target).read_text()
    assert "Smokes(John)" in text
    if target is None:
        assert "± " in text
    elif target == "o.json":
        (answer,) = json.loads(text)
        assert answer["complete"] is False
        assert 0.7 < answer["probabilities"]["Smokes(John)"] < 0.95
        assert 0 < answer["errors"]["Smokes(John)"] < 0.1


def test_stopping_before_the_first_sample_keeps_the_answers_that_are_there(paths, monkeypatch, capsys):
    interrupting_after(0, monkeypatch)
    options = [*QUERY, "--option", "limit=2", "--samples", "50"]
    assert main(["infer", paths[0], paths[2], paths[1], *options]) == 130  # the first is small enough to sum
    shown = capsys.readouterr()
    assert "Cancer(Zoe)" in shown.out
    assert "John" not in shown.out
    assert f"{paths[1]}: stopped before anything was known." in shown.err


def test_stopping_while_a_file_is_read(paths, monkeypatch, capsys):
    def stopped(path, mln):
        raise KeyboardInterrupt

    monkeypatch.setattr(ml.Database, "load", stopped)
    assert main(["infer", *paths[:2], *QUERY]) == 130
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [f"{paths[1]}: stopped before anything was known.", "stopped"]


SAMPLING = """
import sys
from mlnlab.cli import main
from mlnlab.cli.output import progress_bar

class Telling:
    told = False

    def on_step(self, step):
        if step.state.samples and not self.told:
            self.told = True
            print("sampling", flush=True)

    def on_end(self, last):
        pass

progress_bar.progress_bars = lambda name, total: (Telling(),)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal for one process")
def test_a_real_interrupt_ends_a_real_process_soon(paths):
    command = [sys.executable, "-c", SAMPLING, "infer", *paths[:2], *gibbs("--samples", "1e9")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "sampling\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Smokes(John)" in out


def test_in_python_the_exception_knows_what_was_known(monkeypatch):
    mln = ml.MLN.from_text("e = {A, B}\nP(e)\n1 P(x)")

    class Finger:
        def on_step(self, step):
            if step.index == 20:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(KeyboardInterrupt, match=r"gibbs was stopped at step 20; ml\.so_far") as caught:
        ml.infer(mln, method="gibbs", samples=10_000, observers=[Finger()])
    known = caught.value.so_far()
    assert abs(known["P(A)"] - 0.731) < 5 * known.error("P(A)")
    assert known.reason.startswith("stopped early; gibbs: 4 chains of ")
    assert len(known.trace) == 21
    assert ml.infer(mln, method="gibbs", samples=100)  # nothing is left behind
