"""The shell lines that nodes run when they boot: ``userData`` of EC2NodeClasses, commands of eksctl's node groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.catalog.ami_families import AmiFamily, of_alias, of_eksctl, of_karpenter
from compiler.dataclass import dataclass
from compiler.manifest import Manifest
from compiler.model.values import indexed, value
from compiler.places import Route

_GROUPS = ("managedNodeGroups", "nodeGroups")
_DEFAULT = "AmazonLinux2023"
"""What eksctl boots where a group does not say (eksctl v0.230.0)."""
KINDS = ("karpenter.k8s.aws/EC2NodeClass", "eksctl.io/ClusterConfig")


@dataclass(frozen=True, slots=True)
class BootScript:
    """Lines that a node runs: the place of their text, of whom it is, and the image that the node boots; ``None``
    where that may be any."""

    text: str
    at: Route
    title: str
    family: AmiFamily | None = None

    def line_at(self, offset: int) -> Route:
        """The place of the line with a character of the text."""
        return self.at / self.text.count("\n", 0, offset)

    def commands(self) -> Iterator[tuple[int, str]]:
        """Its lines that are no comments, each with the offset of its beginning."""
        offset = 0
        for line in self.text.splitlines(keepends=True):
            if not line.lstrip().startswith("#"):
                yield offset, line
            offset += len(line)


def boot_scripts(manifest: Manifest) -> Iterator[BootScript]:
    """Every text that nodes of an EC2NodeClass or a ClusterConfig run."""
    name = manifest.ref.name
    if manifest.ref.kind == "EC2NodeClass":
        text = value(manifest.body, "spec", "userData")
        at = Route((manifest.id, "spec", "userData"))
        yield from _script(text, at, f"node class `{name}`", _family_of_class(manifest))
        return
    for key in _GROUPS:
        for index, group in indexed(manifest.body, key):
            title = f"node group `{group.get('name', '')}`"
            family = None
            if not group.get("ami"):
                family = of_eksctl(str(group.get("amiFamily") or _DEFAULT))
            at = Route((manifest.id, key, index))
            override = group.get("overrideBootstrapCommand")
            yield from _script(override, at / "overrideBootstrapCommand", title, family)
            at_commands = at / "preBootstrapCommands"
            commands = group.get("preBootstrapCommands")
            if not isinstance(commands, list):
                continue
            for line, command in enumerate(commands):
                yield from _script(command, at_commands / line, title, family)


def _family_of_class(manifest: Manifest) -> AmiFamily | None:
    """The image of a node class: by its alias, or by the ``amiFamily`` beside other ways to select one."""
    for _, term in indexed(manifest.body, "spec", "amiSelectorTerms"):
        found = of_alias(str(term.get("alias") or ""))
        if found is not None:
            return found
    return of_karpenter(str(value(manifest.body, "spec", "amiFamily") or ""))


def _script(text: Any, at: Route, title: str, family: AmiFamily | None) -> Iterator[BootScript]:
    if isinstance(text, str):
        yield BootScript(text, at, title, family)
