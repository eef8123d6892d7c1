from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Quantity


@rule(
    "LIM006",
    kubernetes="a program of Slurm has the `/dev/shm` of its node",
    severity=Severity.WARNING,
    pods=True,
    roles=True,
)
def shared_memory_default(work: Work) -> Iterator[Finding]:
    """A job with several GPUs a node has a /dev/shm of 64 MiB or less.

    NCCL and the workers of data loaders exchange data through /dev/shm; 64 MiB is the container runtime's default,
    and they die with "Bus error" or "No space left on device" (PyTorch, torch.multiprocessing; NCCL,
    troubleshooting). Less than that is an error: nobody means it.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: node, volumeMounts: [{name: dshm, mountPath: /scratch}]}]}}}}}]}}}

        jobs: [{name: llama, sharedMemory: 1Mi}]

    ## Passes

        jobs: [{name: llama}]

        jobs: [{name: llama, sharedMemory: 16Gi}]
    """
    if work.main is None or work.pod is None:
        return
    if work.accelerator is None:
        return
    devices = work.accelerator[1]
    if devices < 2:
        return
    paths = [mount.path.rstrip("/") for mount in work.main.mounts]
    if "/dev/shm" not in paths and "host_ipc" not in work.unread:
        yield Finding(
            f"{work.title} has {devices} devices a node and 64Mi of /dev/shm",
            work.main.where("mounts"),
            help="mount an `emptyDir` of `medium: Memory` at `/dev/shm`",
        )
    volume = work.shared_memory
    if volume is None or volume.medium != "Memory":
        return
    if volume.size is None:
        return
    if volume.size <= _DEFAULT:
        yield Finding(
            f"{work.title} has {devices} devices a node and {volume.size} of /dev/shm",
            work.pod.place(volume) / "emptyDir" / "sizeLimit",
            label="no more than the default, 64Mi",
            help="write a `sizeLimit` of `8Gi` for each device",
            spec_help="write `sharedMemory` of `8Gi` for each device, or remove it to have it derived",
            severity=Severity.ERROR if volume.size < _DEFAULT else None,
        )


_DEFAULT = Quantity.mib(64)
