from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "HLT030",
    severity=Severity.WARNING,
    kinds=(
        "kustomize.toolkit.fluxcd.io/Kustomization",
        "helm.toolkit.fluxcd.io/HelmRelease",
        "source.toolkit.fluxcd.io/GitRepository",
        "source.toolkit.fluxcd.io/OCIRepository",
        "source.toolkit.fluxcd.io/HelmRepository",
    ),
)
def reconciling_suspended(manifest: Manifest) -> Iterator[Finding]:
    """Flux is configured not to reconcile something: changes of it in git are not applied.

    A suspended object stays as it is while everybody believes that git describes it; edits after that, of security
    too, do not arrive (Flux 2.9, `spec.suspend`). To stop for a moment there is `flux suspend`, which leaves git alone.

    ## Fails

        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: jobs, namespace: flux-system}
        spec: {interval: 10m, path: ./jobs, prune: false, suspend: true, serviceAccountName: jobs,
          sourceRef: {kind: GitRepository, name: flux-system}}

        patches: [{target: {kind: HelmRelease}, patch: {spec: {suspend: true}}}]

    ## Passes

        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: jobs, namespace: flux-system}
        spec: {interval: 10m, path: ./jobs, prune: false, serviceAccountName: jobs,
          sourceRef: {kind: GitRepository, name: flux-system}}
    """
    if value_at(manifest.body, "spec", "suspend") is True:
        yield Finding(
            f"`{manifest.ref.name}` is suspended: what git says of it is not applied",
            Route((manifest.id, "spec", "suspend")),
            help="remove it; `flux suspend` stops for a moment, and `flux resume` goes on",
        )
