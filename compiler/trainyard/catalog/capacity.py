"""What a pod can get of a machine: its capacity minus what the kubelet, the system and DaemonSets take.

Formulas: karpenter-provider-aws v1.14.1 ``pkg/providers/instancetype/types.go`` (the scheduler's view, which decides
whether a node is created at all); the kubelet's own reservation by nodeadm in amazon-eks-ami is the same.
"""

from __future__ import annotations

from math import ceil

from trainyard.catalog.instance import InstanceType
from trainyard.language.dataclass import dataclass

GUIDE_HUGE_PAGES_MIB = 5128 * 2
"""Huge pages of every node with EFA by the EKS user guide (node-efa). What is measured is another number on each size,
see ``huge_pages_mib``; where the two differ, the smaller one is certain to be there."""

VM_MEMORY_OVERHEAD = 0.075
"""Default of Karpenter's ``settings.vmMemoryOverheadPercent``."""

_HUGE_PAGE_MIB = 2
_HUGE_PAGES_OF_A_VCPU = 110
_EFA_CONFIG = "efa-config, which `efa_installer.sh --minimal` of the AL2023 AMI installs; measured on p3dn, p4de and p5"
_KARPENTER = "karpenter-provider-aws v1.14.1 types.go"
_CPU_BANDS = ((0, 1000, 60), (1000, 2000, 10), (2000, 4000, 5), (4000, 1 << 31, 2.5))
_DEFAULT_PODS = 110


@dataclass(frozen=True, slots=True)
class Step:
    """One subtraction: what takes it, how much (milli-CPU, MiB), and the source of the fact."""

    what: str
    cpu_milli: int
    memory_mib: int
    source: str

    @property
    def amounts(self) -> tuple[str, ...]:
        """What it takes in words, without resources that it takes none of: ``("550m CPU", "5667Mi")``."""
        amounts = ((self.cpu_milli, "m CPU"), (self.memory_mib, "Mi"))
        return tuple(f"{amount}{unit}" for amount, unit in amounts if amount)


@dataclass(frozen=True, slots=True)
class Allocatable:
    """What is left for pods, DaemonSets included, and the steps that led there."""

    cpu_milli: int
    memory_mib: int
    ephemeral_gib: int
    pods: int
    steps: tuple[Step, ...]


def max_pods(
    instance: InstanceType, *, prefix_delegation: bool = False, reserved_enis: int = 0
) -> int:
    """The most pods that the VPC CNI can address: interfaces of card 0 x (addresses - 1) + 2.

    With prefix delegation an address becomes a /28 of 16, capped at 110 below 30 vCPUs and at 250 above
    (EKS user guide, cni-increase-ip-addresses). Karpenter ignores prefix delegation: ``kubelet.maxPods`` must be set.
    A type whose interface limits are unknown gets the kubelet's default, 110.
    """
    if not instance.network_cards or not instance.ipv4_per_interface:
        return _DEFAULT_PODS
    card = instance.network_cards[0]
    interfaces = max(card.max_interfaces - reserved_enis, 0)
    if not interfaces:
        return 0
    addresses = interfaces * (instance.ipv4_per_interface - 1)
    if prefix_delegation:
        pods = addresses * 16 + 2
        return min(pods, 110 if instance.vcpus < 30 else 250)
    return addresses + 2


def huge_pages_mib(instance: InstanceType) -> int:
    """Huge pages that a node with EFA sets aside when it boots, and so much less memory.

    The script of the package `efa-config` takes 110 MB for each of two endpoints a CPU, and one page more (quoted in
    bottlerocket-os/bottlerocket-core-kit#141, computed alike in its corndog): (110 x vCPU + 1) pages of 2 MiB. The
    AL2023 AMI of EKS installs that package (awslabs/amazon-eks-ami v20260714, install-efa.sh). Measured as allocatable:
    21122Mi on p4de.24xlarge and p3dn.24xlarge, 42242Mi on p5.48xlarge; on other types nobody has published a number.
    """
    return (_HUGE_PAGES_OF_A_VCPU * instance.vcpus + 1) * _HUGE_PAGE_MIB


def _kube_reserved_cpu(vcpus: int) -> int:
    milli = vcpus * 1000
    reserved = 0.0
    for start, end, rate in _CPU_BANDS:
        if milli > start:
            in_band = min(milli, end) - start
            reserved += in_band * rate / 1000
    return int(reserved)


def _steps(instance: InstanceType, pods: int, huge_pages: bool, vm_overhead: float) -> list[Step]:
    memory = instance.memory_mib
    steps = []
    if instance.arch == "arm64":
        steps.append(Step("contiguous memory that Graviton keeps", 0, 64, _KARPENTER))
        memory -= 64
    if vm_overhead:
        overhead = ceil(memory * vm_overhead)
        what = f"`vmMemoryOverheadPercent` {vm_overhead:.1%}"
        steps.append(Step(what, 0, overhead, _KARPENTER))
    cpu = _kube_reserved_cpu(instance.vcpus)
    reserved = 11 * pods + 255
    what = f"kubeReserved for {pods} pods"
    steps.append(Step(what, cpu, reserved, _KARPENTER))
    steps.append(Step("evictionHard `memory.available`", 0, 100, _KARPENTER))
    if huge_pages:
        pages = huge_pages_mib(instance)
        steps.append(Step("huge pages of EFA", 0, pages, _EFA_CONFIG))
    return steps


def allocatable(
    instance: InstanceType,
    *,
    huge_pages: bool,
    prefix_delegation: bool = False,
    reserved_enis: int = 0,
    storage_gib: int = 20,
    vm_overhead: float = VM_MEMORY_OVERHEAD,
) -> Allocatable:
    """What pods can request on a node of this type.

    ``huge_pages``: the AMI sets EFA's pages aside, before the kubelet counts memory.
    ``storage_gib``: the file system that holds pods: the root volume (20 GiB is Karpenter's default), or
    all NVMe disks with ``instanceStorePolicy: RAID0``. ``vm_overhead`` 0 gives the kubelet's view of a
    managed node group, on the nominal memory.
    """
    pods = max_pods(instance, prefix_delegation=prefix_delegation, reserved_enis=reserved_enis)
    steps = tuple(_steps(instance, pods, huge_pages, vm_overhead))
    taken_cpu = sum(step.cpu_milli for step in steps)
    taken_memory = sum(step.memory_mib for step in steps)
    return Allocatable(
        cpu_milli=instance.vcpus * 1000 - taken_cpu,
        memory_mib=max(instance.memory_mib - taken_memory, 0),
        # kubeReserved 1Gi and evictionHard nodefs 10 %.
        ephemeral_gib=max(storage_gib - ceil(storage_gib / 10) - 1, 0),
        pods=pods,
        steps=steps,
    )
