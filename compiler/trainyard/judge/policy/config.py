"""The user's settings: levels and parameters of rules (policy.yaml), and exceptions (exceptions.yaml)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from trainyard.disk.inputs import stands
from trainyard.judge.policy.documents import read_documents
from trainyard.judge.policy.load import FIXED_AREAS
from trainyard.judge.policy.params import refusal_of
from trainyard.judge.policy.rule import Rule
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error, listed, warning
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Document, MappingNode, Node, ScalarNode, SequenceNode, Span

_EXCEPTION = ("code", "object", "place", "reason", "until")
_LEVELS: Mapping[str, Severity | None] = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "note": Severity.NOTE,
    "off": None,
}


@dataclass(frozen=True, slots=True)
class PolicyException:
    """An exception, an allowed finding: of which rule, on which object (``Kind/namespace/name``) or at which place (a
    spec route, ``file`` or ``file:line``), why, and until when (that day included). Globs with ``*``."""

    code: str
    object: str
    place: str
    reason: str
    until: date
    span: Span

    def covers(self, finding: Diagnostic) -> bool:
        """Whether a finding is the one that is allowed."""
        if finding.code != self.code:
            return False
        if self.object:
            name = finding.object.removeprefix("@")
            if not fnmatchcase(name, _glob(self.object)):
                return False
        if not self.place:
            return True
        place = _glob(self.place)
        places = _places(finding)
        return any(fnmatchcase(known, place) for known in places)


def _glob(text: str) -> str:
    """Only ``*`` and ``?`` are special: brackets are indices of a route."""
    return text.replace("[", "[[]")


def _places(finding: Diagnostic) -> list[str]:
    places = [str(finding.at)] if finding.at is not None else []
    span = finding.span
    if span is not None:
        file = span.file.name
        places += [file, f"{file}:{span.line}"]
    return places


@dataclass(frozen=True, slots=True)
class Config:
    """Levels (``None`` is off) and parameters by rule code, and the exceptions. ``today`` decides what is expired."""

    levels: Mapping[str, Severity | None] = field(default_factory=dict)
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    exceptions: tuple[PolicyException, ...] = ()
    today: date = date.min

    def excuse(
        self, findings: Sequence[Diagnostic], *, judged: bool = True, everything: bool = True
    ) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """The findings that remain, with what is wrong with exceptions; and the findings that were excused.

        An exception is called unused only where all of the input was ``judged``, no rule failed, and the input is
        ``everything`` that there is, as far as is known: one of several clusters needs few exceptions of the others.
        """
        if not self.exceptions:
            return list(findings), []
        remaining: list[Diagnostic] = []
        excused: list[Diagnostic] = []
        covered: dict[int, list[Diagnostic]] = {}
        for finding in findings:
            is_excused = False
            for item in self.exceptions:
                if item.covers(finding):
                    findings_of_item = covered.setdefault(id(item), [])
                    findings_of_item.append(finding)
                    is_excused = is_excused or item.until >= self.today
            if is_excused:
                excused.append(finding)
            else:
                remaining.append(finding)
        codes = {finding.code for finding in findings}
        is_whole = judged and everything and codes.isdisjoint(_FAILED)
        for item in self.exceptions:
            if id(item) in covered:
                remaining += self._expiry_fault(item, covered[id(item)])
            elif is_whole and not self._is_off(item.code):
                remaining.append(_unused_fault(item))
        return remaining, excused

    def _is_off(self, code: str) -> bool:
        return self.levels.get(code, Severity.ERROR) is None

    def _expiry_fault(
        self, item: PolicyException, covered: Sequence[Diagnostic]
    ) -> list[Diagnostic]:
        """An exception that has ended is as grave as what it excused: a warning that is back stops nobody."""
        if item.until >= self.today:
            return []
        severities = {finding.severity for finding in covered}
        severity = Severity.WARNING
        if Severity.ERROR in severities:
            severity = Severity.ERROR
        return [
            Diagnostic(
                "POL002",
                severity,
                f"the exception for `{item.code}` ended on {item.until}",
                span=item.span,
                help="fix what it excuses, or agree on a later `until`",
            )
        ]


_FAILED = frozenset(("POL015", "INT002"))
"""Codes of a rule that did not end: what it would have found is unknown."""


def _unused_fault(item: PolicyException) -> Diagnostic:
    return warning(
        "POL001",
        f"no finding of `{item.code}` needs this exception",
        at=item.span,
        help="remove it",
    )


NO_CONFIG = Config()


def load_config(
    folder: Path | None, rules: Sequence[Rule], today: date
) -> tuple[Config, list[Diagnostic]]:
    """The settings in a folder's ``policy.yaml`` and ``exceptions.yaml``; either may be absent."""
    if folder is None:
        return Config(today=today), []
    by_code = {rule.code: rule for rule in rules}
    reader = _Reader(by_code)
    settings = reader.open(folder / "policy.yaml")
    exceptions = reader.open(folder / "exceptions.yaml")
    if settings is not None:
        reader.settings(settings.root)
    if exceptions is not None:
        reader.exceptions(exceptions.root)
    config = Config(reader.levels, reader.params, tuple(reader.allowed), today)
    return config, reader.faults


