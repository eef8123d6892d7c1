from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder


@rule("RUN025", severity=Severity.WARNING)
def chart_not_pinned(release: HelmRelease) -> Iterator[Finding]:
    """A Helm release does not pin the version of its chart.

    Without `version`, or with a range (`1.2` is one), Flux upgrades when somebody publishes (helm-controller 1.6,
    `spec.chart.spec.version`, default `*`; source-controller 1.10, `spec.ref` of an OCIRepository, default `latest`):
    drivers, plugins and controllers change under running jobs, without a commit.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm, namespace: flux-system}
        spec: {chart: {spec: {chart: kuberay-operator, version: 4.x}}}

        apiVersion: source.toolkit.fluxcd.io/v1
        kind: OCIRepository
        metadata: {name: kueue, namespace: flux-system}
        spec: {url: oci://registry.k8s.io/kueue/charts/kueue, interval: 1h, ref: {semver: 0.x}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: kueue, namespace: flux-system}
        spec: {interval: 1h, chartRef: {kind: OCIRepository, name: kueue}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm, namespace: flux-system}
        spec: {chart: {spec: {chart: kuberay-operator, version: 4.8.1}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: driver, namespace: flux-system}
        spec: {chart: {spec: {chart: chart, sourceRef: {kind: GitRepository, name: driver}}}}

        # as the second that fails, but
        kind: OCIRepository
        spec: {ref: {tag: 0.19.2, semver: null}}
    """
    if not release.chart or release.git or "/" in release.chart:
        return  # the commit of its repository is the version of a chart by path (Flux, HelmRelease: chart template)
    if "version" in release.unread or placeholder(release.version):
        return
    if not re.fullmatch(r"[v=]?\d+\.\d+\.\d+([-+].*)?", release.version.strip()):
        if release.version:
            said = f"`{release.version}`"
        else:
            said = "no version"
        yield Finding(
            f"release `{release.name}` has {said} for chart `{release.chart}`",
            release.where("version"),
            help="pin one version, like `1.2.3`",
        )
