"""``mlnlab doctor``: every line says what to do, and a broken check is a finding."""

from __future__ import annotations

import json

import pytest

from mlnlab.cli import main
from mlnlab.cli.commands import doctor


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """What the installed package asks for; a source folder need not be installed to be tested."""
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: ["jupyterlab>=4.6.2,<5", "numpy"])


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
    original = doctor.metadata.version
    monkeypatch.setattr(
        doctor.metadata, "version", lambda name: "4.5.0" if name == "jupyterlab" else original(name)
    )
    code, found = report(capsys)
    (lab,) = [check for check in found["checks"] if check["name"] == "jupyterlab"]
    assert code == 1
    assert lab["status"] == "fail"
    assert "pip install" in lab["remedy"]


def test_a_broken_check_is_a_finding(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_is_writable", lambda _: 1 / 0)
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


def extension_finding(capsys):
    _, found = report(capsys)
    (finding,) = [check for check in found["checks"] if check["name"] == "lab extension"]
    return finding


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An extension that JupyterLab finds before any other."""
    folder = tmp_path / "labextensions" / "mlnlab"
    (folder / "static").mkdir(parents=True)
    build = {"load": "static/entry.js", "extension": "./extension"}
    described = {"name": "mlnlab", "version": "0.1.0", "jupyterlab": {"_build": build}}
    (folder / "package.json").write_text(json.dumps(described))
    (folder / "static" / "entry.js").write_text("")
    (folder / "sources.sha256").write_text("as built\n")
    package = tmp_path / "package"
    (package / "labextension").mkdir(parents=True)
    (package / "labextension" / "sources.sha256").write_text("as built\n")
    monkeypatch.setattr(doctor, "_PACKAGE", package)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return folder


def test_the_extension_of_lab_is_found(installed, capsys):
    finding = extension_finding(capsys)
    assert (finding["status"], finding["detail"]) == ("ok", f"JupyterLab finds it in {installed}")


def test_a_missing_extension_is_said_with_what_is_missed(monkeypatch, capsys, tmp_path):
    from jupyter_core import paths

    monkeypatch.setattr(paths, "jupyter_path", lambda *_: [str(tmp_path)])
    finding = extension_finding(capsys)
    assert finding["status"] == "warn"
    assert "no colours in .mln files" in finding["detail"]
    assert "pip install" in finding["remedy"]


def test_an_extension_that_is_not_whole(installed, capsys):
    (installed / "static" / "entry.js").unlink()
    assert extension_finding(capsys)["detail"] == f"{installed} is incomplete"


def test_an_older_copy_beside_sources(installed, capsys):
    (installed / "sources.sha256").write_text("built before\n")
    finding = extension_finding(capsys)
    assert "a different build from the one beside the sources" in finding["detail"]
    assert "make lab" in finding["remedy"]


def test_an_extension_that_is_switched_off(installed, capsys, monkeypatch, tmp_path):
    (tmp_path / "labconfig").mkdir()
    config = {"disabledExtensions": {"mlnlab": True}}
    (tmp_path / "labconfig" / "page_config.json").write_text(json.dumps(config))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    finding = extension_finding(capsys)
    assert finding["detail"] == f"{installed} is switched off"
    assert "labextension enable mlnlab" in finding["remedy"]