_Levels = dict[str, Severity | None]
_Params = Mapping[str, Any]
_Given = tuple[int, tuple[str, ...], Severity | None]
"""A level as ``policy.yaml`` gives it: how strong the entry is, the codes that it names, and the level."""


class _Reader:
    """Reads both files and collects every fault."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.rules = rules
        self.by_slug = _by_slug(rules.values())
        self.faults: list[Diagnostic] = []
        disabled = [code for code, rule in rules.items() if not rule.enabled]
        self.levels: _Levels = dict.fromkeys(disabled)
        self.params: dict[str, _Params] = {}
        self.allowed: list[PolicyException] = []
        self._given: list[_Given] = []

    def fault(self, code: str, message: str, span: Span, help: str) -> None:
        self.faults.append(error(code, message, at=span, help=help))

    def open(self, path: Path) -> Document | None:
        if not stands(path):
            return None
        documents, faults = read_documents(path)
        self.faults.extend(faults)
        if documents and not faults:
            return documents[0]
        return None

    # -- policy.yaml

    def settings(self, root: Node) -> None:
        for key, node in self.entries(root, ("levels", "params")):
            if key == "levels":
                read = self.level
            else:
                read = self.param
            for name, child in self.entries(node):
                read(name, child)
        weakest_first = sorted(self._given, key=lambda given: given[0])
        for _, codes, level in weakest_first:
            self.levels.update(dict.fromkeys(codes, level))

    def level(self, name: str, node: Node) -> None:
        """An area is weaker than a slug or a code, whatever the order in the file.

        Only a slug or a code enables a rule that is off by default.
        """
        rules = self.rules.values()
        area = [rule for rule in rules if rule.area == name]
        if area:
            codes = tuple(rule.code for rule in area if rule.enabled)
        else:
            codes = self.known(name, node)
        text = _text(node)
        if isinstance(node, ScalarNode) and node.value is False:
            text = "off"  # YAML 1.1 reads `off` as a boolean
        if text not in _LEVELS:
            self.fault(
                "POL007",
                f"`{text}` is no level",
                node.span,
                'write `error`, `warning`, `note` or `"off"`',
            )
        elif codes:
            strength = 0 if area else 1
            self._given.append((strength, codes, _LEVELS[text]))

    def known(self, name: str, node: Node) -> tuple[str, ...]:
        """The code of a rule given by code or slug; a fault where there is none."""
        span = node.key_span or node.span
        if name in self.rules:
            return (self.by_slug.get(name, name),)
        if name in self.by_slug:
            return (self.by_slug[name],)
        area = name[:3]
        number = name[3:]
        is_code = number == "" or number.isdecimal()
        if area in FIXED_AREAS and is_code:
            self.fault(
                "POL006",
                f"`{name}` is the compiler's: what it reports is wrong by fact",
                span,
                "remove it; only policies have levels and exceptions",
            )
            return ()
        names = [*self.rules, *self.by_slug]
        self.fault(
            "POL003",
            f"no rule has the code or name `{name}`",
            span,
            name_meant(name, names) or "`trainyard explain` lists the rules",
        )
        return ()

    def param(self, name: str, node: Node) -> None:
        for code in self.known(name, node):
            rule = self.rules[code]
            params: dict[str, Any] = dict(rule.params)
            for key, child in self.entries(node):
                value = child.to_python()
                refusal = refusal_of(rule, key, value)
                if refusal is None:
                    params[key] = value
                    continue
                unknown = key not in rule.params
                span = child.key_span if unknown else None
                self.fault("POL008", refusal.message, span or child.span, refusal.help)
            self.params[code] = params

    # -- exceptions.yaml

    def exceptions(self, root: Node) -> None:
        """A list, which may stand under a key of its own."""
        lists = [root]
        if isinstance(root, MappingNode):
            lists = [node for _, node in self.entries(root, ("exceptions",))]
        for node in lists:
            if isinstance(node, SequenceNode):
                for item in node.items:
                    self.exception(item)
            elif node.to_python() is not None:
                self.fault(
                    "POL014",
                    "the exceptions are not a list",
                    node.span,
                    "write one item each, after `- `",
                )

    def exception(self, item: Node) -> None:
        before = len(self.faults)
        fields = dict(self.entries(item, _EXCEPTION))
        code: tuple[str, ...] = ()
        if "code" in fields:
            name = _text(fields["code"])
            code = self.known(name, fields["code"])
        elif isinstance(item, MappingNode):
            self.fault("POL014", "the exception names no rule", item.span, "add `code:`")
        if "object" not in fields and "place" not in fields:
            self.fault(
                "POL014",
                "the exception names neither object nor place",
                item.span,
                "add `object: Kind/namespace/name` or `place: spec.jobs[0]`; `*` matches anything",
            )
        if not _text(fields.get("reason")).strip():
            empty = fields.get("reason", item)
            self.fault(
                "POL004",
                "the exception has no reason",
                empty.span,
                "add `reason:`: the next reader has to judge whether it still holds",
            )
        until = self.until(fields.get("until"), item)
        if len(self.faults) > before or not code:
            return
        assert until is not None
        self.allowed.append(
            PolicyException(
                code[0],
                _text(fields.get("object")),
                _text(fields.get("place")),
                _text(fields["reason"]),
                until,
                fields["code"].span,
            )
        )

    def until(self, node: Node | None, item: Node) -> date | None:
        text = _text(node)
        try:
            return date.fromisoformat(text)
        except ValueError:
            what, span = "the exception has no end", item.span
            if node is not None:
                what, span = f"`{text}` is no date", node.span
            self.fault("POL005", what, span, "write `until: 2027-01-31`")
            return None

    def entries(self, node: Node, keys: tuple[str, ...] = ()) -> list[tuple[str, Node]]:
        """The entries of a mapping; faults for what is none and for unknown keys."""
        if not isinstance(node, MappingNode):
            if not (isinstance(node, ScalarNode) and node.value is None):
                self.fault("POL014", "this is not a mapping", node.span, "write `key: value` lines")
            return []
        entries = []
        for key, child in node.items.items():
            if not keys or key in keys:
                entries.append((key, child))
                continue
            self.fault(
                "POL014",
                f"unknown key `{key}`",
                child.key_span or child.span,
                f"write one of {listed(keys)}",
            )
        return entries


def _by_slug(rules: Collection[Rule]) -> dict[str, str]:
    """The codes of rules by slug and by former slug, of which a slug is the stronger."""
    codes: dict[str, str] = {}
    for rule in rules:
        codes |= dict.fromkeys(rule.aliases, rule.code)
    for rule in rules:
        codes[rule.slug] = rule.code
    return codes


def _text(node: Node | None) -> str:
    if isinstance(node, ScalarNode) and node.value is not None:
        return str(node.value)
    return ""
