from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.containers import beside
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule(
    "RUN019",
    kubernetes="a program of Slurm runs on its node by design",
    severity=Severity.WARNING,
    gangs=True,
    roles=True,
)
def host_access(work: Work) -> Iterator[Finding]:
    """A training pod has the rights of its node.

    EFA needs neither `privileged` nor `hostNetwork`: the device plugin gives the devices to the container (EFA device
    plugin v0.5.30). With the host's network two jobs on one node compete for ports, and a privileged pod controls the
    node.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}}}}}]}}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          initContainers: [{name: tune, image: "tune:1.0", securityContext: {privileged: true}}]}}}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.pod is None or work.main is None:
        return
    if work.pod.host_network:
        yield Finding(
            f"pods of {work.title} use the host's network",
            work.pod.where("host_network"),
            help="remove `hostNetwork`",
        )
    for container in (work.main, *beside(work)):
        if container.privileged:
            yield Finding(
                f"container `{container.name}` of {work.title} is privileged",
                container.where("privileged"),
                help="remove `privileged`",
            )
