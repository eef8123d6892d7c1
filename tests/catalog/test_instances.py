"""Instance types, regions and zones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from trainyard.catalog import InstanceType, load_catalog
from trainyard.catalog.catalog import DATA
from trainyard.extensions.facts.build import built

SHARED = Path(__file__).parents[3] / "shared" / "aws" / "instances.json"
CATALOG = load_catalog()


def instance(name: str) -> InstanceType:
    found = CATALOG.instance(name)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    if not SHARED.exists():
        pytest.skip("no reference data at ../shared/aws/instances.json")
    found: dict[str, Any] = json.loads(SHARED.read_text("utf-8"))["instances"]
    return found


def test_every_reference_type_is_there(reference: dict[str, Any]) -> None:
    assert reference.keys() - CATALOG.instance_types.keys() == set()


def expected(facts: dict[str, Any]) -> dict[str, Any]:
    gpu = facts["gpus"][0] if facts["gpus"] else {}
    neuron = facts["neuron_devices"][0] if facts["neuron_devices"] else {}
    nvme = facts["local_nvme"] or {"total_gb": 0, "disks": []}
    return {
        "arch": facts["arch"],
        "vcpus": facts["vcpus"],
        "memory_mib": facts["memory_mib"],
        "bare_metal": facts["bare_metal"],
        "gpus": gpu.get("count", 0),
        "gpu_partition": gpu.get("partition_size", 1.0),
        "accelerator": gpu.get("name") or neuron.get("name"),
        # Neuron documentation 2.29.0, Trainium2 architecture: 96 GiB; EC2's stored answer has 512.
        "accelerator_memory_mib": 98304
        if neuron.get("name") == "Trainium2"
        else (gpu.get("memory_mib_each") or neuron.get("memory_mib_each") or 0),
        "accelerators": gpu.get("count", 0) or neuron.get("count", 0),
        "neuron_cores": neuron.get("count", 0) * neuron.get("cores_each", 0),
        "efa_interfaces": facts["efa_max_interfaces"] or 0,
        "efa_cards": tuple(facts["efa_cards"] or ()),
        "ipv4_per_interface": facts.get("ipv4_per_interface", 0),
        "amx": facts["amx"],
        "network_gbps": facts["network_gbps"],
        "network_burst": facts["network_gbps_is_burst"],
        "gpudirect_rdma": bool(facts["gpudirect_rdma"]),
        "nvlink_gb_s": (facts["nvlink"] or {}).get("gpu_to_gpu_gb_s", 0),
        "nvme_gb": nvme["total_gb"],
        "nvme_disks": sum(disk["count"] for disk in nvme["disks"]),
        "placement_strategies": tuple(facts["placement_strategies"]),
        "usage_classes": tuple(facts["usage_classes"]),
        "zones": {
            region: tuple(zones) for region, zones in facts.get("offering_zones", {}).items()
        },
        # The reference has cn-north-1 too, but those are CNY of 2024: no price here.
        "price_usd_hour": {
            region: price
            for region, price in facts["ondemand_usd_hour_by_region"].items()
            if not region.startswith("cn-")
        },
        "capacity_block": facts["capacity_block_supported"],
        "spot": facts["spot_supported"],
    }


def test_facts_equal_the_reference(reference: dict[str, Any]) -> None:
    wrong = {}
    for name, facts in reference.items():
        want = expected(facts)
        have = {key: getattr(instance(name), key) for key in want}
        differ = {key: (have[key], want[key]) for key in want if have[key] != want[key]}
        if differ:
            wrong[name] = differ
    assert wrong == {}


def test_network_cards_equal_the_reference(reference: dict[str, Any]) -> None:
    for name, facts in reference.items():
        cards = [
            (card["index"], card["max_interfaces"], tuple(card["interface_types"]))
            for card in facts["network_cards"] or ()
        ]
        assert [
            (card.index, card.max_interfaces, card.types) for card in instance(name).network_cards
        ] == cards, name


@pytest.mark.slow
def test_the_data_file_is_what_the_script_makes() -> None:
    assert (DATA / "instances.json").read_text("utf-8") == built()


def test_system_node_families_are_there() -> None:
    families = {each.partition(".")[0] for each in CATALOG.instance_types}
    assert families >= {"m5", "m6i", "m7i", "m7g", "c7g", "c7i", "c6i", "r7g", "r8g"}


def test_every_entry_is_sound() -> None:
    for name, each in CATALOG.instance_types.items():
        assert min(each.vcpus, each.memory_mib) > 0, name
        assert len(each.efa_cards) == each.efa_interfaces or "efa_interfaces" in each.unknown, name
        assert each.usage_classes, name
        assert (each.accelerator_resource is None) == (each.accelerators == 0), name
        for region, zones in each.zones.items():
            assert set(zones) <= set(CATALOG.regions[region]), name


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("m5.large", ((0, 0, "interface"),)),
        ("g6e.8xlarge", ((0, 0, "interface"), (0, 1, "efa-only"))),
        (
            "p4d.24xlarge",
            (
                (0, 0, "interface"),
                (0, 1, "efa-only"),
                (1, 0, "efa-only"),
                (2, 0, "efa-only"),
                (3, 0, "efa-only"),
            ),
        ),
        (
            "p6-b300.48xlarge",
            ((0, 0, "interface"), *((card, 0, "efa-only") for card in range(1, 17))),
        ),
        ("p6e-gb200.36xlarge", ()),
    ],
)
def test_efa_layout(name: str, layout: tuple[tuple[int, int, str], ...]) -> None:
    assert instance(name).efa_layout() == layout


def test_efa_layouts_obey_ec2() -> None:
    for each in CATALOG.instance_types.values():
        layout = each.efa_layout()
        assert len({(card, device) for card, device, _ in layout}) == len(layout)
        assert sum(kind == "efa-only" for *_, kind in layout) == each.efa_interfaces
        assert not layout or layout[0] == (0, 0, "interface")


def test_what_no_source_tells_is_marked() -> None:
    gb200 = instance("p6e-gb200.36xlarge")
    assert {"efa_interfaces", "network_cards", "zones"} <= gb200.unknown
    assert gb200.capacity_block
    assert not gb200.spot
    assert gb200.gpus == 4
    assert instance("p4d.24xlarge").unknown == frozenset()


def test_a_slice_of_a_gpu_is_no_gpu() -> None:
    sliced = instance("g6f.large")
    assert (sliced.gpus, sliced.gpu_partition, sliced.accelerator_resource) == (0, 0.125, None)


def test_zones() -> None:
    assert CATALOG.regions["us-east-1"] == tuple(f"us-east-1{letter}" for letter in "abcdef")
    assert CATALOG.regions["us-gov-west-1"] == ()  # exists, zones unknown
    assert instance("p4d.24xlarge").zones["ap-northeast-2"] == (
        "ap-northeast-2b",
        "ap-northeast-2d",
    )


@pytest.mark.parametrize(
    ("word", "best"),
    [("p4d.24xlage", "p4d.24xlarge"), ("P5-48xlarge", "p5.48xlarge"), ("p5.48xl", "p5.48xlarge")],
)
def test_near(word: str, best: str) -> None:
    assert CATALOG.near(word)[0] == best


def test_nothing_is_near() -> None:
    assert CATALOG.near("zzzzzzzz") == []


def test_every_set_has_source_version_and_date() -> None:
    assert len(CATALOG.sources) > 15
    for source in CATALOG.sources:
        assert all((source.name, source.url_or_package, source.date.startswith("2026"))), source


def test_loading_imports_nothing_heavy() -> None:
    script = (
        "import sys; from trainyard.catalog import load_catalog; load_catalog().instance('p5.48xlarge');"
        "print(*sorted({'boto3', 'moto', 'pydantic', 'difflib', 'yaml', 'string'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
