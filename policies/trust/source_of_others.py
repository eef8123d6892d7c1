from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_OWN = "flux-system"


@rule("ACC047", severity=Severity.WARNING, kinds=("kustomize.toolkit.fluxcd.io/Kustomization",))
def source_of_others(manifest: Manifest, world: World) -> Iterator[Finding]:
    """Flux applies a repository of somebody else with the rights of its own controller.

    Who may push there decides what this cluster runs, and no pull request here shows it. Without `serviceAccountName`
    a Kustomization is applied with the rights of the kustomize-controller, which are all (Flux 2.9, security, multi-
    tenancy). Whose a repository is, is read from host and owner in its URL, and from those of `flux-system`.

    ## Fails

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: flux-system, namespace: flux-system}
        spec: {interval: 1m, url: "https://github.com/team/clusters"}
        ---
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: tools, namespace: flux-system}
        spec: {interval: 1h, url: "https://github.com/somebody/tools"}
        ---
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: tools, namespace: flux-system}
        spec: {interval: 1h, path: ./deploy, prune: false, sourceRef: {kind: GitRepository, name: tools}}

    ## Passes

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: flux-system, namespace: flux-system}
        spec: {interval: 1m, url: "ssh://git@github.com/team/clusters"}
        ---
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: tools, namespace: flux-system}
        spec: {interval: 1h, url: "https://github.com/team/tools"}
        ---
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: tools, namespace: flux-system}
        spec: {interval: 1h, path: ./deploy, prune: false, serviceAccountName: tools,
          sourceRef: {kind: GitRepository, name: tools}}
    """
    if value_at(manifest.body, "spec", "serviceAccountName"):
        return
    if world.plan.closed and not manifest.key:
        return  # Trainyard's own, by a commit that the release pins
    own = _owner(world, "GitRepository", _OWN, _OWN)
    kind = str(value_at(manifest.body, "spec", "sourceRef", "kind"))
    name = str(value_at(manifest.body, "spec", "sourceRef", "name"))
    namespace = value_at(manifest.body, "spec", "sourceRef", "namespace")
    theirs = _owner(world, kind, name, namespace or manifest.ref.namespace)
    if not own and not world.plan.closed:
        return
    if theirs and own != theirs:
        yield Finding(
            f"`{manifest.ref.name}` applies what `{theirs}` pushes, with every right",
            Route((manifest.id, "spec", "sourceRef")),
            help="copy the files into this repository, or name a `serviceAccountName` with the rights that they need",
        )


def _owner(world: World, kind: str, name: str, namespace: str) -> str:
    """Host and owner of the repository of a source; empty where it is not in the set."""
    for source in world.manifests:
        ref = source.ref
        if (ref.kind, ref.name, ref.namespace) == (kind, name, namespace):
            return _of_url(str(value_at(source.body, "spec", "url")))
    return ""


def _of_url(url: str) -> str:
    parts = urlsplit(url)
    owner = parts.path.lstrip("/").partition("/")[0]
    return f"{parts.hostname}/{owner}" if parts.hostname else ""
