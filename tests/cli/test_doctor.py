"""``mlnlab doctor``: every line says what to do, and a broken check is a finding."""

from __future__ import annotations

import json

import pytest

from mlnlab.cli import checks, main


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """What the installed package asks for; a source folder need not be installed to be tested."""
    monkeypatch.setattr(checks.metadata, "requires", lambda _: ["jupyterlab>=4.6.2,<5", "numpy"])


def report(capsys):
    code = main(["doctor", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_report_as_data(capsys):
    code, found = report(capsys)
    names = {check["name"] for check in found["checks"]}
    assert {"python", "notebook kernel", "kernel cache", "chromium", "jupyterlab"} <= names
    assert found["ok"] == (code == 0)
    for check in found["checks"]:
        assert check["status"] in {"ok", "warn", "fail"}
        assert (check["status"] == "ok") == (check["remedy"] == "")


def test_the_report_for_people(capsys):
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok    python")


def test_missing_things_are_warnings_with_a_remedy(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("MLNLAB_CHROMIUM", raising=False)
    monkeypatch.setenv("MLNLAB_DATA", str(tmp_path / "none"))
    _, found = report(capsys)
    by_name = {check["name"]: check for check in found["checks"]}
    assert by_name["chromium"]["status"] == by_name["real data sets"]["status"] == "warn"
    assert "MLNLAB_CHROMIUM" in by_name["chromium"]["remedy"]


def test_an_old_library_fails_with_its_repair(monkeypatch, capsys):
    original = checks.metadata.version
    monkeypatch.setattr(
        checks.metadata, "version", lambda name: "4.5.0" if name == "jupyterlab" else original(name)
    )
    code, found = report(capsys)
    (lab,) = [check for check in found["checks"] if check["name"] == "jupyterlab"]
    assert code == 1
    assert lab["status"] == "fail"
    assert "pip install" in lab["remedy"]


def test_a_broken_check_is_a_finding(monkeypatch, capsys):
    monkeypatch.setattr(checks, "_is_writable", lambda _: 1 / 0)
    code, found = report(capsys)
    assert code == 1
    assert any("ZeroDivisionError" in check["detail"] for check in found["checks"])


def test_the_real_data_are_nobodys_business_unless_named(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("MLNLAB_DATA", raising=False)
    _, found = report(capsys)
    (data,) = [check for check in found["checks"] if check["name"] == "real data sets"]
    assert data["status"] == "ok"
    assert data["detail"] == "MLNLAB_DATA is not set (only tests of the project use it)"
    monkeypatch.setenv("MLNLAB_DATA", str(tmp_path))
    _, found = report(capsys)
    assert str(tmp_path) in [check["detail"] for check in found["checks"]]
