"""Reports that must fit into a number of bytes, such as a pull request comment: changed clusters first, in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compiler.dataclass import dataclass

_SECTION = "\n## "
_LISTED = 50  # clusters that are left out and still have a line each


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a cluster, a line that replaces it, and whether it has anything to look at."""

    text: str
    line: str
    changed: bool


def joined(reports: Iterable[Report]) -> str:
    """All reports, one after the other."""
    return "\n".join(report.text for report in reports)


def shortened(reports: Sequence[Report], limit: int, link: str) -> str:
    """All reports if they fit; otherwise those of changed clusters first, as many as fit, and a line for each other.

    No report is cut within a section. ``link`` leads to the whole.
    """
    whole = joined(reports)
    if _size(whole) <= limit:
        return whole
    changed = [report for report in reports if report.changed]
    others = [report for report in reports if not report.changed]
    left = [*changed, *others]
    shown: list[str] = []
    # A cluster that does not fit may be followed by one that does.
    for report in (*changed, *others):
        rest = [other for other in left if other is not report]
        if _size(_page([*shown, report.text], rest, link)) <= limit:
            shown.append(report.text)
            left = rest
    if not shown:
        first = left.pop(0)
        room = limit - _size(_page([""], left, link))
        shown.append(_sections(first.text, room))
    return _page(shown, left, link)


def _page(shown: Sequence[str], left: Sequence[Report], link: str) -> str:
    parts = list(shown)
    if left:
        parts.append(_summary(left))
    parts.append(_way_to_all(link))
    return "\n".join(parts)


def _summary(left: Sequence[Report]) -> str:
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


def _sections(text: str, room: int) -> str:
    """As many sections of a report as there is room for, and the names of the others."""
    head, *sections = text.split(_SECTION)
    titles = [section.partition("\n")[0] for section in sections]
    shown = head
    for number, section in enumerate(sections):
        longer = shown + _SECTION + section
        if _size(longer + _titles(titles[number + 1 :])) > room:
            return shown + _titles(titles[number:])
        shown = longer
    return shown


def _titles(titles: Sequence[str]) -> str:
    if not titles:
        return ""
    return f"\nLeft out: {', '.join(titles)}.\n"


def _size(text: str) -> int:
    return len(text.encode())
