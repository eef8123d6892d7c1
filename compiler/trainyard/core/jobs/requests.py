"""What a node of a job asks for: CPU, memory, accelerators, EFA, huge pages, /dev/shm, processes."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.pods.plan import EFA, EPHEMERAL, HUGEPAGES, NEURON
from trainyard.language.units import Quantity
from trainyard.plan.context import Context, T

_EFA_PAGES = Quantity.mib(5120)


def requests(context: Context, job: Job) -> dict[str, Quantity]:
    """What one node of the job asks for; requests and limits are the same."""
    own = job.spec.resources
    share = job.pool.share
    count = _accelerators(context, job)
    # A job that uses no accelerators gets the part of a single one.
    used, parts = 1, 1
    if share.accelerators:
        used = max(count, 1)
        parts = share.accelerators
    part = "what jobs can get of a node"
    if used != parts:
        part = f"{used} of {parts} accelerators: their part of {part}"
    cpu_count = share.cpu
    memory_bytes = share.memory.value
    for who, taken in job.kind.taken(job):
        part += f", less what {who}"
        cpu_count -= taken["cpu"].value
        memory_bytes -= taken["memory"].value
    cpu = _cpus(cpu_count, used, parts)
    memory = _memory(memory_bytes, used, parts)
    source = f"`trainyard explain pool/{job.pool.name} share`"
    asked = {}
    asked["cpu"] = _settle(context, job, "cpu", own.cpu, cpu, part, source)
    asked["memory"] = _settle(context, job, "memory", own.memory, memory, part, source)
    _check_agents(context, job)
    if share.resource and count:
        asked[share.resource] = Quantity.of(count)
    asked.update(_network(context, job))
    if own.ephemeral_storage is not None:
        asked[EPHEMERAL] = own.ephemeral_storage
    return asked


def _cpus(count: int, used: int, parts: int) -> Quantity:
    """The part of so many CPUs: whole ones, or thousandths where it is less than one."""
    whole = count * used // parts
    if whole or count < 1:
        return Quantity.of(max(whole, 1))
    return Quantity(count * 1000 * used // parts)


def _memory(bytes_: int, used: int, parts: int) -> Quantity:
    """The part of so much memory: whole GiB, or MiB where it is less than one."""
    gib = bytes_ // 1024**3 * used // parts
    mib = bytes_ // 1024**2 * used // parts
    if gib or mib < 1:
        return Quantity.gib(max(gib, 1))
    return Quantity.mib(mib)


def _check_agents(context: Context, job: Job) -> None:
    """A request that fits the node and not what its DaemonSets leave. A policy reports one that exceeds the node."""
    own = job.spec.resources
    share = job.pool.share
    instance = job.pool.instance.name
    if own.cpu:
        cpu_milli = own.cpu.milli
    else:
        cpu_milli = 0
    memory_mib = 0
    if own.memory:
        memory_mib = own.memory.value // 1024**2
    for name, unit, asked, left, agents in zip(
        ("cpu", "memory"),
        ("m", "Mi"),
        (cpu_milli, memory_mib),
        share.left,
        share.agents,
        strict=True,
    ):
        if not left < asked <= left + agents:
            continue
        most = f"{left}{unit}"
        if name == "memory":
            most = str(share.memory)
        context.fault(
            "RES037",
            f"job `{job.spec.name}` asks for {asked}{unit} of `{name}` a node, "
            f"and the DaemonSets that may come leave {left}{unit} of `{instance}`",
            job.at / "resources" / name,
            f"ask for at most {most}, or leave it out",
        )


def _settle(
    context: Context,
    job: Job,
    name: str,
    given: T | None,
    derived: T,
    reason: str,
    source: str = "",
) -> T:
    at = job.at / "resources" / name
    return context.settle(job.target, f"resources.{name}", given, derived, reason, source, at=at)


def _accelerators(context: Context, job: Job) -> int:
    own = job.spec.resources.accelerators
    share = job.pool.share
    instance = job.pool.instance
    if job.pool.spec.gpu_sharing is not None:
        return _settle(
            context,
            job,
            "accelerators",
            own,
            1,
            f"one share of a GPU of {instance.name}",
            f"`trainyard explain pool/{job.pool.name} gpuSharing`",
        )
    if share.resource:
        return _settle(
            context,
            job,
            "accelerators",
            own,
            share.accelerators,
            f"all accelerators of {instance.name}: whole nodes",
            f"`trainyard catalog {instance.name}`",
        )
    if own:
        context.fault(
            "RES025",
            f"job `{job.spec.name}` asks {own} accelerators "
            f"of pool `{job.pool.name}`; "
            f"`{instance.name}` has none",
            job.at / "resources" / "accelerators",
            "remove it, or take a pool of accelerators",
        )
    return 0


def pods_a_node(job: Job, asked: Mapping[str, Quantity]) -> int:
    """How many pods of a job share a node: those of a plain Job do, where each asks for a part."""
    if job.kind.has_peers:
        return 1
    share = job.pool.share
    rooms = [
        share.of(resource).milli // amount.milli
        for resource, amount in asked.items()
        if amount.milli and share.of(resource).milli
    ]
    return max(min(rooms, default=1), 1)


def _network(context: Context, job: Job) -> dict[str, Quantity]:
    """EFA devices, and the huge pages that come with them."""
    own = job.spec.resources.huge_pages
    efa = _efa(context, job)
    if not efa:
        return {HUGEPAGES: own} if own else {}
    derived, why, source = _derived_pages(job)
    pages = _settle(context, job, "hugePages", own, derived, why, source)
    asked = {EFA: Quantity.of(efa)}
    if pages:
        asked[HUGEPAGES] = pages
    return asked


def _derived_pages(job: Job) -> tuple[Quantity, str, str]:
    """What the guide asks for, or all that a small node sets aside: a pod that asks for more never starts. Then why,
    and the source."""
    share = job.pool.share
    available = share.huge_pages
    guide = "EKS user guide, node-efa"
    if available == Quantity(0):
        return available, share.no_huge_pages, "libfabric fi_efa(7)"
    if available < _EFA_PAGES:
        name = job.pool.instance.name
        return available, f"all huge pages that {name} sets aside for EFA", guide
    return _EFA_PAGES, "libfabric's EFA provider uses huge pages", guide


def _efa(context: Context, job: Job) -> int:
    own = job.spec.resources.efa
    pool = job.pool
    nodes = job.kind.nodes(job)
    if not pool.efa and not pool.could_have_efa:
        return own or 0
    if job.has_peers and not pool.efa:
        return _no_efa(context, job)
    if not job.has_peers:
        why = "a job of one node sends nothing over the network"
        if nodes > 1:
            why = "the pods of a plain Job send each other nothing"
        return _settle(context, job, "efa", own, 0, why)
    return _settle(
        context,
        job,
        "efa",
        own,
        pool.share.efa,
        f"{nodes} nodes talk over all EFA devices of {pool.instance.name}",
        "EC2 DescribeInstanceTypes MaximumEfaInterfaces",
    )


def _no_efa(context: Context, job: Job) -> int:
    """The EFA devices of a job whose nodes talk to each other, on a pool that has none though its types do."""
    pool = job.pool
    if pool.spec.efa is None and pool.spec.gpu_sharing is None and job.spec.resources.efa is None:
        context.doubt(
            "RES392",
            f"the nodes of job `{job.spec.name}` talk over TCP, since {pool.no_efa}",
            job.at / "pool" if job.spec.pool else job.at / "name",
            f"make a pool of each type; or write `efa: false` in pool `{pool.name}`, if TCP is fast enough",
            source="EC2 user guide, efa: P4d, P4de and DL1 cannot talk over EFA with other types",
        )
    return _settle(context, job, "efa", job.spec.resources.efa, 0, pool.no_efa)


def shared_memory(context: Context, job: Job, memory: Quantity, processes: int) -> Quantity:
    """The size of /dev/shm, which counts in the memory limit."""
    quarter_mib = memory.value // 1024**2 // 4
    derived = Quantity.mib(max(quarter_mib, 1))
    if quarter_mib >= 1024:
        quarter_gib = quarter_mib // 1024
        derived = Quantity.gib(min(8 * processes, quarter_gib))
    return context.settle(
        job.target,
        "sharedMemory",
        job.spec.shared_memory,
        derived,
        "8Gi a process for data loaders and NCCL, at most a quarter of the memory limit it counts in",
        at=job.at / "sharedMemory",
    )


def processes(context: Context, job: Job, asked: Mapping[str, Quantity]) -> int:
    """Processes a node: one an accelerator, one a logical NeuronCore, or one."""
    resource = job.pool.share.resource
    count, reason, source = 1, "one process", ""
    if resource is not None and resource in asked:
        count = asked[resource].value
        reason = "one process an accelerator"
        if resource == NEURON:
            count *= _logical_cores(job)
            reason = "one process a logical NeuronCore"
            source = "Neuron documentation, logical-neuroncore-config"
    launcher = launcher_of(job)
    return launcher.processes(context, job, count, reason, source)


def _logical_cores(job: Job) -> int:
    """Logical NeuronCores of one device: physical ones, grouped as the job's variable says or by default."""
    instance = job.pool.instance
    variable = job.spec.env.get("NEURON_LOGICAL_NC_CONFIG", "")
    group = instance.neuron_lnc
    if variable in ("1", "2"):
        group = int(variable)
    cores = instance.neuron_cores // instance.accelerators
    return cores // group
