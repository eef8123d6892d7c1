"""Syntaxes of names: what Kubernetes calls a label, a subdomain, a label key and so on.

Source: k8s.io/apimachinery v0.36 pkg/util/validation, pkg/api/validation; lengths in bytes of ASCII.
"""

from __future__ import annotations

import re
from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import with_article

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_MOST_SEEN = 4096
_QUALIFIED = ("label-key", "annotation-key", "toleration-key")
_MOST_OF_NAME, _MOST_OF_PREFIX = 63, 253


@dataclass(frozen=True, slots=True)
class Syntax:
    """A named syntax: pattern, most characters, the code of a breach and the words for it."""

    name: str
    pattern: str
    longest: int
    code: str
    help: str
    seen: set[str] = field(default_factory=set, compare=False)

    def accepts(self, text: str) -> bool:
        """Whether a text has this syntax. Texts that passed are remembered: the same labels stand on thousands of
        objects.
        """
        if text in self.seen:
            return True
        if len(text) > self.longest:
            return False
        if not self._matches(text):
            return False
        if len(self.seen) < _MOST_SEEN:
            self.seen.add(text)
        return True

    def _matches(self, text: str) -> bool:
        match self.name:
            case "toleration-key" if not text:
                return True
            case "cidr":
                return _is_cidr(text)
            case name if name in _QUALIFIED:
                return _is_qualified(text)
        return re.fullmatch(self.pattern, text) is not None

    def breach(self, text: str) -> str:
        """The fact about a text that was not accepted."""
        long = self._too_long(text)
        if long is None:
            return f"`{text}` is not {with_article(self.name)}"
        part, most, whose = long
        return f"`{part}` has {len(part)} characters, {whose}{with_article(self.name)} has at most {most}"

    def advice(self, text: str) -> str:
        """What to write instead of a text that was not accepted."""
        long = self._too_long(text)
        if long is None:
            return f"use {self.help}"
        part, most, _ = long
        less = f"leave out {len(part) - most}"
        if self.pattern and not self._matches(text):
            return f"{less}, and use {self.help}"
        return less

    def _too_long(self, text: str) -> tuple[str, int, str] | None:
        """The part of a text that is too long, its most characters, and of what it is a part."""
        if self.name in _QUALIFIED:
            prefix, _, name = text.rpartition("/")
            if len(name) > _MOST_OF_NAME:
                return name, _MOST_OF_NAME, "the name of "
            if len(prefix) > _MOST_OF_PREFIX:
                return prefix, _MOST_OF_PREFIX, "the prefix of "
            return None
        if self.name == "cidr" or len(text) <= self.longest:
            return None
        return text, self.longest, ""


def _is_qualified(text: str) -> bool:
    """A label or annotation key: a name of 63 characters, after an optional DNS prefix of 253 and a slash."""
    prefix, slash, name = text.rpartition("/")
    if slash:
        is_domain = re.fullmatch(_SUBDOMAIN, prefix) is not None
        if not is_domain or len(prefix) > _MOST_OF_PREFIX:
            return False
    if len(name) > _MOST_OF_NAME:
        return False
    return re.fullmatch(_NAME, name) is not None


def _is_cidr(text: str) -> bool:
    from ipaddress import ip_network  # rare

    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _syntax(name: str, pattern: str, longest: int, code: str, help: str) -> tuple[str, Syntax]:
    return name, Syntax(name, pattern, longest, code, help)


_DNS = "lowercase letters, digits and `-`, a letter or digit at both ends"
_KEY = "an optional DNS prefix and `/`, then letters, digits, `-`, `_`, `.`, a letter or digit at both ends"
SYNTAXES: dict[str, Syntax] = dict(
    (
        _syntax("dns-label", _LABEL, 63, "NAM001", _DNS),
        _syntax(
            "dns-1035-label",
            r"[a-z](?:[-a-z0-9]*[a-z0-9])?",
            63,
            "NAM001",
            "lowercase letters, digits and `-`, a letter first",
        ),
        _syntax("dns-subdomain", _SUBDOMAIN, 253, "NAM001", f"{_DNS}; `.` between parts"),
        _syntax(
            "path-segment", r"(?!\.{1,2}\Z)[^/%]+", 253, "NAM001", "any characters but `/` and `%`"
        ),
        _syntax("env-name", r"[ -<>-~]+", 32768, "NAM001", "printable ASCII without `=`"),
        _syntax(
            "port-name",
            r"(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?",
            15,
            "NAM001",
            "at most 15 characters, one a letter",
        ),
        _syntax(
            "label-value",
            rf"(?:{_NAME})?",
            63,
            "NAM003",
            "letters, digits, `-`, `_`, `.`, a letter or digit at both ends",
        ),
        _syntax("label-key", "", 317, "NAM003", _KEY),
        _syntax("toleration-key", "", 317, "NAM003", _KEY),
        _syntax("annotation-key", "", 317, "NAM004", _KEY),
        _syntax("cidr", "", 64, "SCH006", "an address range such as `10.0.0.0/16`"),
        _syntax(
            "cron",
            r"(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|@every \S+|\S+(?:\s+\S+){4})",
            256,
            "SCH006",
            "five fields, or `@daily` and the like",
        ),
    )
)
