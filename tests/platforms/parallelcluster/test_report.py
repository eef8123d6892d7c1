"""The report of a cluster of ParallelCluster: what it has instead of a control plane, pods and Karpenter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from failures.walking import read
from running import Command
from trainyard.extensions.forecast.blocks import Table
from trainyard.extensions.parallelcluster.report import costs, repair

from tests.platforms.parallelcluster.clusters import ACCOUNTING, spec

QUEUES = [
    {"name": "one", "namespaces": ["training"], "quota": [{"pool": "a100", "nodes": 3}]},
    {"name": "two", "namespaces": ["other"], "quota": [{"pool": "a100", "nodes": 1}]},
]


@pytest.mark.parametrize("own", [{}, {"accounting": ACCOUNTING}], ids=["partitions", "accounts"])
def test_what_is_said_is_of_slurm(
    trainyard: Command, tmp_path: Path, own: dict[str, object]
) -> None:
    body = spec(queues=QUEUES, job={"nodes": 3, "queue": "one"}, own=own)
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(body, sort_keys=False))
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert done.code == 0, done.err
    text = done.out
    for foreign in ("Karpenter", "kubectl", "EKS", "control plane", "| system |", "pods"):
        assert foreign not in text, foreign
    assert "| head node | m7i.2xlarge | 1 | " in text
    assert "| a100 | p4d.24xlarge | " in text
    assert "| root volume of the head node | EBS gp3, " in text
    assert "| one | a100 | 3 | 0 | 3 | 3 |  |" in text
    assert "| two | a100 | 1 | 0 | 0 | 0 |  |" in text
    assert "p4d.24xlarge; pool a100; " in text
    assert "the head node replaces the node within 1m; Slurm puts it back into its queue" in text
    assert "pcluster update-compute-fleet --status START_REQUESTED" in text


def test_login_nodes_are_paid_for_as_long_as_they_are_there() -> None:
    def rows(count: int) -> list[tuple[str, str, int, int, float | None]]:
        _, planned = read(spec(own={"loginNodes": {"count": count, "instanceType": "m7i.xlarge"}}))
        items = [item for item in costs(planned) if item.name == "login nodes"]
        return [(item.name, item.what, item.least, item.most, item.usd) for item in items]

    assert rows(2) == [("login nodes", "m7i.xlarge", 2, 2, 0.2016)]
    assert rows(0) == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, [("a100", "4", "before each job, by DCGM")]),
        ({"pool": {"instanceTypes": ["m7i.4xlarge"]}}, [("a100", "4", "it has none")]),
    ],
)
def test_which_partitions_have_gpus_that_are_tested(
    parts: dict[str, Any], expected: list[tuple[str, ...]]
) -> None:
    _, planned = read(spec(jobs=[], **parts))
    *_, table = repair(planned)
    assert isinstance(table, Table)
    assert list(table.rows) == expected


def test_nothing_is_repaired_where_no_queue_has_nodes() -> None:
    quota = [{"pool": "a100", "nodes": 0}]
    queues = [{"name": "one", "namespaces": ["training"], "quota": quota}]
    _, planned = read(spec(jobs=[], queues=queues))
    assert list(repair(planned)) == []
