"""Did-you-mean: the one measure of similar words, for every message."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

ALIKE = 0.75
"""The least likeness (``SequenceMatcher.ratio``, 0 to 1) of words that are offered for one another. One wrong letter in
a word of four passes; `prometheus` for `priorities` (0.6) does not."""
_LONGEST = 256
"""Characters of the longest word that is compared: names have 253 at most, and the time grows with the square."""


def near(word: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """The names nearest to a word, best first: what differs only in case or separators, then letters in another order
    (a slip of the fingers), then what is alike."""
    letters_of_word = plain(word)
    letters = sorted(letters_of_word)
    ranks = []
    for name in dict.fromkeys(names):
        other = plain(name)
        if most_alike(letters_of_word, other) < ALIKE:
            continue
        alike = likeness(letters_of_word, other)
        same_letters = sorted(other) == letters
        if alike >= ALIKE or same_letters:
            ranks.append((other == letters_of_word, same_letters, alike, name))
    best = sorted(ranks, reverse=True)[:limit]
    return [name for *_, name in best]


def name_meant(word: str, names: Iterable[str]) -> str:
    """``did you mean …`` with the nearest name; empty where none is near."""
    nearest = near(word, names, limit=1)
    if nearest:
        return f"did you mean `{nearest[0]}`?"
    return ""


@lru_cache(maxsize=16384)
def likeness(word: str, name: str) -> float:
    """How alike two words are, from 0 to 1. A slip that was copied a thousand times is compared once."""
    if len(word) > _LONGEST or len(name) > _LONGEST:
        return float(word == name)
    from difflib import SequenceMatcher  # only an error path needs it

    return SequenceMatcher(None, word, name).ratio()


def most_alike(word: str, name: str) -> float:
    """The most that two words can be alike, by their lengths."""
    both = len(word) + len(name)
    if not both:
        return 1.0
    return 2 * min(len(word), len(name)) / both


def plain(text: str) -> str:
    """A word by its letters and digits alone: case and separators do not count."""
    letters = filter(str.isalnum, text.lower())
    return "".join(letters)
