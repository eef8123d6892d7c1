"""Upgrades: what a step between two versions of a component asks for, as upstream documents it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.catalog.versions import in_range, version_key
from compiler.dataclass import dataclass

SAFE = "safe"
MANUAL = "manual"
BLOCKED = "blocked"
UNKNOWN = "unknown"
VERDICTS = (SAFE, UNKNOWN, MANUAL, BLOCKED)
"""Worst last. Only a step that no entry covers is ``unknown``."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One entry of a component's file: a change that a step from one range of versions into another goes through.

    ``verdict``: ``safe`` needs nothing of people; ``manual`` needs the ``steps``, and before them what the
    ``precondition`` says; ``blocked`` must not be taken. ``restarts`` says what restarts beside what every new version
    of the component does. ``sources`` are upstream's documents with version.
    """

    before: str
    after: str
    verdict: str
    summary: str
    sources: tuple[str, ...]
    precondition: str = ""
    steps: tuple[str, ...] = ()
    restarts: str = ""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Upgrade:
        """An entry as it stands in the file: ``from`` and ``to`` are ranges like ``>=1.13 <1.14``."""
        return cls(
            facts["from"],
            facts["to"],
            facts["verdict"],
            facts["summary"],
            tuple(facts["sources"]),
            facts.get("precondition", ""),
            tuple(facts.get("steps", ())),
            facts.get("restarts", ""),
        )

    def covers(self, before: str, after: str) -> bool:
        """Whether a step between two versions goes through this change."""
        return in_range(before, self.before) and in_range(after, self.after)


@dataclass(frozen=True, slots=True)
class VersionStep:
    """A step from one version of a component to another, and the entries that it goes through, oldest first.

    ``restarts`` is what every new version of the component restarts.
    """

    component: str
    before: str
    after: str
    upgrades: tuple[Upgrade, ...]
    restarts: str

    @property
    def verdict(self) -> str:
        """The worst of its entries. A patch that no entry is about is safe, a minor is ``unknown``."""
        verdicts = {upgrade.verdict for upgrade in self.upgrades}
        for verdict in reversed(VERDICTS):
            if verdict in verdicts:
                return verdict
        return SAFE if self._is_a_patch else UNKNOWN

    @property
    def _is_a_patch(self) -> bool:
        before, after = version_key(self.before), version_key(self.after)
        return before[:2] == after[:2] and before < after

    @property
    def back(self) -> bool:
        """Whether it goes to an older version."""
        return version_key(self.after) < version_key(self.before)

    @property
    def restarted(self) -> tuple[str, ...]:
        """What restarts, each once."""
        texts = (self.restarts, *(upgrade.restarts for upgrade in self.upgrades))
        return tuple(dict.fromkeys(filter(None, texts)))

    def __str__(self) -> str:
        return f"{self.component} {self.before} → {self.after}"


def step_between(
    component: str,
    before: str,
    after: str,
    upgrades: Iterable[Upgrade],
    restarts: str = "",
) -> VersionStep:
    """The step from one version to another."""
    covering = tuple(upgrade for upgrade in upgrades if upgrade.covers(before, after))
    return VersionStep(component, before, after, covering, restarts)
