"""ParallelCluster's own command takes our configurations, and refuses what our checks refuse."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT
from running import stand_ins

from tests.platforms.parallelcluster.clusters import LIKE_A_REAL_FILE, SUBNETS, WATCHED, files, spec
from tests.platforms.parallelcluster.test_configuration import example
from tests.platforms.parallelcluster.test_lint import F, Q, R, S, changed, found
from tests.platforms.passes import compiled

PYTHON = ROOT / ".venv-pcluster" / "bin" / "python"
ORACLE = Path(__file__).with_name("oracle.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON.exists(), reason="aws-parallelcluster is not installed: run `make pcluster`"
    ),
]


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answers of EC2 that moto ships."""
    package = find_spec("moto")
    assert package is not None
    assert package.origin is not None
    packed = Path(package.origin).parent / "ec2" / "resources" / "instance_types.json.gz"
    file = tmp_path_factory.mktemp("types") / "types.json"
    file.write_bytes(gzip.decompress(packed.read_bytes()))
    return file


Ask = Callable[[str, str], list[list[str]]]


@pytest.fixture(scope="module")
def said(types: Path) -> Iterator[Ask]:
    """What the package finds in a configuration for a Region."""
    command = [str(PYTHON), str(ORACLE), str(types)]
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as oracle:
        yield lambda configuration, region: asked(oracle, configuration, region)


def asked(oracle: subprocess.Popen[str], configuration: str, region: str) -> list[list[str]]:
    assert oracle.stdin is not None
    assert oracle.stdout is not None
    print(json.dumps([configuration, region]), file=oracle.stdin, flush=True)
    answer: list[list[str]] = json.loads(oracle.stdout.readline())
    return answer


AWS = """#!/bin/bash
case "$*" in
  *Group*) echo sg-0a1b2c3d4e5f60718 ;;
  *) printf 'fs-%017d\\n' "$(echo "$*" | cksum | cut -d ' ' -f 1)" ;;
esac
"""


def whole(written: dict[str, str], folder: Path) -> str:
    """The configuration as ``up.sh --config`` puts it together."""
    for path, text in written.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    path = stand_ins(folder / "bin", {"aws": AWS})
    run = subprocess.run(
        ["bash", str(folder / "bootstrap" / "up.sh"), "--config"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": path},
    )
    assert run.returncode == 0, run.stderr
    assert "$" not in run.stdout
    return run.stdout


def test_it_takes_the_example(said: Ask, tmp_path: Path) -> None:
    text = whole(files(example()), tmp_path)
    results = said(text, "ap-southeast-3")
    assert [result for result in results if result[0] == "ERROR"] == []
    assert {result[1] for result in results if result[0] == "WARNING"} == {
        "DetailedMonitoringValidator"
    }


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"pool": {"capacity": {"spot": {}}, "nodes": {"max": 4}}},
        {"pool": {"instanceTypes": ["m7i.4xlarge", "m6i.4xlarge"]}, "job": {"nodes": 2}},
        {"storage": [], "job": {"mounts": [], "checkpoint": None, "retries": 1}},
        {"own": LIKE_A_REAL_FILE},
        WATCHED,
        {"own": {"loginNodes": {"count": 2, "gracetimePeriod": "30m"}}},
        {
            "own": {
                "loginNodes": {
                    "count": 0,
                    "subnet": SUBNETS[1]["id"],
                    "allowedCidr": "203.0.113.0/24",
                }
            }
        },
        {"own": {"customSlurmSettings": {"MaxArraySize": 10001}, "os": "alinux2023"}},
    ],
)
def test_it_takes_every_form(parts: dict[str, Any], said: Ask, tmp_path: Path) -> None:
    text = whole(files(compiled(spec(**parts), tmp_path)), tmp_path)
    results = said(text, "us-west-2")
    assert [result for result in results if result[0] == "ERROR"] == []


BLOCK = [
    (f"{Q}.CapacityType", "CAPACITY_BLOCK"),
    (f"{R}.InstanceType", "p5e.48xlarge"),
    (f"{R}.CapacityReservationTarget", {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}),
    (f"{R}.Networking", {}),
]


@pytest.mark.parametrize(
    "changes",
    [
        [("Image.Os", "alinux2")],
        [("HeadNode.LocalStorage", {"RootVolume": {"Snapshot": True}})],
        [(f"{Q}.Networking.SubnetIds.1", "subnet-0a1b2c3d4e5f60799")],
        [(f"{S}.CustomSlurmSettings", [{"ResumeTimeout": 1800}])],
        [(f"{Q}.CustomSlurmSettings", {"State": "UP"})],
        [(f"{Q}.Name", "GPU_1")],
        [(f"{Q}.Name", "a" * 26)],
        [(f"{R}.MinCount", 5)],
        [*BLOCK, (f"{R}.MinCount", 2)],
        [*BLOCK, (f"{R}.MinCount", 0)],
        [(f"{R}.Networking", {})],
        [(f"{R}.Efa", {"Enabled": False, "GdrSupport": True})],
        [("SharedStorage.0.MountDir", "/opt/slurm")],
        [(f"{F}.StorageCapacity", 1300)],
        [(f"{F}.PerUnitStorageThroughput", 200)],
        [(f"{F}.DailyAutomaticBackupStartTime", "01:00")],
        [
            (f"{F}.DeploymentType", "PERSISTENT_1"),
            (f"{F}.PerUnitStorageThroughput", 200),
            (f"{F}.ExportPath", "s3://bucket"),
        ],
        [
            (f"{F}.DeploymentType", "PERSISTENT_1"),
            (f"{F}.PerUnitStorageThroughput", 200),
            (f"{F}.ImportPath", "s3://bucket"),
            (f"{F}.AutomaticBackupRetentionDays", 7),
        ],
        [
            ("HeadNode.Networking.SecurityGroups", ["sg-0a1b2c3d4e5f60718"]),
            ("HeadNode.Networking.AdditionalSecurityGroups", ["sg-0a1b2c3d4e5f60719"]),
        ],
    ],
)
def test_what_it_refuses_we_refuse(
    changes: list[tuple[str, Any]], said: Ask, tmp_path: Path
) -> None:
    body = changed(*changes)
    results = said(yaml.safe_dump(body), "us-west-2")
    assert [result for result in results if result[0] == "ERROR"] != []
    assert {code for code, _ in found(body, tmp_path)} & {"SCH001", "SCH004", "SCH011"}


def test_it_takes_what_we_take(said: Ask, tmp_path: Path) -> None:
    results = said(yaml.safe_dump(changed()), "us-west-2")
    assert [result for result in results if result[0] == "ERROR"] == []
