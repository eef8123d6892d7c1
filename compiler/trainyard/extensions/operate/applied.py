"""What Flux applies of a committed folder: its Kustomizations, and the objects of the folders that they name.

Source: kustomize-controller v1.9.5, docs/spec/v1/kustomizations.md (path, post build variable substitution, inventory,
annotations), and internal/controller (what it leaves alone, whose edits it undoes).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from trainyard.eks.flux.stages import FLUX, PREFIX
from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import RefusedError
from trainyard.output.artifact import ObjectRef
from trainyard.output.body import mappings_at, value_at
from trainyard.output.lowering.body import NO_SUBSTITUTION
from trainyard.output.manifest import Body, Manifest
from trainyard.run.history.committed import Committed

BOOTSTRAP = "bootstrap/flux"
"""The folder of the objects that people apply: the Kustomization that leads to all others."""
_VERSION = "kustomize.toolkit.fluxcd.io/v1"
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Stage(NamedTuple):
    """A Kustomization with the folder of ours that it applies, and the ConfigMaps whose values it fills in."""

    name: str
    folder: str
    values: tuple[str, ...]


class Unfilled(NamedTuple):
    """A variable that nothing says the value of."""

    name: str


def objects(committed: Committed) -> list[Manifest]:
    """The committed objects of a cluster that are applied: those of the bootstrap, then the others by their paths."""
    found = []
    for path in committed.files_below(BOOTSTRAP):
        body = committed.template(path)
        if body is not None:
            found.append(Manifest(body, path))
    return found + committed.left_out(())


def stages(manifests: Sequence[Manifest]) -> list[Stage]:
    """The Kustomizations that apply folders of ours; those of other repositories are left out."""
    own = [each for each in manifests if _is_stage(each)]
    roots = [_folder(each) for each in own if each.ref.name == PREFIX]
    found = []
    for manifest in own:
        folder = _folder(manifest)
        for root in roots:
            if folder.is_relative_to(root.parent):
                sources = mappings_at(manifest.body, "spec", "postBuild", "substituteFrom")
                values = tuple(str(each.get("name")) for each in sources)
                inside = str(folder.relative_to(root.parent))
                found.append(Stage(manifest.ref.name, inside, values))
    return found


def _is_stage(manifest: Manifest) -> bool:
    return (manifest.ref.api_version, manifest.ref.kind) == (_VERSION, "Kustomization")


def _folder(manifest: Manifest) -> PurePosixPath:
    return PurePosixPath(str(value_at(manifest.body, "spec", "path")))


def stage_of(manifest: Manifest, found: Sequence[Stage]) -> Stage | None:
    """The stage that applies a file."""
    for stage in found:
        if manifest.path.startswith(f"{stage.folder}/"):
            return stage
    return None


class Live(NamedTuple):
    """A Kustomization in the cluster: whether it is suspended, and what it has applied."""

    suspended: bool
    applied: tuple[ObjectRef, ...]


KUSTOMIZATIONS = path_of(_VERSION, "kustomizations", FLUX)
"""The path of all Kustomizations of Flux' namespace."""


def kustomization_path(name: str) -> str:
    """The path of a Kustomization of ours."""
    return f"{KUSTOMIZATIONS}/{name}"


def live(api: Api, stage: Stage) -> Live | None:
    """The Kustomization of a stage as it is; ``None`` where there is none."""
    body = api.find(kustomization_path(stage.name))
    if body is None:
        return None
    entries = mappings_at(body, "status", "inventory", "entries")
    return Live(
        suspended=value_at(body, "spec", "suspend") is True,
        applied=tuple(_entry(str(each.get("id")), str(each.get("v"))) for each in entries),
    )


def _entry(id: str, version: str) -> ObjectRef:
    """An object by ``NAMESPACE_NAME_GROUP_KIND``; ``__`` in a name is a colon (fluxcd/cli-utils v1.2.3)."""
    namespace, _, rest = id.partition("_")
    rest, _, kind = rest.rpartition("_")
    name, _, group = rest.rpartition("_")
    api_version = f"{group}/{version}" if group else version
    return ObjectRef(api_version, kind, namespace, name.replace("__", ":"))


class Values:
    """The values that Flux fills in, by ConfigMap; each is read once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, Mapping[str, str]] = {}

    def filled(self, body: Body, stage: Stage | None) -> Body | Unfilled:
        """An object with the variables of its stage filled in, or one that is not known."""
        annotations = value_at(body, "metadata", "annotations") or {}
        if stage is None or not stage.values or NO_SUBSTITUTION.items() <= annotations.items():
            return body
        known: dict[str, str] = {}
        for name in stage.values:
            known |= self._of(name)
        try:
            filled: Body = _filled(body, known)
        except KeyError as missing:
            return Unfilled(str(missing.args[0]))
        return filled

    def _of(self, name: str) -> Mapping[str, str]:
        if name not in self._known:
            try:
                found = self._api.find(f"{path_of('v1', 'configmaps', FLUX)}/{name}")
            except RefusedError as fault:
                if fault.status != HTTPStatus.FORBIDDEN:
                    raise
                found = None
            self._known[name] = value_at(found, "data") or {}
        return self._known[name]


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, known) for each in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: known[found[1]], value)
    return value
