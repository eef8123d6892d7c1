"""Values in words, as messages name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def numbered(count: int, one: str, several: str = "") -> str:
    """A number with its noun: ``1 file``, ``2 files``. ``several``: a plural that is not formed by ``s``."""
    if count == 1:
        return f"1 {one}"
    return f"{count} {several or f'{one}s'}"


def with_article(kind: str) -> str:
    """A kind of Kubernetes, or another noun, with its article: ``a TrainJob``, ``an MPIJob``, ``an env-name``."""
    is_spelt = kind[:2].isupper()
    is_vowel = kind[0].upper() in ("AEFHILMNORSX" if is_spelt else "AEIOU")
    return f"an {kind}" if is_vowel else f"a {kind}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def shortened(text: str, most: int = 32) -> str:
    """The beginning of a text that has more than so many characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def kind_of(value: Any) -> str:
    """What a YAML value is, in words."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return f"the boolean `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number `{value}`"
    if isinstance(value, str):
        return f"the text `{shortened(value)}`"
    names: dict[type, str] = {list: "a list", dict: "a mapping"}
    return names.get(type(value)) or "something else"
