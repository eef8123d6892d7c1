"""Rules: a generator function with a code, run over one kind of plan item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, TypedDict, TypeVar, Unpack, get_type_hints

from trainyard.judge.policy.examples import examples
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route

NO_PARAMS: Mapping[str, Any] = MappingProxyType({})
F = TypeVar("F", bound=Callable[..., Iterator["Finding"]])


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's verdict: the fact, where, and what to write instead.

    ``help`` speaks of the fields of the object. ``spec_help`` is shown instead of it where the object comes from a
    spec: it says what to write there, by the spec's own keys. ``severity`` differs from the rule's where one fault is
    worse in some cases; a level that the user sets wins. ``secret``: the value at the place is never shown. ``also``
    are further places, each with a label: the other of two that contradict each other.
    """

    message: str
    at: Route
    label: str = ""
    help: str = ""
    notes: tuple[str, ...] = ()
    severity: Severity | None = None
    key: bool = False
    spec_help: str = ""
    secret: bool = False
    also: tuple[tuple[Route, str], ...] = ()

    def advice(self, *, of_spec: bool) -> str:
        """What to write: in the spec, or in the object."""
        return (self.spec_help if of_spec else "") or self.help


_TEXTS = ("message", "label", "help", "spec_help")


def malformed(finding: object) -> str:
    """What is wrong with a finding that a rule yielded; empty for a sound one. Anybody may write rules."""
    if not isinstance(finding, Finding):
        return f"it yields {_shown(finding)}, not a `Finding`"
    for name in _TEXTS:
        text = getattr(finding, name)
        if not isinstance(text, str):
            return f"`{name}` of its finding is {_shown(text)}, not text"
    if not finding.message.strip():
        return "its finding has no message"
    if not isinstance(finding.at, Route):
        return f"`at` of its finding is {_shown(finding.at)}, not a `Route`"
    if not is_texts(finding.notes):
        return "`notes` of its finding is not a tuple of texts"
    if not is_places(finding.also):
        return "`also` of its finding is not a tuple of routes with texts"
    severity = finding.severity
    if severity is not None and not isinstance(severity, Severity):
        return f"`severity` of its finding is {_shown(severity)}, not a `Severity`"
    return ""


def is_texts(value: object) -> bool:
    """Whether a value is a tuple of texts."""
    if not isinstance(value, tuple):
        return False
    return all(isinstance(text, str) for text in value)


def is_places(value: object) -> bool:
    """Whether a value is a tuple of routes, each with a text."""
    if not isinstance(value, tuple):
        return False
    for place in value:
        if not isinstance(place, tuple) or len(place) != 2:
            return False
        route, label = place
        if not isinstance(route, Route):
            return False
        if not isinstance(label, str):
            return False
    return True


def _shown(value: object) -> str:
    if value is None:
        return "`None`"
    return f"`{type(value).__name__}`"


@dataclass(frozen=True, slots=True)
class Rule:
    """A policy.

    ``subject`` is the class that ``check`` is run on: a plan item, ``Plan``, ``Work`` or ``Manifest`` (then only the
    ``kinds`` given, as ``group/Kind`` with an empty group for core kinds; all kinds if there are none). ``pods``: a
    rule on ``Work`` that holds for the pods of any kind, ``roles`` one that holds for every program of a job,
    ``gangs`` one that holds for all pods of a third-party job together, ``containers`` one that holds for every
    container of its pods.
    ``kubernetes``: why a rule on ``Work`` holds for jobs in pods alone; others are not shown to it. ``doc`` is the
    manual page: its first line says what the rule finds, its examples are its tests. ``aliases`` are slugs that the
    rule had before. A rule that is not ``enabled`` runs only where ``policy.yaml`` sets its level. ``alone``: a rule on
    ``Plan`` that ``lint`` runs on templates as well, and on whatever else stands without objects.
    """

    code: str
    slug: str
    severity: Severity
    doc: str
    subject: type
    check: Callable[..., Iterator[Finding]]
    params: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    pods: bool = False
    roles: bool = False
    gangs: bool = False
    containers: bool = False
    kubernetes: str = ""
    needs_world: bool = True
    file: str = ""
    aliases: tuple[str, ...] = ()
    enabled: bool = True
    alone: bool = False

    @property
    def area(self) -> str:
        """The letters of the code."""
        return self.code[:-3]

    @property
    def default_level(self) -> Severity | None:
        """The level of the rule unless the user sets one; ``None`` is off."""
        return self.severity if self.enabled else None

    @property
    def title(self) -> str:
        """What the rule finds, in a sentence."""
        first, _, _ = self.doc.strip().partition("\n")
        return first.rstrip(".")

    @property
    def fails(self) -> tuple[str, ...]:
        """The YAML examples that the rule must find fault with."""
        return examples(self.doc, "Fails")

    @property
    def passes(self) -> tuple[str, ...]:
        """The YAML examples that the rule must leave alone."""
        return examples(self.doc, "Passes")


