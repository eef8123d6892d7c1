"""Explanation pages of the compiler's own codes: ``codes/<AREA>.md``, one second-level heading a code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from trainyard.language.dataclass import dataclass

_HEADING = r"(?m)^## ([A-Z]{2,4}[0-9]{3}) ([a-z0-9-]+)[ \t]*$"


@dataclass(frozen=True, slots=True)
class Page:
    """What ``trainyard explain CODE`` prints: why the code exists, what fails, what to write instead."""

    code: str
    slug: str
    text: str

    @property
    def title(self) -> str:
        """The first sentence of the text."""
        first_paragraph = self.text.partition("\n\n")[0]
        in_one_line = first_paragraph.replace("\n", " ")
        return in_one_line.partition(". ")[0].rstrip(".")


@cache
def load_pages() -> dict[str, Page]:
    """Every page by code, in the order of area and code."""
    pages: dict[str, Page] = {}
    folder = Path(__file__).with_name("codes")
    for area in sorted(folder.glob("*.md")):
        text = area.read_text(encoding="utf-8")
        pages.update((page.code, page) for page in split_pages(text))
    return pages


def split_pages(text: str) -> list[Page]:
    """The pages of one area's text."""
    headings = list(re.finditer(_HEADING, text))
    ends = [heading.start() for heading in headings[1:]]
    ends.append(len(text))
    return [
        Page(heading[1], heading[2], text[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    ]
