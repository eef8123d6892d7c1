"""Changes of a text, by values or by bytes. The same generator of random numbers makes the same changes."""

from __future__ import annotations

import copy
import datetime
import re
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

from tests.mutated.seeds import Seed

Change = Callable[[Random, "Place", "Place"], None]

JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 3, 0.5, -0.0, 1e308, 10**30, -(10**30), 2**63),
    *(float("inf"), float("nan"), datetime.date(2026, 2, 3), b"\xff\x00"),
    *("", " ", "~", "yes", "<<", "=", "=1", "0x10", "0o17", "1:30", "1e9", "1_000"),
    *("8Gi", "20m", "-1", "1.5", "999999999999Gi", "1e400", "nan", "30d", "1h", "0s"),
    *("us-west-2a", "p5.48xlarge", "2026-02-30", "2026-12-15T11:30:00Z", "arn:aws:"),
    *("../../x", "/", "a/b/c", ".", "-", "a" * 300, "9" * 400, "a\nb", "a\tb", "\x00"),
    *("é", "\u202e", "\ufeff", "\U0001f600", "\u0130", "ﬁ", "\x85", "\u2028", "\x7f"),
    *("${X}", "$(X)", "{{ .x }}", "{{", "%s", "{0}", "<x>", "'", '"', "`", "\\", "#"),
    *("[", "{a: 1}", "- a", "a: b", "*", "&a", "|", ">", "!x", "(", "(?i)[", "a{1,9}"),
    *("bash", "-c", "torchrun", "--nnodes=9", "mpirun -np 8 x", "a && b", "a |", "'x"),
    *([], {}, [None], [[]], [{}], {"a": None}, {"": ""}, {1: 2}, [1, "a", None]),
    *({"name": "a"}, [{"name": "a"}, {"name": "a"}], {"key": "a", "operator": "In"}),
    *([0] * 3, ["a"] * 3, {"matchLabels": None}, {"$patch": "delete"}, "x" * 5000),
]
KEYS: list[Any] = [
    *("x", "", "name", "spec", "metadata", "kind", "env", "0", "a.b", "a/b", "<<"),
    *("é", "\u202e", "a\nb", "$patch", "extends", "include", "patches", "$ref"),
    *(1, 0.5, None, True, "9" * 100, "labels", "requests", "items", "template"),
]
TOKENS = [
    *("---\n", "...\n", "%YAML 1.2\n---\n", "%TAG ! x\n", "&a ", "*a", "<<: *a\n", "? "),
    *("!!binary ", "!!set ", "!!omap ", "!!timestamp ", "!Ref ", "!Sub ", "!!float "),
    *("!!python/object:os.x ", "|", ">", "|2-\n", "'", '"', "\\", "\t", "#", ": ", "- "),
    *("[", "]", "{", "}", ",", "\r", "\r\n", "\x00", "\ufeff", "\u2028", "\x85", "\ud7ff"),
    *("{{", "}}", "${", "}", "$(", "{{- if x }}\n", "9" * 50, "[" * 300, "{a: " * 200),
    *("- " * 300, "\U0001f600", "null", "~", "\n", "\n\n  ", " ", "  ", "@", "`", "e", "_"),
]


class Place:
    """A value in a container, which can be replaced there."""

    def __init__(self, owner: Any, key: Any) -> None:
        self.owner = owner
        self.key = key

    @property
    def value(self) -> Any:
        return self.owner[self.key]

    @value.setter
    def value(self, value: Any) -> None:
        self.owner[self.key] = value


def mutated(random: Random, seed: Seed, donor: Seed) -> bytes:
    """A text that was made from a seed, some of it perhaps from another."""
    by_value = seed.documents and random.random() < _BY_VALUE
    text = _other_values(random, seed, donor) if by_value else seed.text
    if by_value and random.random() < _BY_VALUE:
        return text.encode("utf-8", "surrogatepass")
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(random.choice((1, 1, 2, 5))):
        data = random.choice(_OF_TEXT)(random, data)
    return data


_BY_VALUE = 0.75


def _other_values(random: Random, seed: Seed, donor: Seed) -> str:
    root = copy.deepcopy(seed.documents)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        places = _places(root)
        others = _places(donor.documents) if donor.documents else places
        if not places:
            break
        change = random.choice(_OF_VALUES)
        change(random, random.choice(places), random.choice(others or places))
    try:
        text: str = yaml.dump_all(
            root,
            Dumper=yaml.CSafeDumper,
            sort_keys=False,
            allow_unicode=random.random() < _BY_VALUE,
            default_flow_style=random.choice((False, False, None, True)),
        )
    except (yaml.YAMLError, ValueError, TypeError):
        return seed.text
    return text


def _places(root: Any) -> list[Place]:
    """Every place below a value."""
    places: list[Place] = []
    left = [root]
    while left and len(places) < _MOST_PLACES:
        owner = left.pop()
        keys = range(len(owner)) if isinstance(owner, list) else list(owner)
        for key in keys:
            places.append(Place(owner, key))
            if isinstance(owner[key], (dict, list)):
                left.append(owner[key])
    return places


