"""The objects under verification, by identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainyard.output.manifest import Body, Manifest, group_of, ref_of

Identity = tuple[str, str, str, str]  # API group, kind, namespace, name
Collide = Callable[[Manifest, Manifest], bool]
"""Whether two manifests of one identity are one object."""


def always(one: Manifest, other: Manifest) -> bool:
    """In one cluster they are."""
    return True


class ObjectSet:
    """Manifests by group, kind, namespace and name. API versions of a group are one object to the server."""

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self.manifests = manifests
        self.duplicates: list[tuple[Manifest, Manifest]] = []
        self._by_identity: dict[Identity, Manifest] = {}
        self._by_kind: dict[tuple[str, str], list[tuple[Identity, Manifest]]] = {}
        for manifest in manifests:
            identity = manifest.once(identity_of)
            if not identity[3]:
                continue
            first = self._by_identity.setdefault(identity, manifest)
            if first is not manifest:
                self.duplicates.append((first, manifest))
                continue
            of_kind = self._by_kind.setdefault(identity[:2], [])
            of_kind.append((identity, manifest))

    def __contains__(self, identity: Identity) -> bool:
        return identity in self._by_identity

    def find(self, group: str, kind: str, namespace: str, name: str) -> Body | None:
        """The body of an object of the set."""
        identity = (group, kind, namespace, name)
        manifest = self._by_identity.get(identity)
        if manifest is None:
            return None
        return manifest.body

    def manifest(self, identity: Identity) -> Manifest:
        """The manifest of an identity that is in the set."""
        return self._by_identity[identity]

    def identities(self) -> set[Identity]:
        """The identity of every object that has a name."""
        return set(self._by_identity)

    def of_kind(self, group: str, kind: str) -> Sequence[tuple[Identity, Manifest]]:
        """Every object of a kind."""
        return self._by_kind.get((group, kind), ())


def kind_of(body: Body) -> tuple[str, str]:
    """API group and kind of a body; missing parts are empty."""
    api_version = str(body.get("apiVersion") or "")
    return group_of(api_version), str(body.get("kind") or "")


def identity_of(body: Body) -> Identity:
    """The identity of a body; missing parts are empty."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    group, kind = kind_of(body)
    name = str(metadata.get("name") or "")
    if kind == "ClusterConfig":
        name = ref_of(body).name
    return (group, kind, str(metadata.get("namespace") or ""), name)
