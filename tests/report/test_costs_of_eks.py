"""What the report says that a cluster of EKS costs beside its jobs, by the catalog's prices of us-east-1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import Command

from report.test_report import part, rows, write

ZONE = {"zones": ["us-east-1b"]}
NAT, ADDRESS, ENDPOINT = "32.85", "3.65", "7.30"
"""USD a month of one."""


def costs(trainyard: Command, folder: Path, **parts: Any) -> dict[str, list[str]]:
    """The rows of the section by their first cell."""
    pool = {**ZONE, **parts.pop("pool", {})}
    write(folder, region="us-east-1", pool=pool, **parts)
    done = trainyard("report", "lab.yaml", cwd=folder)
    assert done.code == 0, done.out + done.err
    return {row[0]: row[1:] for row in rows(done.out, "Cost")}


@pytest.mark.parametrize(
    ("network", "gateways"),
    [
        ({}, "2"),
        ({"create": {"nat": "perZone"}}, "2"),
        ({"create": {"nat": "single"}}, "1"),
        ({"create": {"nat": "none"}}, None),
        (
            {
                "existing": {
                    "vpc": "vpc-0a1b2c3d4e5f60718",
                    "subnets": [
                        {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-east-1a"},
                        {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-east-1b"},
                    ],
                }
            },
            None,
        ),
    ],
)
def test_the_way_out_of_the_vpc(
    trainyard: Command, tmp_path: Path, network: dict[str, Any], gateways: str | None
) -> None:
    """Of a VPC that exists nothing is made, and nothing is counted."""
    found = costs(trainyard, tmp_path, network=network)
    for name, price in (("NAT gateways", NAT), ("public IPv4 addresses", ADDRESS)):
        assert (found[name][1:3] if name in found else None) == (
            [gateways, price] if gateways else None
        )


def test_endpoints_are_paid_in_each_zone(trainyard: Command, tmp_path: Path) -> None:
    found = costs(trainyard, tmp_path, network={"create": {"nat": "none"}})
    what, count, price = found["interface endpoints"][:3]
    assert (what, count, price) == ("9 in 2 zones", "18", ENDPOINT)
    assert "interface endpoints" not in costs(trainyard, tmp_path)


def test_nodes_of_a_group_and_of_auto_mode_have_root_volumes(
    trainyard: Command, tmp_path: Path
) -> None:
    size = {"rootVolume": {"size": "200Gi"}}
    group = costs(trainyard, tmp_path, pool={**size, "nodes": 4, "managedNodeGroup": {}})
    assert group["root volumes of gpu"][:3] == ["EBS gp3, 200 GiB", "4", "16.00"]
    assert group["root volumes of system"][:2] == ["EBS gp3, 100 GiB", "2 to 3"]
    auto = costs(trainyard, tmp_path, pool=size, platform={"eks": {"autoMode": {}}})
    assert auto["root volumes of gpu"][:3] == ["EBS gp3, 200 GiB", "0 to 4", "16.00"]
    assert "root volumes of system" not in auto


@pytest.mark.parametrize("grafana", [False, True])
def test_samples_and_people_of_managed_monitoring(
    trainyard: Command, tmp_path: Path, grafana: bool
) -> None:
    own = {"grafana": {"authenticationProviders": ["AWS_SSO"]}} if grafana else {}
    found = costs(trainyard, tmp_path, monitoring={"managed": own})
    assert ("editor of Grafana" in found) is grafana
    text = part(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Monitoring")
    for words in ("sent: at most $", "kept for 15 days: at most ", "asked for: $"):
        assert words in text
    assert ("Grafana: $" in text) is grafana


@pytest.mark.parametrize(
    ("config", "sick"),
    [
        ({"maxUnhealthyNodeThresholdPercentage": 50}, "2"),
        ({"maxUnhealthyNodeThresholdPercentage": 40}, "1"),
        ({"maxUnhealthyNodeThresholdCount": 3}, "3"),
        ({"maxUnhealthyNodeThresholdCount": 9}, "4"),
    ],
)
def test_sick_nodes_of_a_group(
    trainyard: Command, tmp_path: Path, config: dict[str, int], sick: str
) -> None:
    write(tmp_path, pool={"nodes": 4, "managedNodeGroup": {"nodeRepairConfig": config}})
    (row,) = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Repair of nodes")
    assert row[-1] == sick


DISK = {"size": "100Gi", "zone": "us-east-1b"}


def test_disks_of_pods_and_of_namespaces(trainyard: Command, tmp_path: Path) -> None:
    """One of each of four nodes while the job runs, and one that stays: 0.08 USD a GiB and month."""
    storage = [
        {"name": "own", "ebs": {"create": {"size": "100Gi", "each": "pod"}}},
        {"name": "kept", "ebs": {"create": {**DISK, "each": "namespace"}}},
        {"name": "there", "ebs": {"existing": {**DISK, "id": "vol-0a1b2c3d4e5f60718"}}},
    ]
    mounts = [{"storage": "own", "path": "/own"}]
    found = costs(trainyard, tmp_path, storage=storage, job={"mounts": mounts})
    assert found["own"][1:3] == ["0 to 4", "8.00"]
    assert found["kept"][1] == "0"
    assert "whose type is not said" in found["there"][0]
    job = {"nodes": 1, "mounts": [{"storage": "kept", "path": "/kept"}]}
    found = costs(trainyard, tmp_path, storage=storage, job=job)
    assert (found["own"][1], found["kept"][1]) == ("0", "1")
