from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_BETWEEN_GPUS = ("NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE", "NCCL_NVLS_ENABLE")


@rule("EFA030", severity=Severity.WARNING, pods=True, roles=True)
def env_without_peers(work: Work) -> Iterator[Finding]:
    """A job says how the GPUs of a node talk to each other, and its pods have one GPU.

    `NCCL_P2P_LEVEL` and the like are about several GPUs of one pod, over NVLink or PCIe (NCCL 2.30,
    environment variables). With one in each pod all traffic goes over the network: the variable does nothing, and
    hides that NVLink is not used.

    ## Fails

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 1}, env: {NCCL_P2P_LEVEL: NVL}},
          {name: other, queue: research, pool: gpu, nodes: 1, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py], resources: {accelerators: 7}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_P2P_LEVEL: NVL}}]
    """
    if work.accelerator != (GPU, 1):
        return
    for name in _BETWEEN_GPUS:
        if name in work.env:
            yield Finding(
                f"`{name}` is set in {work.title}, which has one GPU {'a pod' if work.has_pods else 'a node'}",
                work.where_env(name),
                label="there is no other GPU to talk to",
                help=f"remove `{name}`, or ask for all GPUs of a node{' in one pod' if work.has_pods else ''}",
            )
