from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import InstanceType
from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("LIM001", aliases=("accelerators-over-type",), pods=True)
def accelerators_exceed_node(work: Work) -> Iterator[Finding]:
    """A job asks for more accelerators a node than its instance type has.

    Devices are not shared between nodes (EC2 DescribeInstanceTypes): the pods stay Pending.

    ## Fails

        jobs: [{name: llama, resources: {accelerators: 16}}]

    ## Passes

        jobs: [{name: llama, resources: {accelerators: 8}}]
    """
    asked = work.accelerator
    if asked is None or not work.types:
        return
    resource, count = asked
    together = work.pod_asks[resource].value if resource in work.pod_asks else count
    devices = [_devices(instance, resource) for instance in work.types]
    has, name = max(devices)
    if count <= has < together:
        yield Finding(
            f"the containers of {work.title} ask for {together} of `{resource}` together, and `{name}` has {has}",
            work.at / "metadata" / "name",
            label="its pods stay Pending",
            help=f"ask for {has} in all containers of a pod, or take a type with {together} or more",
        )
    if count > has:
        yield Finding(
            f"{work.title} asks for {count} of `{resource}` a node, and `{name}` has {has}",
            work.place(resource),
            label="its pods stay Pending" if work.has_pods else "no node ever fits",
            help=f"ask for {has}" if has else "take a pool that has the device",
            spec_help=_spec_help(resource, has),
        )


def _devices(instance: InstanceType, resource: str) -> tuple[int, str]:
    """How many devices of a resource an instance type has, and its name."""
    fits = instance.accelerator_resource == resource
    return instance.accelerators if fits else 0, instance.name


def _spec_help(resource: str, has: int) -> str:
    if not has:
        return "take a `pool` that has the device"
    return f"write `resources: {{{spec_key(resource)}: {has}}}` at most, or remove it to have it derived"
