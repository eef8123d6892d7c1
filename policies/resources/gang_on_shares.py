from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.pods import SHARES
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("LIM037", pods=True)
def gang_on_shares(work: Work) -> Iterator[Finding]:
    """A job of several nodes, or of several ranks, runs on shares of GPUs.

    A process sees one slice of MIG only, and slices talk to no other GPU, neither by NVLink nor by PCIe (NVIDIA MIG
    user guide, deployment considerations). Of GPUs that take turns a second share is no more time, and may be of the
    same GPU (NVIDIA/k8s-device-plugin v0.20.0, time-slicing). NCCL finds one device twice, or none that it can reach.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [torchrun, tune.py],
                resources: {requests: {cpu: 8, memory: 64Gi},
                  limits: {cpu: 8, memory: 64Gi, nvidia.com/mig-1g.5gb: 2}}}]

    ## Passes

        nodePools: [{name: gpu, gpuSharing: {mig: {profile: 1g.5gb}}}]
        jobs: [{name: llama, nodes: 1}]
    """
    for resource, amount in work.asks.items():
        if not resource.startswith(SHARES):
            continue
        nodes = work.nodes or 1
        if nodes <= 1 and amount.value <= 1:
            continue
        if nodes > 1:
            what = f"{nodes} nodes"
        else:
            what = f"{amount.value} of them"
        yield Finding(
            f"{work.title} runs on shares of GPUs, `{resource}`, and has {what}",
            work.place(resource),
            label="its ranks cannot talk to each other",
            help="ask for one share on one node, or for whole GPUs",
        )
        return
