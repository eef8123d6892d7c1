"""What is reported: a stable code, one fact, one place, one help."""

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity

__all__ = ["Diagnostic", "Severity"]
