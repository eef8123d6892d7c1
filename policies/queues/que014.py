from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.policy.rule import Finding, rule
from compiler.source import Route


@rule("QUE014", severity=Severity.WARNING, kinds=tuple(f"kueue.x-k8s.io/{kind}" for kind in (
    "ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "Topology", "WorkloadPriorityClass", "AdmissionCheck")))
def old_queue_api(manifest: Manifest) -> Iterator[Finding]:
    """An object is written for an API version of Kueue that is on its way out.

    v1beta1 is deprecated since v1beta2 became the stored version (Kueue 0.19); fields have other names there, like
    `cohort` for `cohortName`, and v1alpha1 is gone.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta1
        kind: LocalQueue
        metadata: {name: old, namespace: team-a}
        spec: {clusterQueue: research}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: new, namespace: team-a}
        spec: {clusterQueue: research}
    """
    if manifest.body.get("apiVersion") != "kueue.x-k8s.io/v1beta2":
        yield Finding(f"`{manifest.ref}` is written for `{manifest.body.get('apiVersion')}`",
                      Route((manifest.id, "apiVersion")), help="write `kueue.x-k8s.io/v1beta2`")
