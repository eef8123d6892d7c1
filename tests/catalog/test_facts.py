"""What follows of the facts of an instance type, also of those that EC2 does not say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trainyard.catalog import load_catalog
from trainyard.catalog.addresses import Warm, taken
from trainyard.catalog.auto_mode import launches
from trainyard.catalog.efa import versions_of
from trainyard.catalog.instance import InstanceType
from trainyard.catalog.nccl import MEASURED, expected, largest
from trainyard.catalog.runtimes import image_of, released_runtimes
from trainyard.extensions.facts.rows import row, zone_text


def instance(name: str, **changed: Any) -> InstanceType:
    """A type of the catalog, with other facts."""
    known = load_catalog().instance(name)
    assert known is not None
    return replace(known, **changed)


@pytest.mark.parametrize(
    ("changed", "addresses"),
    [
        ({}, 100),
        ({"ipv4_per_interface": 0}, 11),
        ({"ipv4_per_interface": 1}, 11),
        ({"network_cards": ()}, 11),
    ],
)
def test_a_node_takes_an_address_for_each_pod_at_least(
    changed: dict[str, Any], addresses: int
) -> None:
    """Two interfaces of 50, where it is known how many they have."""
    assert taken(instance("p5.48xlarge", **changed), Warm(), 10, efa=False) == addresses


@pytest.mark.parametrize(
    ("changed", "launched"),
    [
        ({}, True),
        ({"vcpus": 2}, True),
        ({"vcpus": 1}, False),
        ({"size": "small"}, False),
        ({"size": "nano"}, False),
        ({"size": "medium"}, True),
        ({"family": "t1"}, False),
    ],
)
def test_auto_mode_launches_no_small_types(changed: dict[str, Any], launched: bool) -> None:
    assert launches(instance("m7i.large", **changed)) is launched


def test_a_bandwidth_is_expected_where_the_network_is_known() -> None:
    p5 = instance("p5.48xlarge")
    assert expected(p5, 2) == MEASURED["p5.48xlarge"]
    many = expected(p5, 8)
    assert many is not None
    assert (many.gb_s, many.message) == (400, 16 * 1024**3)
    assert expected(replace(p5, network_gbps=0), 8) is None
    assert expected(replace(p5, gpudirect_rdma=False), 8) is None


@pytest.mark.parametrize(("mib", "gib"), [(81559, 16), (64 * 1024, 16), (64 * 1024 - 1, 2), (0, 2)])
def test_three_buffers_of_a_message_fit(mib: int, gib: int) -> None:
    p5 = instance("p5.48xlarge", accelerator_memory_mib=mib)
    assert largest(p5) == gib * 1024**3
    other = expected(p5, 8)
    assert other is not None
    assert other.message == gib * 1024**3


def info(**more: Any) -> dict[str, Any]:
    """An answer of EC2 about a type."""
    return {
        "VCpuInfo": {"DefaultVCpus": 8},
        "MemoryInfo": {"SizeInMiB": 16384},
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "NetworkInfo": {},
        **more,
    }


AMD = {"Manufacturer": "AMD", "Name": "Radeon Pro V520", "Count": 1}
NVIDIA = {"Manufacturer": "NVIDIA", "Name": "T4", "Count": 4, "MemoryInfo": {"SizeInMiB": 16384}}


@pytest.mark.parametrize(
    ("gpus", "accelerator", "count"),
    [([NVIDIA], "T4", 4), ([AMD, NVIDIA], "T4", 4), ([AMD], None, None), ([], None, None)],
)
def test_gpus_are_those_of_nvidia(
    gpus: list[dict[str, Any]], accelerator: str | None, count: int | None
) -> None:
    entry = row(info(GpuInfo={"Gpus": gpus}))
    assert (entry.get("accelerator"), entry.get("gpus")) == (accelerator, count)


@pytest.mark.parametrize(
    ("text", "gbps", "burst"),
    [
        ("Up to 12.5 Gigabit", 12.5, True),
        ("32x 100 Gigabit", 3200, None),
        ("10 Gigabit", 10, None),
        ("Low to Moderate", None, None),
        ("", None, None),
    ],
)
def test_a_rate_is_read_from_its_text(text: str, gbps: float | None, burst: bool | None) -> None:
    entry = row(info(NetworkInfo={"NetworkPerformance": text}))
    assert (entry.get("gbps"), entry.get("burst")) == (gbps, burst)


def test_a_region_of_local_zones_alone_is_none() -> None:
    zones = {"us-west-2": ["us-west-2b", "us-west-2a"], "us-east-1": ["us-east-1-atl-1a"]}
    assert zone_text(zones) == "us-west-2:ab"


def test_the_image_of_a_runtime_is_that_of_its_nodes() -> None:
    image = image_of("torch-distributed")
    assert image is not None
    assert image in str(released_runtimes()["torch-distributed"].body)
    assert image_of("torch-of-our-team") is None


@pytest.mark.parametrize(
    ("image", "torch", "cuda"),
    [
        ("pytorch-training:2.8.0-gpu-py312", "2.8.0", None),
        ("pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2", "2.8.0", "12.9"),
        ("pytorch-training:2.8.0-cpu-py312", None, None),
    ],
)
def test_a_tag_may_say_pytorch_alone(image: str, torch: str | None, cuda: str | None) -> None:
    said = versions_of(f"763104351884.dkr.ecr.us-west-2.amazonaws.com/{image}")
    assert (said.torch, said.cuda) == (torch, cuda)
