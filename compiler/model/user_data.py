"""The shell lines that nodes run when they boot: ``userData`` of EC2NodeClasses, commands of eksctl's node groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.dataclass import dataclass
from compiler.manifest import Manifest
from compiler.model.values import indexed, value
from compiler.places import Route

_GROUPS = ("managedNodeGroups", "nodeGroups")
KINDS = ("karpenter.k8s.aws/EC2NodeClass", "eksctl.io/ClusterConfig")


@dataclass(frozen=True, slots=True)
class BootScript:
    """Lines that a node runs: the place of their text, and of whom it is."""

    text: str
    at: Route
    title: str


def boot_scripts(manifest: Manifest) -> Iterator[BootScript]:
    """Every text that nodes of an EC2NodeClass or a ClusterConfig run."""
    name = manifest.ref.name
    if manifest.ref.kind == "EC2NodeClass":
        text = value(manifest.body, "spec", "userData")
        at = Route((manifest.id, "spec", "userData"))
        yield from _script(text, at, f"node class `{name}`")
        return
    for key in _GROUPS:
        for index, group in indexed(manifest.body, key):
            title = f"node group `{group.get('name', '')}`"
            at = Route((manifest.id, key, index))
            override = group.get("overrideBootstrapCommand")
            yield from _script(override, at / "overrideBootstrapCommand", title)
            at_commands = at / "preBootstrapCommands"
            commands = group.get("preBootstrapCommands")
            if not isinstance(commands, list):
                continue
            for line, command in enumerate(commands):
                yield from _script(command, at_commands / line, title)


def _script(text: Any, at: Route, title: str) -> Iterator[BootScript]:
    if isinstance(text, str):
        yield BootScript(text, at, title)
