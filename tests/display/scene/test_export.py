"""Files that others can open: SVG, PNG, and a page with a scrubber."""

from __future__ import annotations

import re
import struct
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from mlnlab.display.model.hypergraph_scenes import places_in
from mlnlab.display.scene import export
from tests.display.scene.gallery import FACTS, friends, hostile
from tests.support.counting_server import counting_server


def growing():
    lines = FACTS.strip().splitlines()
    scenes = []
    for count in (4, 7, len(lines)):
        previous = places_in(scenes[-1]) if scenes else None
        scenes.append(friends("\n".join(lines[:count]), "bipartite", previous))
    return scenes


def test_svg(tmp_path):
    text = export.to_svg(friends(), tmp_path / "friends.svg")
    assert (tmp_path / "friends.svg").read_text(encoding="utf-8") == text
    assert ElementTree.fromstring(text).tag.endswith("svg")


@pytest.mark.parametrize("dark", [False, True])
def test_png(tmp_path, chromium, monkeypatch, dark):
    monkeypatch.setenv("MLNLAB_CHROMIUM", chromium)
    scene = friends()
    content = export.to_png(scene, tmp_path / "friends.png", scale=2, dark=dark).read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (2 * round(scene.width + 0.5), 2 * round(scene.height + 0.5))
    assert len(content) > 5_000


def test_without_a_browser_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MLNLAB_CHROMIUM", raising=False)
    with pytest.raises(export.ExportError, match="install one, set MLNLAB_CHROMIUM"):
        export.to_png(friends(), tmp_path / "x.png")
    with pytest.raises(export.ExportError, match="no drawing"):
        export.to_html([])


def test_a_browser_that_fails_gets_a_sentence(tmp_path, monkeypatch):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("MLNLAB_CHROMIUM", str(broken))
    with pytest.raises(export.ExportError, match="could not draw"):
        export.to_png(friends(), tmp_path / "x.png")


def test_a_page_from_a_server_asks_it_for_nothing_more(browser):
    with counting_server() as host:
        host.pages["/page.html"] = export.to_html([*growing(), hostile()], title="A page")
        context = browser.new_context(reduced_motion="reduce")
        page = context.new_page()
        page.goto(f"{host.address}page.html")
        page.get_by_role("slider").fill("3")
        expect(page.get_by_role("toolbar").get_by_role("status")).to_contain_text("4 of 4")
        for place in page.locator("#mlnlab-view [data-pick]").all()[:5]:
            place.dispatch_event("click")
        assert page.url == f"{host.address}page.html"
        context.close()
    assert host.asked == ["/page.html"]


def test_a_page_plays_scenes_without_any_network(browser, tmp_path):
    scenes = growing()
    export.to_html(scenes, tmp_path / "page.html", title="How it grows", steps=["few", "more", "all"])
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    problems, requests = [], []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    status = page.get_by_role("toolbar").get_by_role("status")
    count = lambda: page.locator("#mlnlab-view [data-pick]").count()  # noqa: E731
    expected = [sum(item.pick for item in scene.items()) for scene in scenes]
    assert status.inner_text() == "1 of 3 · few"
    assert count() == expected[0]
    page.get_by_role("button", name="forward").click()
    assert count() == expected[1]
    page.get_by_role("slider").fill("2")
    assert (status.inner_text(), count()) == ("3 of 3 · all", expected[2])
    page.get_by_role("button", name="back").click()
    page.keyboard.press("Home")
    assert count() == expected[0]
    page.get_by_role("button", name="play").click()
    expect(status).to_have_text("3 of 3 · all")
    assert count() == expected[2]
    assert page.evaluate("getComputedStyle(document.querySelector('.mlnlab-card')).position") == "absolute"
    page.evaluate("fetch('https://example.org/').catch(() => {})")
    script = "Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' })"
    page.evaluate(f"document.body.append({script})")
    assert page.evaluate("window.ran === undefined")
    context.close()
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert all("Content Security Policy" in problem for problem in problems)
    assert len(problems) == 3  # the request is told twice, the script once


def test_data_cannot_end_the_page(tmp_path):
    text = export.to_html([hostile()], steps=["</script><script>alert(1)</script>"], title="</title><b>")
    assert text.count("</script>") == 2
    assert "<b>" not in text
    assert re.search(r"\\u003c/script>|\\u003cscript", text)
