from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.spelling import ACCELERATORS
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("LIM011", aliases=("accelerators-not-asked",), severity=Severity.WARNING)
def accelerators_not_requested(work: Work) -> Iterator[Finding]:
    """A job runs on accelerated nodes and asks for no accelerator.

    A container sees only the devices that it asks for (Kubernetes, device plugins): the GPUs of the node stay idle,
    and the program does not find them. Slices of MIG (`nvidia.com/mig-3g.20gb`), shared GPUs (`nvidia.com/gpu.shared`)
    and single NeuronCores are devices too.

    ## Fails

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 0, cpu: 90, memory: 1000Gi}}]

    ## Passes

        jobs: [{name: llama, nodes: 1}]
    """
    if not work.complete or not work.trainer:
        return
    if work.accelerator is not None or not work.types:
        return
    if any(name.startswith(_SHARED) for name in work.asks):
        return
    instance = work.types[0]
    resource = instance.accelerator_resource
    if resource and all(other.accelerator_resource for other in work.types):
        yield Finding(
            f"job `{work.name}` asks for none of the {instance.accelerators} accelerators of `{instance.name}`",
            work.where("limits") / resource,
            help=f"ask for `{resource}`, or take a pool without accelerators",
            spec_help=f"remove `resources.{ACCELERATORS}`, or take a `pool` without accelerators",
        )


# Domains of parts of a device, and of devices by another name of their plugin.
_SHARED = ("nvidia.com/", "aws.amazon.com/")
