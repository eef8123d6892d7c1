"""Configurations of others whose values are of other kinds: each is found once, and the rest is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainyard.extensions.parallelcluster.partitions.plan import POOL_TAG, Partition
from trainyard.extensions.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem
from trainyard.output import Artifact
from trainyard.plan import Plan
from trainyard.plan.scheduling import CAPACITY_TYPE, POOL_LABEL
from trainyard.verify.formats import lifted

from tests.platforms.parallelcluster.test_lint import LUSTRE, QUEUE, Q, changed, found, line_of

BUCKET = "data-111122223333"


def read(body: dict[str, Any]) -> Plan:
    return lifted([Artifact(path="c.yaml", format="parallelcluster", body=body)], closed=False)


@pytest.mark.parametrize(
    ("code", "word", "changes", "names"),
    [
        ("SCH002", "Name: 5", [(f"{Q}.Name", 5), ("Scheduling.SlurmQueues.1", QUEUE)], ["gpu", "fsx"]),
        ("SCH002", "Name: 7", [("SharedStorage.0.Name", 7)], ["gpu"]),
        ("SCH002", "- /fsx", [("SharedStorage.0.MountDir", ["/fsx"])], ["gpu"]),
        ("SCH003", "Name: a", [("SharedStorage.1", {"Name": "a", "MountDir": "/a"})], ["gpu", "fsx"]),
        (
            "SCH002",
            "BucketName: 5",
            [("HeadNode.Iam.S3Access", [{"BucketName": 5}, {"BucketName": BUCKET}])],
            ["gpu", "fsx", BUCKET],
        ),
    ],
)  # fmt: skip
def test_a_value_of_another_kind(
    code: str, word: str, changes: list[tuple[str, Any]], names: list[str], tmp_path: Path
) -> None:
    body = changed(*changes)
    assert found(body, tmp_path) == [(code, line_of(body, word))]
    plan = read(body)
    assert [
        node.name for kind in (Partition, SharedFileSystem, BucketAccess) for node in plan.of(kind)
    ] == names


def test_how_nodes_are_bought_may_not_be_known(tmp_path: Path) -> None:
    body = changed((f"{Q}.CapacityType", "SPOTS"))
    assert found(body, tmp_path) == [("SCH004", line_of(body, "SPOTS"))]
    (partition,) = read(body).of(Partition)
    assert CAPACITY_TYPE not in {each.key for each in partition.requirements}


@pytest.mark.parametrize(
    ("tags", "pools"),
    [
        ([{"Key": "team", "Value": "a"}], []),
        ([{"Key": POOL_TAG, "Value": 7}, {"Key": "team", "Value": "a"}], []),
        ([{"Key": "team", "Value": "a"}, {"Key": POOL_TAG, "Value": "h100"}], ["h100"]),
    ],
)
def test_the_pool_of_a_queue_is_said_by_its_tag(
    tags: list[dict[str, Any]], pools: list[str]
) -> None:
    (partition,) = read(changed((f"{Q}.Tags", tags))).of(Partition)
    assert [value for key, value in partition.labels.items() if key == POOL_LABEL] == pools


def test_storages_are_read_by_what_they_are() -> None:
    """One whose kind is not known has no id."""
    other = {**LUSTRE, "Name": "other", "MountDir": "/o", "StorageType": "FsxLustres"}
    given = {**LUSTRE, "FsxLustreSettings": {"FileSystemId": "fs-0a1b2c3d4e5f60718"}}
    plan = read(changed(("SharedStorage", [given, other])))
    assert [(each.name, each.id) for each in plan.of(SharedFileSystem)] == [
        *(("fsx", "fs-0a1b2c3d4e5f60718"), ("other", ""))
    ]