SEVERITIES: Mapping[str, Severity] = {str(each): each for each in Severity}
_SLUG = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
_CODE = r"[A-Z]{2,4}[0-9]{3}"


def is_code(value: object) -> bool:
    """Whether a value has the form of a code: 2 to 4 capitals and 3 digits."""
    return isinstance(value, str) and re.fullmatch(_CODE, value) is not None


def is_slug(value: object) -> bool:
    """Whether a value has the form of a rule's name: words joined by `-`."""
    return isinstance(value, str) and re.fullmatch(_SLUG, value) is not None


class Reach(TypedDict, total=False):
    """On what a rule is run besides, or not: the fields of a :class:`Rule` of the same names."""

    pods: bool
    roles: bool
    gangs: bool
    containers: bool
    kubernetes: str
    alone: bool


def rule(
    code: str,
    *,
    severity: Severity = Severity.ERROR,
    params: Mapping[str, Any] = NO_PARAMS,
    kinds: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    enabled: bool = True,
    **reach: Unpack[Reach],
) -> Callable[[F], F]:
    """Mark a generator function as a rule; its name is the slug, its docstring the page.

    The annotation of the first parameter says what it is run on: a class of the plan (once for each node of it),
    ``Plan``, ``Work`` or ``Manifest``. A second parameter gets the ``World``.

    ``code`` is an area of one's own and three digits, like ``ORG001``. ``severity`` is the level unless the user sets
    one. ``params`` are parameters with their defaults; ``params:`` of ``policy.yaml`` sets others, as does
    ``# params: {name: value}`` at the top of an example, and ``world.param(name)`` reads them.

    ``kinds``, of a rule on ``Manifest``: those that it is run on, as ``group/Kind``.
    ``pods``, of a rule on ``Work``: it also runs on third-party workloads, of which only the pods are known.
    ``roles``, of a rule on ``Work``: it is run on each role of a JobSet too, as on a job with that program.
    ``gangs``, of a rule on ``Work``: it is run on each third-party job too, as on a job with all of its pods.
    ``containers``, of a rule on ``Work``: it is run on each container beside the program and each init container too,
    as on a job with that program.
    ``kubernetes``, of a rule on ``Work``: why it holds in Kubernetes alone; it sees no job of another platform.
    ``aliases`` are former slugs, which settings may still use. ``enabled=False`` makes a rule that is off until
    ``levels:`` of ``policy.yaml`` sets its level by code or slug; ``severity`` is then the level that you suggest.
    ``alone``, of a rule on ``Plan``: ``lint`` runs it on templates and the like too, which stand without objects.
    """

    def mark(function: F) -> F:
        function.rule = Rule(  # type: ignore[attr-defined]
            code=code,
            slug=function.__name__.replace("_", "-"),
            severity=severity,
            doc=function.__doc__ or "",
            subject=_subject(function),
            check=function,
            params=params,
            kinds=kinds,
            needs_world=function.__code__.co_argcount > 1,
            file=function.__code__.co_filename,
            aliases=aliases,
            enabled=enabled,
            **reach,
        )
        return function

    return mark


def _subject(function: Callable[..., Any]) -> type:
    """The class of the first parameter. One look-up instead of ``get_type_hints``: a hundred rules are loaded."""
    name = function.__code__.co_varnames[0]
    annotation: Any = function.__annotations__.get(name)
    if isinstance(annotation, str):
        annotation = function.__globals__.get(annotation)
        annotation = annotation or get_type_hints(function).get(name)
    if not isinstance(annotation, type):
        raise TypeError(f"the first parameter of `{function.__name__}` has no class as annotation")
    return annotation
