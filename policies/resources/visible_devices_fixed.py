from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("EFA013", severity=Severity.WARNING, pods=True, roles=True)
def visible_devices_fixed(work: Work) -> Iterator[Finding]:
    """A job sets which GPUs its processes see.

    The device plugin gives each container its GPUs, numbered from 0; `CUDA_VISIBLE_DEVICES` then hides some of them
    from every process of the node (NVIDIA device plugin 0.20.0; torchrun sets LOCAL_RANK, not this). Slurm sets it to
    the GPUs that it gives a job (Slurm documentation, gres.html, GPU Management). A list of all that the job asks for
    hides none.

    ## Fails

        jobs: [{name: llama, env: {CUDA_VISIBLE_DEVICES: "0"}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_DEBUG: WARN}}]
    """
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NEURON_RT_VISIBLE_CORES"):
        given = work.env.get(name)
        if given is None or work.accelerator is None:
            continue
        if given.count(",") + 1 < work.accelerator[1]:
            yield Finding(
                f"`{name}` is set in {work.title}",
                work.where_env(name),
                label="hides devices from every process",
                help=f"remove it: {_decides(work)}",
            )


def _decides(work: Work) -> str:
    if work.has_pods:
        return "the device plugin decides"
    devices = work.node_words.devices
    return f"{devices} sets it" if devices else "every process sees the devices of the job then"
