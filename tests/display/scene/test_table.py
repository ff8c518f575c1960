"""The table that can be sorted, filtered and searched, worked with by mouse and keys."""

from __future__ import annotations

import pytest

from tests.display.scene.pages import events, mount_table, open_page
from tests.display.things import HOSTILE

ROWS = [
    ["Smokes(Anna)", 0.9, None],
    ["Smokes(Bob)", 0.25, 3],
    ["Cancer(P10)", 0.5, 1],
    ["Cancer(P9)", 1e-7, 2],
]


def table(rows=ROWS):
    columns = [{"name": "query"}, {"name": "probability", "number": True}, {"name": "rank", "number": True}]
    return {
        "format": "mlnlab-table",
        "version": 1,
        "title": "Probabilities",
        "columns": columns,
        "rows": rows,
    }


@pytest.fixture
def page(browser):
    with open_page(browser) as opened:
        mount_table(opened, table())
        yield opened


def column(page, place=0):
    return [row.locator("td").nth(place).inner_text() for row in page.locator("tbody tr").all()]


def heading(page, name):
    return page.get_by_role("columnheader", name=name)


def test_sorting_up_down_and_back(page):
    heading(page, "probability").get_by_role("button").click()
    assert column(page) == ["Cancer(P9)", "Smokes(Bob)", "Cancer(P10)", "Smokes(Anna)"]
    assert heading(page, "probability").get_attribute("aria-sort") == "ascending"
    heading(page, "probability").get_by_role("button").click()
    assert column(page)[0] == "Smokes(Anna)"
    assert heading(page, "probability").get_attribute("aria-sort") == "descending"
    heading(page, "probability").get_by_role("button").click()
    assert column(page) == [row[0] for row in ROWS]
    heading(page, "query").get_by_role("button").click()
    assert column(page) == ["Cancer(P9)", "Cancer(P10)", "Smokes(Anna)", "Smokes(Bob)"]
    for _ in range(2):  # what is missing stands last, whichever way
        heading(page, "rank").get_by_role("button").click()
        assert column(page)[-1] == "Smokes(Anna)"


@pytest.mark.parametrize(
    ("place", "text", "left"),
    [
        (0, "canc", 2), (1, "> 0.3", 2), (1, "0.2..0.6", 2), (1, "<=0.25", 2), (1, "0.5", 1), (2, "> 0", 3),
        (1, "nonsense", 0), (0, "(p1", 1),
    ],
)  # fmt: skip
def test_filters(page, place, text, left):
    page.locator("thead input").nth(place).fill(text)
    assert len(column(page)) == left
    assert page.locator(".mlnlab-status").inner_text() == f"{left} of 4 rows"
    page.keyboard.press("Escape")
    assert len(column(page)) == 4


def test_searching_looks_into_all_columns(page):
    page.get_by_role("searchbox").fill("0.9")
    assert column(page) == ["Smokes(Anna)"]


def test_keys_and_selection(page):
    page.locator("tbody tr").nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert events(page) == [{"type": "select", "row": 1}]
    assert page.locator("tr[aria-selected=true]").inner_text().startswith("Smokes(Bob)")
    page.keyboard.press("End")
    page.keyboard.press(" ")
    assert events(page)[-1] == {"type": "select", "row": 3}
    heading(page, "probability").get_by_role("button").click()
    assert page.locator("tr[aria-selected=true]").inner_text().startswith("Cancer(P9)")
    page.locator("tbody tr").nth(1).click()
    assert events(page)[-1] == {"type": "select", "row": 1}


def test_many_rows_come_in_parts_and_names_stay_text(browser):
    with open_page(browser) as page:
        rows = [[name, n, n] for n, name in enumerate([*HOSTILE[:4], *(f"row {n}" for n in range(1000))])]
        mount_table(page, table(rows))
        assert len(page.locator("tbody tr").all()) == 200
        page.get_by_role("button", name="show 200 more").click()
        assert len(page.locator("tbody tr").all()) == 400
        assert column(page)[0] == HOSTILE[0]
        assert page.locator("#host script, #host img, #host b").count() == 0
        page.evaluate("window.drawn = window.view.table({ format: 'other' })")
        assert page.evaluate("window.drawn") is False
