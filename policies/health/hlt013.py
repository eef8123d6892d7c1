from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.policy.offers import GroupPool
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("HLT013", severity=Severity.WARNING)
def disruption_allowed(work: Work) -> Iterator[Finding]:
    """Nothing keeps Karpenter from disrupting the nodes of a running job.

    The annotation `karpenter.sh/do-not-disrupt: "true"` on the pods keeps drift and consolidation away from their
    nodes (karpenter v1.14, disruption); a new AMI otherwise replaces the nodes under a job.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {metadata: {
          annotations: {karpenter.sh/do-not-disrupt: null}}}}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.pod is None or work.accelerator is None or all(isinstance(each, GroupPool) for each in work.pools):
        return  # Karpenter disrupts the nodes of its own pools only
    if work.pod.annotations.get("karpenter.sh/do-not-disrupt") != "true":
        yield Finding(f"pods of job `{work.name}` have no `karpenter.sh/do-not-disrupt`", work.pod.where("annotations"),
                      help='add the annotation `karpenter.sh/do-not-disrupt: "true"` to the pod template')
