"""Two long texts beside each other in one line, from shortly before they differ."""

from __future__ import annotations

_KEPT = 20  # characters before the difference, so that the place is known


def beside(before: str, after: str, longest: int) -> tuple[str, str]:
    """Two texts of at most about ``longest`` characters each, in which what differs is to be seen."""
    skipped = _same(before, after) - _KEPT
    if max(len(before), len(after)) > longest and skipped > 0:
        before, after = f"…{before[skipped:]}", f"…{after[skipped:]}"
    return shortened(before, longest), shortened(after, longest)


def shortened(text: str, longest: int) -> str:
    """A text, cut where it is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _same(before: str, after: str) -> int:
    """The number of characters that two texts begin with alike."""
    pairs = zip(before, after, strict=False)
    for index, (one, other) in enumerate(pairs):
        if one != other:
            return index
    return min(len(before), len(after))
