"""Pages of notebooks that try to load something or to lead away: a browser shows them and asks nobody.

Each trick is shown to work in a page without protection, so that a browser that has forgotten it is noticed.
"""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell
from playwright.sync_api import Error, expect

import mlnlab as ml
from mlnlab.cli.page.render import render
from mlnlab.display.doors.bundles import bundle
from tests.support.counting_server import counting_server
from tests.support.patience import wait_until

# HERE is an address of the server that counts.
REFRESH = "<meta http-equiv=refresh content='0;url=HERE'>"
TRICKS = {
    "refresh": '<meta http-equiv="refresh" content="0; url=HERE">',
    "refresh in a drawing's style": f"<svg><style>{REFRESH}</style></svg>",
    "refresh behind a comment": f"<!-->{REFRESH}-->",
    "refresh in a bogus comment": f"<!x>{REFRESH}",
    "refresh in a shadow tree": "<div><template shadowrootmode=open><img src=HERE></template></div>",
    "refresh in an attribute": f'<style><a title="</style>{REFRESH}"></a>',
    "refresh in formulas": "<math><mtext><table><mglyph><style><!--</style>"
    f'<img title="--&gt;&lt;img src=1&gt;">{REFRESH}',
    "location": "<script>location = 'HERE'</script>",
    "window.open": "<script>window.open('HERE')</script>",
    "module": "<script type=module>fetch('HERE')</script>",
    "script from afar": "<script src=HERE></script>",
    "script in a drawing": "<svg><script href=HERE></script></svg>",
    "event handler": "<img src='data:,' onerror=\"location = 'HERE'\">",
    "event handler of a drawing": "<svg onload=\"location = 'HERE'\"></svg>",
    "event handler of a style": "<style onload=\"location = 'HERE'\">p {}</style>",
    "form that sends itself": "<form id=f action=HERE></form><script>document.forms.f.submit()</script>",
    "button": "<form action=HERE><button>Go</button></form>",
    "button outside its form": "<form id=g></form><button form=g formaction=HERE>Go</button>",
    "picture as a button": "<form action=HERE><input type=image src=HERE></form>",
    "rules of speculation": "<script type=speculationrules>"
    '{"prefetch": [{"source": "list", "urls": ["HERE"]}]}</script>',
    "frame": "<iframe src=HERE></iframe>",
    "frame with a script": "<iframe srcdoc=\"<script>top.location = 'HERE'</script>\"></iframe>",
    "frame of data": "<iframe src=\"data:text/html,<script>new Image().src = 'HERE'</script>\"></iframe>",
    "object": "<object data=HERE></object>",
    "embed": "<embed src=HERE>",
    "prefetch": "<link rel=prefetch href=HERE>",
    "preconnect": "<link rel=preconnect href=HERE>",
    "preload": "<link rel=preload as=image href=HERE>",
    "modulepreload": "<link rel=modulepreload href=HERE>",
    "stylesheet": "<link rel=stylesheet href=HERE>",
    "icon": "<link rel=icon href=HERE>",
    "base": "<base href=HERE><img src=x.png>",
    "script's link": "<a href=\"javascript:location = 'HERE'\">Go</a>",
    "script's link in a drawing": "<svg width=99 height=99><a xlink:href=\"javascript:location = 'HERE'\">"
    "<rect width=99 height=99></rect></a></svg>",
    "animated link": "<svg width=99 height=99><a><set attributeName=href to=\"javascript:location = 'HERE'\">"
    "</set><rect width=99 height=99></rect></a></svg>",
    "link that tells": "<a href='#x' ping=HERE>Go</a>",
    "map": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' usemap=#m width=50 height=50>"
    "<map name=m><area shape=default href=HERE></map>",
    "picture": "<img src=HERE>",
    "pictures by size": "<img srcset='HERE 1x'><picture><source srcset=HERE><img></picture>",
    "video": "<video poster=HERE src=HERE></video>",
    "sound": "<audio src=HERE autoplay></audio>",
    "picture in a drawing": "<svg><image href=HERE width=9 height=9></image></svg>",
    "drawing of another file": "<svg><use href='HERE#a'></use></svg>",
    "background": "<div style='background: url(HERE)'>x</div>",
    "old background": "<table background=HERE><tr><td>x</td></tr></table>",
    "imported styles": "<style>@import url(HERE);</style>",
    "letters": "<style>@font-face { font-family: f; src: url(HERE) } p { font-family: f }</style><p>x</p>",
    "list": "<style>li { list-style-image: url(HERE); cursor: url(HERE), auto }</style><ul><li>x</ul>",
}
# What Chromium may know and do not follow here.
NOT_EVERYWHERE = {"icon", "preconnect", "drawing of another file"}
# One of each kind; a browser opens the others in `make proof`, and all are looked at without one below.
SAMPLE = {
    "refresh", "refresh in formulas", "location", "script in a drawing", "event handler", "button",
    "rules of speculation", "frame with a script", "object", "prefetch", "base", "script's link",
    "animated link", "link that tells", "video", "background", "imported styles",
}  # fmt: skip
EACH_TRICK = [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.proof) for name in TRICKS]


