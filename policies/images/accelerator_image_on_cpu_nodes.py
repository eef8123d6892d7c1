from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.images import known, runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN078", severity=Severity.WARNING, pods=True, containers=True, roles=True)
def accelerator_image_on_cpu_nodes(work: Work, world: World) -> Iterator[Finding]:
    """A job on nodes without accelerators runs an image that is made for GPUs.

    It works, and each node pulls gigabytes of CUDA libraries that nothing uses. AWS has the same frameworks built for
    CPUs (AWS Deep Learning Containers, available images: `-cpu-` in the tag).

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: prepare, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: m7i.8xlarge},
          containers: [{name: prepare,
            image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-gpu-py312-cu129",
            resources: {requests: {cpu: 20, memory: 80Gi}, limits: {cpu: 20, memory: 80Gi}}}]}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: cpu}
        spec:
          limits: {cpu: 1000}
          disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 15m}
          template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu},
            requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m7i.8xlarge]},
              {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]},
              {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}

    ## Passes

        jobs: [{name: llama, image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-gpu-py312"}]
    """
    node, image = runs(work)
    if not image or work.accelerator is not None:
        return
    if not work.complete or not work.types:
        return
    if any(instance.accelerators for instance in work.types):
        return  # LIM011 reports that it asks for none of them
    facts = known(world.plan, image)
    if facts is not None and facts.devices == "gpu":
        yield Finding(
            f"image `{image}` of {work.title} is for GPUs, and its nodes have none",
            node.where("image"),
            label="gigabytes of CUDA on each node",
            help="take the image for CPUs: its tag says `cpu`",
        )
