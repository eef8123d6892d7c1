"""Strategic merge patches, as Kustomize applies them (kustomize v5 api/filters/patchstrategicmerge).

Mappings merge and ``null`` removes. Lists of kinds that Kubernetes itself has merge by the key that its API gives them
(k8s.io/api v0.36, ``patchMergeKey``); new items come first. Lists of other kinds replace: Kustomize has no schema of
those either (kubectl.docs.kubernetes.io, references/kustomize/kustomization/openapi).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Route
from trainyard.run.patching.place import Draft, PatchError, Path

_DIRECTIVE = "$patch"
_REPLACES = {_DIRECTIVE: "replace"}
"""An item of a list that says that the others are the whole list."""
_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "resourceClaims": ("name",),
    "imagePullSecrets": ("name",),
    "secrets": ("name",),
    "webhooks": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "ports": ("containerPort", "port"),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
}
_BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)


def merge(draft: Draft, patch: Mapping[str, Any], group: str, at: Route) -> None:
    """Merge a patch into an object of an API group. Raises ``PatchError`` where it does not apply."""
    merging = _Merge(draft, group in _BUILT_IN)
    merging.mapping((), patch, at)


class _Merge:
    """``built_in``: lists merge by key."""

    def __init__(self, draft: Draft, built_in: bool) -> None:
        self._draft = draft
        self._built_in = built_in

    def mapping(self, path: Path, patch: Mapping[str, Any], at: Route) -> None:
        """Merge a mapping into the one at a path."""
        for key, value in patch.items():
            if str(key).startswith("$"):
                raise _directive(str(key), at / key)
            self._key((*path, key), value, at / key)

    def _key(self, path: Path, value: Any, at: Route) -> None:
        if value is None:
            self._remove(path, at)
        elif isinstance(value, Mapping) and _DIRECTIVE in value:
            self._directed(path, value, at)
        elif isinstance(value, Mapping) and self._is(path, dict):
            self.mapping(path, value, at)
        elif isinstance(value, list) and _REPLACES in value:
            rest = [item for item in value if item != _REPLACES]
            _refuse_directives(rest, at)
            self._draft.put(path, rest, at)
        elif self._merges(path, value):
            self._items(path, value, at)
        else:
            _refuse_directives(value, at)
            self._draft.put(path, value, at)

    def _is(self, path: Path, kind: type) -> bool:
        if not self._draft.has(path):
            return False
        return isinstance(self._draft.at(path), kind)

    def _remove(self, path: Path, at: Route) -> None:
        if self._draft.has(path):
            self._draft.remove(path, at)
            return
        *above, last = path
        siblings = self._draft.at(tuple(above))
        keys = [str(key) for key in siblings]
        help = name_meant(str(last), keys) or f"there are {listed(keys)}"
        fact = f"there is no `{Route(path)}` to remove"
        raise PatchError("RES086", fact, at, help)

    def _directed(self, path: Path, value: Mapping[str, Any], at: Route) -> None:
        """``$patch: replace`` and ``delete`` (kustomize v5, kyaml/yaml/merge2)."""
        directive = value[_DIRECTIVE]
        if directive == "delete":
            self._remove(path, at)
            return
        if directive not in ("replace", "merge"):
            raise _directive(f"{_DIRECTIVE}: {directive}", at / _DIRECTIVE)
        rest = dict(value)
        del rest[_DIRECTIVE]
        if directive == "merge" and self._is(path, dict):
            self.mapping(path, rest, at)
            return
        _refuse_directives(rest, at)
        self._draft.put(path, rest, at)

    def _merges(self, path: Path, value: Any) -> bool:
        """Whether a list is merged by key into one that is there."""
        name = str(path[-1])
        if not self._built_in or name not in _KEYS:
            return False
        if not isinstance(value, list):
            return False
        if not self._is(path, list):
            return False
        return all(_key_of(item, name) for item in value)

    def _items(self, path: Path, items: list[Any], at: Route) -> None:
        name = str(path[-1])
        added = 0
        for place, item in enumerate(items):
            index = self._find(path, item, name)
            here = at / place
            if item.get(_DIRECTIVE) == "delete":
                if index is None:
                    raise _no_item(path, item, name, here)
                self._draft.remove((*path, index), here)
            elif index is not None:
                self._key((*path, index), item, here)
            else:
                _refuse_directives(item, here)
                self._draft.insert((*path, added), item, here)
                added += 1

    def _find(self, path: Path, item: Mapping[str, Any], name: str) -> int | None:
        key = _key_of(item, name)
        for index, other in enumerate(self._draft.at(path)):
            if not isinstance(other, Mapping):
                continue
            if other.get(key) == item[key]:
                return index
        return None


def _key_of(item: Any, name: str) -> str:
    """The key by which an item of a list is found; empty where it has none."""
    if isinstance(item, Mapping):
        for key in _KEYS[name]:
            if key in item:
                return key
    return ""


def _no_item(path: Path, item: Mapping[str, Any], name: str, at: Route) -> PatchError:
    key = _key_of(item, name)
    what = f"item with {key} `{item[key]}`"
    fact = f"`{Route(path)}` has no {what} to delete"
    return PatchError("RES086", fact, at, "correct the key, or remove the item")


def _refuse_directives(value: Any, at: Route) -> None:
    """A directive in a new part would be written literally."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            if str(key).startswith("$"):
                raise _directive(str(key), at / key)
            _refuse_directives(inside, at / key)
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            _refuse_directives(inside, at / index)


def _directive(key: str, at: Route) -> PatchError:
    return PatchError(
        "RES087",
        f"`{key}` cannot be done here",
        at,
        "use `$patch: replace` or `$patch: delete` below an object's top, or JSON patch operations",
    )
