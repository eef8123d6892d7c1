"""What a node of a job asks for: CPU, memory, accelerators, EFA, huge pages, /dev/shm, processes."""

from __future__ import annotations

from compiler.plan.jobs import EFA, EPHEMERAL, HUGEPAGES, NEURON
from compiler.plan.units import Quantity
from compiler.resolve.binding import Job
from compiler.resolve.context import Context

_EFA_PAGES = Quantity.mib(5120)


def requests(context: Context, job: Job) -> dict[str, Quantity]:
    """What one node of the job asks for; requests and limits are the same."""
    own, share, target = job.spec.resources, job.pool.share, job.target
    found: dict[str, Quantity] = {}
    gpus = share.accelerators if own.gpus is None else own.gpus
    parts = share.accelerators or 1
    taken = gpus if share.accelerators else 1
    if own.cpu is None:
        cpu = max(share.cpu * taken // parts, 1)
        context.derive(target, "resources.cpu", cpu, _part("what jobs can get of a node", taken, parts))
    found["cpu"] = own.cpu if own.cpu is not None else Quantity.of(cpu)
    if own.memory is None:
        memory = Quantity.gib(max(share.memory.value // 1024**3 * taken // parts, 1))
        context.derive(target, "resources.memory", memory, _part("what jobs can get of a node", taken, parts))
    found["memory"] = own.memory if own.memory is not None else memory
    if gpus and not share.resource:
        context.fault("RES025", f"job `{job.spec.name}` asks {gpus} accelerators of pool `{job.pool.name}`; "
                      f"`{job.pool.instance.name}` has none", job.at / "resources" / "gpus",
                      "remove it, or take a pool of accelerators")
    if share.resource and gpus:
        found[share.resource] = Quantity.of(gpus)
        if own.gpus is None:
            context.derive(target, "resources.gpus", gpus, f"all accelerators of {job.pool.instance.name}: whole nodes")
    efa = _efa(context, job)
    if efa:
        found[EFA] = Quantity.of(efa)
        found[HUGEPAGES] = own.huge_pages if own.huge_pages is not None else _EFA_PAGES
        if own.huge_pages is None:
            context.derive(target, "resources.hugePages", _EFA_PAGES, "libfabric's EFA provider uses huge pages",
                           "EKS user guide, node-efa")
    elif own.huge_pages is not None:
        found[HUGEPAGES] = own.huge_pages
    if own.ephemeral_storage is not None:
        found[EPHEMERAL] = own.ephemeral_storage
    return found


def _part(text: str, taken: int, parts: int) -> str:
    return text if taken == parts else f"{taken} of {parts} accelerators: their part of {text}"


def _efa(context: Context, job: Job) -> int:
    if job.spec.resources.efa is not None:
        return job.spec.resources.efa
    if job.spec.nodes == 1:
        if job.pool.efa:
            context.derive(job.target, "resources.efa", 0, "a job of one node sends nothing over the network")
        return 0
    if job.pool.efa:
        context.derive(job.target, "resources.efa", job.pool.share.efa,
                       f"{job.spec.nodes} nodes talk over all EFA devices of {job.pool.instance.name}",
                       "EC2 DescribeInstanceTypes MaximumEfaInterfaces")
    return job.pool.share.efa


def shared_memory(context: Context, job: Job, memory: Quantity, processes: int) -> Quantity:
    """The size of /dev/shm, which counts in the memory limit."""
    if job.spec.shared_memory is not None:
        return job.spec.shared_memory
    gib = max(min(8 * processes, memory.value // 1024**3 // 4), 1)
    context.derive(job.target, "sharedMemory", f"{gib}Gi",
                   "8Gi a process for data loaders and NCCL, at most a quarter of the memory limit it counts in")
    return Quantity.gib(gib)


def processes(context: Context, job: Job, asked: dict[str, Quantity]) -> int:
    """Processes a node: one an accelerator, or one."""
    if job.spec.processes_per_node is not None:
        return job.spec.processes_per_node
    resource = job.pool.share.resource
    if resource is None or resource not in asked:
        context.derive(job.target, "processesPerNode", 1, "one process")
        return 1
    count = asked[resource].value
    if resource != NEURON:
        context.derive(job.target, "processesPerNode", count, "one process an accelerator")
        return count
    count *= _logical_cores(job)
    context.derive(job.target, "processesPerNode", count, "one process a logical NeuronCore",
                   "Neuron documentation, logical-neuroncore-config")
    return count


def _logical_cores(job: Job) -> int:
    """Logical NeuronCores of one device: physical ones, grouped as the runtime is told or does by itself."""
    instance, told = job.pool.instance, job.spec.env.get("NEURON_LOGICAL_NC_CONFIG", "")
    group = int(told) if told in ("1", "2") else instance.neuron_lnc
    return instance.neuron_cores // instance.accelerators // group
