from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.charts import unknown, values_of
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.near import name_meant


@rule("RUN135", severity=Severity.WARNING)
def chart_value_unknown(release: HelmRelease) -> Iterator[Finding]:
    """A Helm release sets a value that its chart does not read.

    Helm takes any key of `values`, and templates pass over what they do not name: the setting has no effect, and
    nobody says so. Known are the keys of the versions that the release of the catalog pins, from upstream's
    `values.yaml` and templates; of other charts and versions nothing is said.

    ## Fails

        components: {karpenter: {values: {settings: {batchMaxDuratoin: 20s}}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: kuberay, namespace: flux-system}
        spec:
          interval: 1h
          chart: {spec: {chart: kuberay-operator, version: 1.6.2, sourceRef: {kind: HelmRepository, name: kuberay}}}
          values: {replicaCuont: 2}

    ## Passes

        components: {karpenter: {values: {settings: {batchMaxDuration: 20s}}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: kuberay, namespace: flux-system}
        spec:
          interval: 1h
          chart: {spec: {chart: kuberay-operator, version: 1.6.2, sourceRef: {kind: HelmRepository, name: kuberay}}}
          values: {replicas: 2}
    """
    known = values_of(release.chart, release.version)
    if known is None:
        return
    for fault in unknown(release.values, known):
        name = ".".join(fault.path)
        place = release.where("values")
        for key in fault.path:
            place = place / key
        help = name_meant(fault.path[-1], fault.known)
        if not help:
            help = "remove it; there are " + ", ".join(map("`{}`".format, fault.known[:8]))
        yield Finding(
            f"chart `{known.chart}` {known.version} reads no value `{name}`",
            place,
            label="has no effect",
            help=help,
            notes=(f"source: {known.source}",),
            key=True,
        )
