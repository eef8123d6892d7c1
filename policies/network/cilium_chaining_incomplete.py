from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC073")
def cilium_chaining_incomplete(release: HelmRelease) -> Iterator[Finding]:
    """Cilium is chained behind the VPC CNI, and its values take the VPC CNI's work away.

    With `cni.exclusive`, which is the chart's default, Cilium puts every other CNI configuration of the node aside: the
    one of the VPC CNI too, which gives pods their addresses. Addresses of pods are those of the VPC, so nothing is
    masqueraded and no tunnel is needed (cilium v1.20.2, Documentation/installation/cni-chaining-aws-cni.rst).

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: cilium, namespace: flux-system}
        spec:
          interval: 1h
          chart: {spec: {chart: cilium, version: 1.20.2, sourceRef: {kind: HelmRepository, name: cilium}}}
          values: {cni: {chainingMode: aws-cni}, enableIPv4Masquerade: false, routingMode: native}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: cilium, namespace: flux-system}
        spec:
          interval: 1h
          chart: {spec: {chart: cilium, version: 1.20.2, sourceRef: {kind: HelmRepository, name: cilium}}}
          values: {cni: {chainingMode: aws-cni, exclusive: false}, enableIPv4Masquerade: false, routingMode: tunnel}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: cilium, namespace: flux-system}
        spec:
          interval: 1h
          chart: {spec: {chart: cilium, version: 1.20.2, sourceRef: {kind: HelmRepository, name: cilium}}}
          values: {cni: {chainingMode: aws-cni, exclusive: false}, enableIPv4Masquerade: false, routingMode: native}
    """
    cni = release.values.get("cni")
    if release.chart != "cilium" or not isinstance(cni, dict):
        return
    if cni.get("chainingMode") != "aws-cni":
        return
    at = release.at / "spec" / "values"
    for place, value, wanted, what in (
        (at / "cni" / "exclusive", cni.get("exclusive", True), False, "cni.exclusive"),
        (
            at / "enableIPv4Masquerade",
            release.values.get("enableIPv4Masquerade", False),
            False,
            "enableIPv4Masquerade",
        ),
        (
            at / "routingMode",
            release.values.get("routingMode") or "native",
            "native",
            "routingMode",
        ),
    ):
        if value != wanted:
            shown = "false" if wanted is False else wanted
            yield Finding(
                f"`{release.name}` is chained behind the VPC CNI with `{what}: {_shown(value)}`",
                place,
                key=True,
                help=f"write `{what}: {shown}`",
            )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
