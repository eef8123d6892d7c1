"""The report of a cluster of ParallelCluster: what it has instead of a control plane, pods and Karpenter."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from running import Command

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
