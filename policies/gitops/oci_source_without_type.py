from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_OCI = "oci"


@rule(
    "RUN194",
    kinds=("source.toolkit.fluxcd.io/HelmRepository", "source.toolkit.fluxcd.io/OCIRepository"),
)
def oci_source_without_type(manifest: Manifest) -> Iterator[Finding]:
    """A source of charts has an address of OCI and is read as another kind of source, or the other way round.

    A HelmRepository is one of HTTP unless it says `type: oci`: source-controller then asks `oci://…` for an
    `index.yaml` and fails ("scheme oci not supported", source-controller 1.9, HelmRepository type;
    fluxcd/source-controller#669). One of `type: oci` needs `oci://`.

    ## Fails

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: HelmRepository
        metadata: {name: karpenter, namespace: flux-system}
        spec: {interval: 24h, url: "oci://public.ecr.aws/karpenter"}

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: HelmRepository
        metadata: {name: nvdp, namespace: flux-system}
        spec: {interval: 24h, type: oci, url: "https://nvidia.github.io/k8s-device-plugin"}

    ## Passes

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: HelmRepository
        metadata: {name: karpenter, namespace: flux-system}
        spec: {interval: 24h, type: oci, url: "oci://public.ecr.aws/karpenter"}
    """
    url = value_at(manifest.body, "spec", "url")
    if not isinstance(url, str):
        return
    is_oci = url.startswith("oci://")
    said = value_at(manifest.body, "spec", "type")
    at = Route((manifest.id, "spec", "url"))
    if manifest.ref.kind == "OCIRepository":
        if url.startswith(("http://", "https://")):
            yield Finding(
                f"source `{manifest.ref.name}` has the address `{url}`",
                at,
                label="Flux reads nothing from it",
                help="write an address with `oci://`, or a HelmRepository",
            )
        return
    if is_oci and said != _OCI:
        yield Finding(
            f"source `{manifest.ref.name}` has an address of OCI, and is read as one of HTTP",
            at,
            label="Flux finds no chart there",
            help="write `type: oci`",
        )
    elif said == _OCI and url.startswith(("http://", "https://")):
        yield Finding(
            f"source `{manifest.ref.name}` is of `type: oci`, and its address is one of HTTP",
            at,
            label="Flux finds no chart there",
            help="remove `type`, or write an address with `oci://`",
        )
