"""An alert: when it fires, who is notified, and what to do."""

from __future__ import annotations

from trainyard.language.dataclass import dataclass

CRITICAL, WARNING, INFO = "critical", "warning", "info"
TEAM = "{{ $labels.namespace }}"
"""The owner of an alert about a job: its namespace is its team's."""
PLATFORM = "platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert with its page. People are sent ``summary``, and ``means`` and ``steps`` below it, which are its entry in
    the runbooks too: who is woken has no repository at hand.

    ``wait``: how long the expression must hold. ``owner``: the label by which notifications are routed.
    """

    name: str
    expr: str
    severity: str
    summary: str
    means: str
    steps: tuple[str, ...]
    wait: str = ""
    owner: str = PLATFORM

    @property
    def description(self) -> str:
        """What it means and what to do, a line each; no template, since steps quote what looks like one."""
        lines = [self.means, *(f"{number}. {step}" for number, step in enumerate(self.steps, 1))]
        return "\n".join(lines)
