"""What a node leaves for pods, against Karpenter's own reference page."""

from __future__ import annotations

import pytest
from trainyard.catalog import allocatable, huge_pages_mib, load_catalog, max_pods
from trainyard.catalog.instance import InstanceType

# karpenter-provider-aws v1.14.1 website/content/en/docs/reference/instance-types.md, Karpenter's defaults:
# type, GPUs, EFA interfaces, allocatable milli-CPU, allocatable MiB
KARPENTER = [
    ("g4dn.xlarge", 1, 0, 3920, 14481),
    ("g4dn.8xlarge", 1, 1, 31850, 120248),
    ("g4dn.12xlarge", 4, 1, 47810, 178933),
    ("g4dn.metal", 8, 1, 95690, 355262),
    ("g5.2xlarge", 1, 0, 7910, 29317),
    ("g5.8xlarge", 1, 1, 31850, 118312),
    ("g5.12xlarge", 4, 1, 47810, 173400),
    ("g5.48xlarge", 8, 1, 191450, 723299),
    ("g6.2xlarge", 1, 0, 7910, 29317),
    ("g6.12xlarge", 4, 1, 47810, 178933),
    ("g6.48xlarge", 8, 1, 191450, 718987),
    ("g6e.4xlarge", 1, 0, 15890, 118312),
    ("g6e.8xlarge", 1, 1, 31850, 239554),
    ("g6e.12xlarge", 4, 1, 47810, 360157),
    ("g6e.24xlarge", 4, 2, 95690, 721682),
    ("g6e.48xlarge", 8, 4, 191450, 1449132),
    ("g7e.48xlarge", 8, 4, 191450, 1932558),
    ("p4d.24xlarge", 8, 4, 95690, 1082712),
    ("p4de.24xlarge", 8, 4, 95690, 1082712),
    ("p5.4xlarge", 1, 1, 15890, 240830),
    ("p5.48xlarge", 8, 32, 191450, 1938410),
    ("p5e.48xlarge", 8, 32, 191450, 1938410),
    ("p5en.48xlarge", 8, 16, 191450, 1937332),
    ("p6-b200.48xlarge", 8, 8, 191450, 1937332),
    ("p6-b300.48xlarge", 8, 16, 191450, 3877198),
    ("trn1.32xlarge", 0, 8, 127610, 481894),
    ("c7i.8xlarge", 0, 0, 31850, 57691),
    ("m7i.8xlarge", 0, 0, 31850, 118312),
    ("r7i.8xlarge", 0, 0, 31850, 239554),
    ("c7i.16xlarge", 0, 0, 63770, 112779),
    ("m7i.16xlarge", 0, 0, 63770, 234021),
    ("c7i.24xlarge", 0, 0, 95690, 173400),
    ("c7i.48xlarge", 0, 1, 191450, 355262),
    ("m7i.48xlarge", 0, 1, 191450, 718987),
    ("r7i.48xlarge", 0, 1, 191450, 1446437),
    ("c7g.2xlarge", 0, 0, 7910, 14103),
    ("m5.xlarge", 0, 0, 3920, 14162),
]


def instance(name: str) -> InstanceType:
    found = load_catalog().instance(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "gpus", "efa", "cpu", "memory"), KARPENTER, ids=[row[0] for row in KARPENTER]
)
def test_agrees_with_karpenter(name: str, gpus: int, efa: int, cpu: int, memory: int) -> None:
    each = instance(name)
    left = allocatable(each, huge_pages=False)
    assert (each.gpus, each.efa_interfaces, left.cpu_milli, left.memory_mib) == (
        gpus,
        efa,
        cpu,
        memory,
    )


def test_the_table_is_whole() -> None:
    assert len(KARPENTER) == 37


def test_huge_pages_take_their_memory() -> None:
    p4d = instance("p4d.24xlarge")
    plain, taken = allocatable(p4d, huge_pages=False), allocatable(p4d, huge_pages=True)
    assert plain.memory_mib - taken.memory_mib == huge_pages_mib(p4d) == 21122
    assert plain.cpu_milli == taken.cpu_milli


# Allocatable of EKS nodes, as published: `kubectl describe node` in aws-samples/aws-do-eks (p5), in its EFA example
# (p4de), and in converged-computing/performance-study (p3dn, which is not in the catalog and has 96 vCPUs too).
@pytest.mark.parametrize(("name", "measured"), [("p4de.24xlarge", 21122), ("p5.48xlarge", 42242)])
def test_huge_pages_are_those_that_nodes_show(name: str, measured: int) -> None:
    assert huge_pages_mib(instance(name)) == measured


def test_small_nodes_have_less_huge_pages_than_the_guide_says() -> None:
    assert huge_pages_mib(instance("p5.4xlarge")) == 3522


def test_steps_account_for_everything_and_name_their_source() -> None:
    for name in ("p5.48xlarge", "c7g.2xlarge"):
        each = instance(name)
        left = allocatable(each, huge_pages=True)
        assert each.vcpus * 1000 - sum(step.cpu_milli for step in left.steps) == left.cpu_milli
        assert each.memory_mib - sum(step.memory_mib for step in left.steps) == left.memory_mib
        assert all(step.source and step.what for step in left.steps)


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("p4d.24xlarge", 737),
        ("p5.4xlarge", 118),
        ("p5.48xlarge", 100),
        ("p5en.48xlarge", 198),
        ("g6e.8xlarge", 234),
        ("g6e.48xlarge", 492),
        ("g7e.8xlarge", 506),
        ("trn1.32xlarge", 247),
        ("trn2.48xlarge", 100),
        ("m5.large", 29),
    ],
)
def test_max_pods(name: str, pods: int) -> None:
    assert max_pods(instance(name)) == pods


def test_max_pods_with_reserved_interfaces_and_prefixes() -> None:
    large = instance("m5.large")  # 3 interfaces of 10 addresses
    assert max_pods(large, reserved_enis=1) == 20
    assert max_pods(large, reserved_enis=3) == 0
    assert max_pods(large, prefix_delegation=True) == 110
    assert max_pods(instance("p5.48xlarge"), prefix_delegation=True) == 250


def test_unknown_interfaces_fall_back_to_the_kubelets_default() -> None:
    assert max_pods(instance("p6e-gb200.36xlarge")) == 110


def test_a_managed_node_group_has_no_overhead_guess() -> None:
    p4d = instance("p4d.24xlarge")
    assert (
        allocatable(p4d, huge_pages=False, vm_overhead=0).memory_mib
        == 1179648 - (11 * 737 + 255) - 100
    )


@pytest.mark.parametrize(("storage", "left"), [(20, 17), (500, 449), (1, 0)])
def test_ephemeral_storage(storage: int, left: int) -> None:
    assert (
        allocatable(instance("m5.large"), huge_pages=False, storage_gib=storage).ephemeral_gib
        == left
    )
