"""Why a cluster is not asked, or does not answer as it should."""

from __future__ import annotations

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error


class ClusterError(Exception):
    """What stops a command that asks a cluster; ``diagnostic`` is for the user."""

    def __init__(
        self, code: str, message: str, help: str = "", *, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.diagnostic: Diagnostic = error(code, message, help=help, notes=notes)


class RefusedError(ClusterError):
    """The API server refuses a request; ``status`` is that of HTTP, ``reason`` what it says."""

    def __init__(self, code: str, message: str, help: str, *, status: int, reason: str) -> None:
        super().__init__(code, message, help)
        self.status = status
        self.reason = reason
