"""Did-you-mean."""

from __future__ import annotations

from collections.abc import Iterable


def near(word: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """The names nearest to a word, best first; what differs only in case or separators comes before all else."""
    from difflib import get_close_matches  # only an error path needs it

    names = list(names)
    plain = _plain(word)
    same = [name for name in names if _plain(name) == plain]
    close = get_close_matches(word.lower(), names, n=limit, cutoff=0.6)
    return list(dict.fromkeys([*same, *close]))[:limit]


def _plain(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
