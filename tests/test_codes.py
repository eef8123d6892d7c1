"""Every code that the compiler uses has a page, every page a code, and pages are worth reading."""

from __future__ import annotations

import re

import pytest
from builders import ROOT
from trainyard.language.diagnostics.pages import load_pages

CODE = re.compile(
    r"""["'\[]((?:YML|SPC|RES|SCH|REF|NAM|OUT|INT|CAT|POL|LFT|LNT|CHG|CLU|PLN)\d{3})["'\]]"""
)
USED = {
    code for path in (ROOT / "compiler").rglob("*.py") for code in CODE.findall(path.read_text())
}


@pytest.mark.needs("hyperpod", "parallelcluster", "forecast", "review", "lint", "operate")
def test_codes_and_pages_are_the_same_set() -> None:
    pages = set(load_pages())
    assert USED - pages == set(), (
        "codes without a page in compiler/trainyard/language/diagnostics/codes"
    )
    assert pages - USED == set(), "pages of codes that nothing uses"


def test_slugs_are_unique_and_codes_stand_in_order() -> None:
    pages = list(load_pages().values())
    for area in {page.code[:3] for page in pages}:
        codes = [page.code for page in pages if page.code.startswith(area)]
        assert codes == sorted(codes)
        slugs = [page.slug for page in pages if page.code.startswith(area)]
        assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(
    "code", [code for code in load_pages() if code[:3] in ("SPC", "RES", "INT", "CHG")]
)
def test_a_page_says_why_what_fails_and_what_to_write(code: str) -> None:
    page = load_pages()[code]
    assert len(page.text.split()) >= 20
    assert len(page.title) <= 160
    if not code.startswith("INT"):
        assert "Fails:" in page.text
        assert "Instead:" in page.text
