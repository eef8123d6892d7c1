"""Reports that must fit into a number of bytes, such as a pull request comment.

What a reviewer reads in a minute is open, and the rest is folded away. Where not all fits, changed clusters come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trainyard.language.dataclass import dataclass

_LISTED = 50  # clusters that are left out and still have a line each


class Section(NamedTuple):
    """A section in Markdown, and the titles in it."""

    titles: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a cluster by its sections, a line that replaces it, and whether it has anything to look at.

    ``head`` stands before the sections; those of ``rest`` are folded away.
    """

    head: str
    first: tuple[Section, ...]
    rest: tuple[Section, ...] = ()
    line: str = ""
    changed: bool = True

    @property
    def text(self) -> str:
        """All of it."""
        return self.with_sections(len(self.first) + len(self.rest))

    def with_sections(self, count: int) -> str:
        """The first sections, and the titles of the others."""
        sections = (*self.first, *self.rest)
        opened = self.first[:count]
        folded = self.rest[: max(0, count - len(self.first))]
        parts = [self.head, *(section.text for section in opened)]
        if folded:
            parts += [_summary(folded), *(section.text for section in folded), "</details>\n\n"]
        left = _titles(sections[count:])
        if left:
            parts.append(f"Left out: {left}.\n\n")
        return "".join(parts).removesuffix("\n")


def _summary(sections: Sequence[Section]) -> str:
    return f"<details><summary>{_titles(sections)}</summary>\n\n"


def _titles(sections: Iterable[Section]) -> str:
    return ", ".join(title for section in sections for title in section.titles)


def joined(reports: Sequence[Report], head: str = "") -> str:
    """All reports, one after the other. Of several those with nothing to look at are last, each folded to a line."""
    if len(reports) < 2:
        return "\n".join(report.text for report in reports)
    changed = [report.text for report in reports if report.changed]
    others = [_folded(report) for report in reports if not report.changed]
    parts = [head, *changed, *others]
    return "\n".join(part for part in parts if part)


def _folded(report: Report) -> str:
    line = report.line.removeprefix("- ").replace("**", "")
    return f"<details><summary>{line}</summary>\n\n{report.text}\n</details>\n"


def shortened(
    reports: Sequence[Report], limit: int, link: str, heads: Sequence[str] = ("",)
) -> str:
    """All reports if they fit. Otherwise what is open of changed clusters, then their other sections, then the clusters
    that did not change, as much as fits, and a line for each cluster that is left out.

    No section is cut. ``link`` leads to the whole. ``heads`` are what may stand before all, the longest first: it takes
    a third of the room at most.
    """
    whole = joined(reports, heads[0])
    if _size(whole) <= limit:
        return whole
    head = next((each for each in heads if _size(each) <= limit // 3), "")
    return _Page(reports, limit, link, head).filled()


class _Page:
    """A page that is filled as far as it goes: ``shown`` has the number of sections of each report that is there."""

    def __init__(self, reports: Sequence[Report], limit: int, link: str, head: str) -> None:
        changed = [report for report in reports if report.changed]
        others = [report for report in reports if not report.changed]
        self._reports = [*changed, *others]
        self._changed = len(changed)
        self._limit = limit
        self._link = link
        self._head = head
        self._shown: dict[int, int] = {}

    def filled(self) -> str:
        """The page."""
        changed = range(self._changed)
        # A cluster that does not fit may be followed by one that does.
        for number in changed:
            self._try(number, len(self._reports[number].first))
        for number in changed:
            if number in self._shown:
                self._extend(number)
        for number in range(self._changed, len(self._reports)):
            report = self._reports[number]
            self._try(number, len(report.first) + len(report.rest))
        if not self._shown:
            self._shown[0] = 0
            self._extend(0)
        return self._text(self._shown)

    def _try(self, number: int, count: int) -> bool:
        """Show so many sections of a report, if there is room."""
        shown = {**self._shown, number: count}
        fits = _size(self._text(shown)) <= self._limit
        if fits:
            self._shown = shown
        return fits

    def _extend(self, number: int) -> None:
        """Show as many more sections of a report as there is room for."""
        report = self._reports[number]
        for count in range(self._shown[number] + 1, len(report.first) + len(report.rest) + 1):
            if not self._try(number, count):
                return

    def _text(self, shown: dict[int, int]) -> str:
        parts = [self._reports[number].with_sections(count) for number, count in shown.items()]
        if self._head:
            parts.insert(0, self._head)
        left = [report for number, report in enumerate(self._reports) if number not in shown]
        if left:
            parts.append(_lines(left))
        parts.append(_way_to_all(self._link))
        return "\n".join(parts)


def _lines(left: Sequence[Report]) -> str:
    lines = [report.line for report in left[:_LISTED]]
    more = len(left) - len(lines)
    if more:
        lines.append(f"- and {more} more")
    listed = "\n".join(lines)
    return f"# Left out here\n\n{listed}\n"


def _way_to_all(link: str) -> str:
    if link:
        return f"This is not all: [the whole report]({link}).\n"
    return "This is not all: `trainyard report` prints the whole.\n"


def _size(text: str) -> int:
    return len(text.encode())
