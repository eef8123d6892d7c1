"""The diagnostic: one finding with a stable code and the place that it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Document, Route, Span


class Severity(IntEnum):
    """How bad a finding is. The order is the order of ``--fail-on``."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to report: code, severity, a sentence of fact, the place, and what to write instead.

    ``message`` states the fact, lowercase, identifiers in backticks, no full stop; only ``help`` says
    what to do. ``at`` is symbolic (a route); ``span`` is concrete and filled in by ``locate`` or by a
    pass that has no route (the parser). ``key`` asks for the key rather than its value to be shown.
    ``related`` are further places, each with a label; ``also`` are those of which ``locate`` makes spans. ``subject``
    is the id of what was judged, where that may lie elsewhere. ``secret``: the value at the place is never shown.
    """

    code: str
    severity: Severity
    message: str
    at: Route | None = None
    span: Span | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""
    key: bool = False
    related: tuple[tuple[Span, str], ...] = ()
    object: str = ""
    subject: str = ""
    secret: bool = False
    also: tuple[tuple[Route, str], ...] = ()

    def locate(self, document: Document) -> Diagnostic:
        """The same diagnostic with its span looked up in the document, if it has none yet."""
        if self.span is not None or self.at is None:
            return self
        also = self.also
        places = [(document.span(at), label) for at, label in also]
        related = (*self.related, *places)
        span = document.span(self.at, key=self.key)
        return replace(self, span=span, related=related, also=())


def error(
    code: str,
    message: str,
    at: Route | Span | None = None,
    *,
    label: str = "",
    help: str = "",
    notes: tuple[str, ...] = (),
    key: bool = False,
) -> Diagnostic:
    """A diagnostic of severity error."""
    route, span = _place(at)
    return Diagnostic(code, Severity.ERROR, message, route, span, label, notes, help, key)


def warning(
    code: str,
    message: str,
    at: Route | Span | None = None,
    *,
    label: str = "",
    help: str = "",
    notes: tuple[str, ...] = (),
    key: bool = False,
) -> Diagnostic:
    """A diagnostic of severity warning."""
    route, span = _place(at)
    return Diagnostic(code, Severity.WARNING, message, route, span, label, notes, help, key)


def _place(at: Route | Span | None) -> tuple[Route | None, Span | None]:
    """A place that is symbolic, or concrete."""
    return (None, at) if isinstance(at, Span) else (at, None)


def listed(names: Iterable[object], joint: str = ", ") -> str:
    """Names as a message lists them: in backticks."""
    return joint.join(f"`{name}`" for name in names)
