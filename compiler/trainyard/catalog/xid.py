"""Xid codes: which faults of an NVIDIA GPU mean a broken node, and which a broken program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.language.dataclass import dataclass

IGNORE = "IGNORE"
"""The action of an Xid for which nothing has to be done."""


@dataclass(frozen=True, slots=True)
class XidList:
    """One published list: who says it, in which version, and the codes by the action it asks for."""

    name: str
    source: str
    version: str
    date: str
    actions: Mapping[str, tuple[int, ...]]

    @property
    def codes(self) -> tuple[int, ...]:
        """All codes of the list, sorted."""
        codes: set[int] = set()
        codes.update(*self.actions.values())
        return tuple(sorted(codes))


@dataclass(frozen=True, slots=True)
class XidTable:
    """The published lists by name. They disagree, so a list is always named together with its version."""

    lists: Mapping[str, XidList]

    def fatal(self, source: str = "node-monitoring-agent") -> tuple[int, ...]:
        """The codes for which a source recommends an action on the node. Unknown source: ``KeyError``.

        Codes of ``application`` and those that the source itself ignores are left out: the agent calls 109
        fatal, and its user guide 13 and 31, yet a faulty program raises them on a healthy GPU.
        """
        known = self.lists[source]
        without_action = known.actions.get(IGNORE, ())
        ignored = {*self.application, *without_action}
        return tuple(code for code in known.codes if code not in ignored)

    @property
    def application(self) -> tuple[int, ...]:
        """Codes that the program on the GPU causes: they must never replace a node."""
        return self.lists["application"].codes

    def action(self, code: int, source: str = "nvidia") -> str | None:
        """What a source asks for at this code (``RESET_GPU``, ``RESTART_BM``…), if it lists the code."""
        actions = self.lists[source].actions
        for name, codes in actions.items():
            if code in codes:
                return name
        return None


def xids_from_data(data: Mapping[str, Any]) -> XidTable:
    """The table from ``data/xids.json``."""
    lists = {}
    for name, item in data["lists"].items():
        given = item["actions"].items()
        actions = {action: tuple(codes) for action, codes in given}
        lists[name] = XidList(name, item["source"], item["version"], item["date"], actions)
    return XidTable(lists)
