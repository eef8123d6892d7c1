"""The page in a real Chromium: nothing is refused or loaded, it fits a phone, keys reach it, axe-core finds nothing.

CHROMIUM names the program, if it is not on the path; AXE_CORE names ``axe.min.js`` of axe-core (npm, MPL-2.0).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from html_page.browser import Browser, chromium

PROGRAM = chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PROGRAM is None, reason="no Chromium: install it, or name it by the variable CHROMIUM"
    ),
]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser: to start it takes longer than to show a page."""
    assert PROGRAM is not None
    with Browser(PROGRAM, tmp_path_factory.mktemp("browser") / "profile") as found:
        yield found


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """It, with a page of its own for each test."""
    started.open()
    yield started
    started.close()


@pytest.fixture(scope="module")
def page(whole_page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(whole_page)
    return file


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [320, 768, 1400])
def test_a_page_fits_its_width_and_loads_nothing_else(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    browser.show(page, width=width, dark=dark)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    faults = {"Log.entryAdded", "Runtime.exceptionThrown"}
    assert not [event for event in browser.events if event["method"] in faults]
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked == [page.as_uri()]
    shown = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shown == ("rgb(18, 22, 28)" if dark else "rgb(255, 255, 255)")


def test_words_leave_the_rows_of_a_table_that_have_them(browser: Browser, page: Path) -> None:
    browser.show(page, width=1400)
    browser.evaluate("document.querySelector('.filter').closest('details').open = true")
    browser.evaluate(
        "const box = document.querySelector('.filter input'); box.value = 'TOLERATIONS pool';"
        "box.dispatchEvent(new Event('input'))"
    )
    left = browser.evaluate(
        "[...document.querySelector('.filter').nextElementSibling.querySelectorAll('tbody tr')]"
        ".filter(row => row.offsetParent).map(row => row.textContent)"
    )
    assert left
    assert all("tolerations" in row and "pool" in row for row in left)
    count = browser.evaluate("document.querySelector('.filter output').textContent")
    assert count.startswith(f"{len(left)} of ")


def test_the_first_key_skips_to_the_report_and_reasons_open_by_key(
    browser: Browser, page: Path
) -> None:
    browser.show(page, width=1400)
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.press("Enter")
    assert browser.evaluate("document.activeElement.id") == "main"
    browser.evaluate("document.querySelector('.why summary').focus()")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('.why').open") is True


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [320, 1400])
def test_axe_core_finds_no_violation(browser: Browser, page: Path, width: int, dark: bool) -> None:
    program = os.environ.get("AXE_CORE")
    if program is None:
        pytest.skip("no axe-core: name its `axe.min.js` by the variable AXE_CORE")
    browser.show(page, width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    browser.evaluate(f"{Path(program).read_text()}; 0")
    found = browser.evaluate(
        "axe.run().then(done => done.violations.map(each => [each.id, each.nodes[0].html]))"
    )
    assert found == []
