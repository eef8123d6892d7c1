"""A fault: one thing that is wrong with one object, at a path into its body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import ALIKE, likeness, most_alike, name_meant
from trainyard.language.places import Key

Path = tuple[Key, ...]

UNKNOWN, SCHEMA, LIST, CEL, NAME, WEBHOOK, REFERENCE = (
    "unknown",
    "schema",
    "list",
    "cel",
    "name",
    "webhook",
    "reference",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, where, and what to write instead.

    ``layer`` says who would refuse it: ``unknown`` (dropped by the API server), ``schema``, ``list`` (duplicate list
    keys), ``cel`` (rules of the CRD), ``name``, ``webhook`` (an admission webhook or the controller), ``reference``
    (nothing, until it runs). ``key`` asks for the key, rather than its value, to be shown. ``warning`` is a doubt
    rather than an error. ``meant`` is the field that an unknown one is nearly called, ``belongs`` the place where one
    of its name stands; ``instead`` holds the one value that a wrong one stands for, if that is known.
    """

    layer: str
    code: str
    path: Path
    message: str
    help: str = ""
    key: bool = False
    warning: bool = False
    meant: str = ""
    instead: tuple[Any, ...] = ()
    belongs: Path = ()


def refused(path: Path, message: str, help: str = "", *, key: bool = False) -> Fault:
    """A fault that an admission webhook, the API server's own code or the controller answers with a refusal."""
    return Fault(WEBHOOK, "SCH011", path, message, help, key)


def never_works(
    path: Path, message: str, help: str = "", *, key: bool = False, warning: bool = False
) -> Fault:
    """A fault that every check of the cluster lets through, and that then does nothing, or not what is written."""
    return Fault(WEBHOOK, "SCH012", path, message, help, key, warning)


UNFILLED = "SCH055"


def unfilled(path: Path) -> Fault:
    """A value that somebody is to fill in, at a place where it cannot be right as it stands."""
    names = [key for key in path if isinstance(key, str)]
    return Fault(
        SCHEMA,
        UNFILLED,
        path,
        f"`{names[-1] if names else ''}` is left to be filled in",
        "write the value, or keep beside the file what fills it in, as a script with `envsubst`",
        warning=True,
    )


def as_they_stand(
    faults: Iterable[Fault], is_open: Callable[[Fault], bool], *, closed: bool
) -> Iterator[Fault]:
    """The faults, and of those whose value somebody is to fill in that it was left so. What is ours is filled in by
    our own scripts."""
    for fault in faults:
        if not is_open(fault):
            yield fault
        elif not closed:
            yield unfilled(fault.path)


def like(word: str, names: Iterable[str], least: float = ALIKE) -> str:
    """The name that is nearly a word, or nothing. ``least`` differs where the likeness alone makes a finding of a word
    that may well be right."""
    word = word.lower()
    best, most = "", 0.0
    for name in names:
        if most_alike(word, name) < least:
            continue
        ratio = likeness(word, name.lower())
        if ratio > most:
            best, most = name, ratio
    return best if most >= least else ""


def nearest(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """``did you mean …`` for a misspelled name, or what there is to choose from if that is short, or ``otherwise``."""
    names = sorted(names)
    if question := name_meant(word, names):
        return question
    if 0 < len(names) <= _CHOICES:
        return f"known: {listed(names)}"
    return otherwise


_CHOICES = 12
"""Most names that a help lists."""
