from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.judge.model.choices import repelling_taint
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("QUE049", kubernetes="flavors and runtimes are of Kubernetes")
def flavor_replaces_tolerations(work: Work) -> Iterator[Finding]:
    """The tolerations of a flavor replace those of a TrainJob's runtime, and a taint of the pool is tolerated no more.

    Kueue hands labels and tolerations of the flavor to a TrainJob as patches of its runtime (kueue v0.19.2,
    trainjob: RunWithPodSetsInfo), and Trainer replaces the runtime's tolerations by those of a patch as a whole
    (observed with Trainer 2.3.0). A flavor without tolerations patches none.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {spec: {taints: [{key: example.com/team, value: research, effect: NoSchedule}]}}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: gpu}
        spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          tolerations: [{key: example.com/team, operator: Exists}, {key: nvidia.com/gpu, operator: Exists}]}}}}}]}}}

    ## Passes

        # as the first that fails, but
        kind: ResourceFlavor
        spec: {tolerations: [{key: example.com/team, operator: Exists}]}
    """
    if work.kind != TRAIN_JOB or work.pod is None or not work.pod.tolerations:
        return
    for choice in work.choices:
        flavor = choice.flavor
        if flavor is None or not choice.tolerations:
            continue
        for pool in choice.pools:
            taint = repelling_taint(pool, choice.tolerations, work.asks)
            both = (*work.pod.tolerations, *choice.tolerations)
            if taint and not repelling_taint(pool, both, work.asks):
                yield Finding(
                    f"the tolerations of flavor `{flavor.name}` replace those of the runtime of job `{work.name}`, "
                    f"and do not have `{taint}` of pool `{pool.title}`",
                    flavor.at / "metadata" / "name",
                    label="its pods stay Pending",
                    help="write all tolerations into the flavor, or none",
                )
                return