_MOST_PLACES = 20_000
"""Places in which something is changed: what aliases repeat has no end."""


# --- of values


def _junk(random: Random, place: Place, other: Place) -> None:
    place.value = copy.deepcopy(random.choice(JUNK))


def _delete(random: Random, place: Place, other: Place) -> None:
    del place.owner[place.key]


def _repeat(random: Random, place: Place, other: Place) -> None:
    value = copy.deepcopy(place.value)
    if isinstance(place.owner, list):
        for _ in range(random.choice((1, 1, 2, 50))):
            place.owner.insert(place.key, copy.deepcopy(value))
    else:
        place.owner[random.choice(KEYS)] = value


def _rename(random: Random, place: Place, other: Place) -> None:
    if isinstance(place.owner, list):
        return
    key = place.key
    others = [random.choice(KEYS), f"{key}s", str(key).upper(), str(key)[:-1], other.key]
    entries = list(place.owner.items())
    new = random.choice(others)
    place.owner.clear()
    place.owner.update((new if old == key else old, value) for old, value in entries)


def _swap(random: Random, place: Place, other: Place) -> None:
    """Another value of the same mapping or list, or of one below it."""
    sibling = random.choice(_places([place.owner])[1:] or [place])
    value = copy.deepcopy(sibling.value)
    sibling.value = copy.deepcopy(place.value)
    place.value = value


def _graft(random: Random, place: Place, other: Place) -> None:
    place.value = copy.deepcopy(other.value)


def _add(random: Random, place: Place, other: Place) -> None:
    """A key or an item of another text."""
    value = copy.deepcopy(other.value)
    if isinstance(place.owner, list):
        place.owner.append(value)
    else:
        place.owner[copy.deepcopy(other.key)] = value


def _wrap(random: Random, place: Place, other: Place) -> None:
    key = random.choice(KEYS)
    place.value = random.choice(([place.value], {key: place.value}, [[place.value]]))


def _unwrap(random: Random, place: Place, other: Place) -> None:
    inner = place.value
    if isinstance(inner, dict) and inner:
        place.value = random.choice(list(inner.values()))
    elif isinstance(inner, list) and inner:
        place.value = random.choice(inner)


def _retype(random: Random, place: Place, other: Place) -> None:
    """The same in another type: what is a list becomes a mapping, a number a text."""
    value = place.value
    if isinstance(value, list):
        place.value = {str(index): item for index, item in enumerate(value)}
    elif isinstance(value, dict):
        place.value = random.choice(
            (list(value.values()), list(map(str, value)), [{k: v} for k, v in value.items()])
        )
    elif isinstance(value, str):
        digits = re.search(r"-?\d+", value)
        place.value = int(digits[0]) if digits else [value]
    else:
        place.value = str(value)


def _edit_text(random: Random, place: Place, other: Place) -> None:
    value = str(place.value)[:2000]
    at = random.randrange(len(value) + 1)
    piece = random.choice([str(random.choice(JUNK)), random.choice(TOKENS), value])
    place.value = value[:at] + piece + value[at + random.choice((0, 0, 1, 3)) :]


def _scale(random: Random, place: Place, other: Place) -> None:
    value = place.value
    if isinstance(value, int):
        place.value = random.choice((-value, value * 10, value + 1, value - 1, value * 1.5))
    elif isinstance(value, str):
        factor = random.choice(("0", "00000", ".5", "-", "9" * 30))
        place.value = re.sub(r"\d+", lambda match: match[0] + factor, value, count=1)


_OF_VALUES: tuple[Change, ...] = (
    *(_junk, _junk, _junk, _delete, _delete, _repeat, _rename, _swap, _graft, _graft),
    *(_add, _wrap, _unwrap, _retype, _edit_text, _scale),
)


# --- of text


def _flip(random: Random, data: bytes) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _any_byte(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.randrange(256)]) + data[at:]


def _token(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(TOKENS).encode() + data[at:]


def _cut(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + data[at + random.choice((1, 1, 2, 5, 20, 100)) :]


def _end(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _lines(random: Random, data: bytes) -> bytes:
    """One line more, less, elsewhere, or further in."""
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(5)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(other, lines[at])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        lines[at] = b" " * random.choice((1, 2, 4)) + lines[at]
    else:
        lines[at] = lines[at].strip()
    return b"\n".join(lines)


def _digits(random: Random, data: bytes) -> bytes:
    """A number of many digits in the place of one."""
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    number = random.choice(numbers)
    many = random.choice(numbers)[0] * random.choice((5, 50, 5000))
    return data[: number.start()] + many[:6000] + data[number.end() :]


def _copied(random: Random, data: bytes) -> bytes:
    start = random.randrange(len(data) + 1)
    piece = data[start : start + random.choice((3, 20, 200))]
    at = random.randrange(len(data) + 1)
    return data[:at] + piece + data[at:]


_OF_TEXT = (_flip, _any_byte, _token, _token, _cut, _end, _lines, _lines, _digits, _copied)