@pytest.fixture
def counting():
    """The server that nobody may ask."""
    with counting_server() as server:
        yield server


@pytest.fixture
def host():
    """The server that the pages come from."""
    with counting_server() as server:
        yield server


def notebook_of(*markups):
    """Return a notebook that holds markup wherever a notebook can."""
    cells = []
    for markup in markups:
        bundles = [{kind: markup} for kind in ("text/html", "text/markdown", "text/latex", "text/plain")]
        bundles.append({"image/svg+xml": f"<svg>{markup}</svg>"})
        outputs = [new_output("display_data", data=data) for data in bundles]
        cells += [
            new_markdown_cell(f"# A title {markup}"),
            new_markdown_cell(markup),
            new_raw_cell(
                markup, metadata={"raw_mimetype": "text/html", "tags": [f'">{markup}'.replace(",", "")]}
            ),
            new_code_cell("x", outputs=[*outputs, new_output("stream", text=markup)]),
        ]
    return new_notebook(cells=cells)


def open_and_click(context, address, root):
    page = context.new_page()
    page.goto(address, wait_until="commit")
    try:
        page.wait_for_load_state()
        # Links by their own words are followed by whoever clicks them: Markdown makes some of bare addresses.
        for place in page.locator(f"{root} :is(a:not([href^=http]), button, input, area)").all():
            place.dispatch_event("click")
    except Error:  # a trick that works takes the page away
        if root != "body":
            raise
    return page


@pytest.mark.parametrize("name", EACH_TRICK)
def test_a_page_asks_nobody(browser, host, counting, tmp_path, name):
    with counting_server() as unprotected:
        markup = TRICKS[name].replace("HERE", counting.address)
        host.pages["/page.html"] = render(notebook_of(markup), tmp_path / "page.ipynb")
        known = TRICKS["picture" if name in NOT_EVERYWHERE else name].replace("HERE", unprotected.address)
        host.pages["/plain.html"] = f"<!DOCTYPE html><body>{known}"
        context, beside = browser.new_context(), browser.new_context()
        page = open_and_click(context, f"{host.address}page.html", "main")
        open_and_click(beside, f"{host.address}plain.html", "body")
        wait_until(lambda: unprotected.connections)  # by then the page before it would have asked, too
        assert page.evaluate("document.querySelector('main') !== null")
        assert (counting.connections, counting.asked) == (0, [])
        assert page.url.partition("#")[0] == f"{host.address}page.html"
        assert len(context.pages) == 1
        context.close()
        beside.close()
    assert [path for path in host.asked if path != "/page.html" and "favicon" not in path] == ["/plain.html"]


def test_what_is_ours_works_beside_what_is_left_out(browser, host, counting, tmp_path):
    figure = {
        "data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}],
        "layout": {"title": {"text": "<b>Ours</b>"}},
    }
    sample = ml.sample("friends_smokers")
    outputs = [
        {"application/vnd.plotly.v1+json": figure},
        bundle(sample.mln),
        bundle(ml.Hypergraph.from_database(sample.db)),
    ]
    notebook = notebook_of(
        *(TRICKS[name].replace("HERE", counting.address) for name in ("location", "frame", "object"))
    )
    notebook.cells.insert(
        0, new_markdown_cell("$$\\frac{1}{Z}$$\n\n- [x] done\n\n[elsewhere](https://example.org)")
    )
    notebook.cells += [
        new_code_cell("x", outputs=[new_output("display_data", data=data)]) for data in outputs
    ]
    host.pages["/page.html"] = render(notebook, tmp_path / "page.ipynb")
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(f"{host.address}page.html")
    page.wait_for_selector(".plotly-graph-div .scatterlayer path.js-line")
    paper = "() => getComputedStyle(document.querySelector('.plotly-graph-div .main-svg')).backgroundColor"
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="dark")
    wait_until(lambda: page.evaluate(paper) != light)
    assert page.locator("mfrac").bounding_box()["height"] > 10
    assert page.get_by_role("link", name="elsewhere").get_attribute("href") == "https://example.org"
    pictures = "[...document.querySelectorAll('.mlnlab-picture')].map(picture => picture.naturalWidth > 10)"
    assert page.evaluate(pictures) == [True]
    details = page.locator("details").first
    shown = details.locator("table").first
    expect(shown).to_be_hidden()
    details.locator("summary").click()
    expect(shown).to_be_visible()
    expect(page.locator("p.left-out")).to_contain_text("4 scripts, 8 frames")
    context.close()
    assert (counting.connections, host.asked) == (0, ["/page.html"])


def test_nothing_is_left_that_a_policy_does_not_cover(tmp_path):
    markups = [TRICKS[name].replace("HERE", "http://127.0.0.1:1/") for name in TRICKS]
    for markup in markups:
        page = BeautifulSoup(render(notebook_of(markup), tmp_path / "page.ipynb"), "html.parser")
        assert [tag["href"] for tag in page.find_all("link")] == ["data:,"]
        assert [tag.get("http-equiv") for tag in page.main.find_all("meta")] == []
        assert page.find_all(["script", "form", "base", "template", "iframe", "object", "embed"]) == []
        assert not [name for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")]
