"""Upgrades: what a step between two versions of a component asks for, as upstream documents it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.catalog.versions import in_range, version_key
from trainyard.language.dataclass import dataclass

SAFE = "safe"
MANUAL = "manual"
BLOCKED = "blocked"
UNKNOWN = "unknown"
VERDICTS = (SAFE, UNKNOWN, MANUAL, BLOCKED)
"""Worst last. Only a step that no entry covers is ``unknown``."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One entry of a component's file: a change that a step from one range of versions into another goes through.

    ``verdict``: ``safe``: nobody has to do anything; ``manual`` needs the ``steps``, and before them what the
    ``precondition`` says; ``blocked`` must not be taken. With ``no_runs`` it is blocked as long as a run goes on.
    ``restarts`` says what restarts in addition to what every new version
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
    no_runs: bool = False

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
            facts.get("no_runs", False),
        )

    def verdict_with(self, *, runs: bool) -> str:
        """The verdict for a cluster in which runs go on, or none."""
        if self.no_runs and runs:
            return BLOCKED
        return self.verdict

    def covers(self, before: str, after: str) -> bool:
        """Whether a step between two versions goes through this change."""
        if not in_range(before, self.before):
            return False
        return in_range(after, self.after)


@dataclass(frozen=True, slots=True)
class VersionStep:
    """A step from one version of a component to another, and the entries that it goes through, oldest first.

    ``restarts`` is what every new version of the component restarts. ``runs``: whether runs go on.
    """

    component: str
    before: str
    after: str
    upgrades: tuple[Upgrade, ...]
    restarts: str = ""
    runs: bool = False

    @property
    def verdict(self) -> str:
        """The worst of its entries. A patch that no entry is about is safe, a minor is ``unknown``."""
        verdicts = [upgrade.verdict_with(runs=self.runs) for upgrade in self.upgrades]
        if verdicts:
            return max(verdicts, key=VERDICTS.index)
        return SAFE if self._is_a_patch else UNKNOWN

    @property
    def _is_a_patch(self) -> bool:
        before = version_key(self.before)
        after = version_key(self.after)
        is_minor = before[:2] == after[:2]
        return is_minor and before < after

    def asking(self) -> tuple[Upgrade, ...]:
        """The entries that give the step its verdict."""
        return tuple(
            upgrade
            for upgrade in self.upgrades
            if upgrade.verdict_with(runs=self.runs) == self.verdict
        )

    @property
    def back(self) -> bool:
        """Whether it goes to an older version."""
        return version_key(self.after) < version_key(self.before)

    @property
    def restarted(self) -> tuple[str, ...]:
        """What restarts, each once."""
        of_upgrades = [upgrade.restarts for upgrade in self.upgrades]
        texts = filter(None, (self.restarts, *of_upgrades))
        return tuple(dict.fromkeys(texts))

    def __str__(self) -> str:
        return f"{self.component} {self.before} → {self.after}"
