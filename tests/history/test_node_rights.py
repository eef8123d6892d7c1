"""Rights that the role of nodes loses to an add-on."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import spec
from running import Command

from history.folder import compiled

pytestmark = pytest.mark.slow

CNI = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
WORKER = "      - arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy\n"


def test_a_cluster_whose_nodes_had_the_rights_of_an_add_on_is_told(
    tmp_path: Path, trainyard: Command
) -> None:
    assert compiled(tmp_path, trainyard, spec()).code == 0
    stack = tmp_path / "generated/lab/bootstrap/stack.yaml"
    text = stack.read_text()
    assert CNI not in text
    assert "CHG120" not in trainyard("check", "spec.yaml", cwd=tmp_path).out
    assert text.count(WORKER) == 1
    stack.write_text(text.replace(WORKER, f"      - {CNI}\n{WORKER}"))
    told = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert told.code == 0
    lost = "nodes lose `AmazonEKS_CNI_Policy`, which add-on `vpc-cni` has by a role of its own"
    assert f"note[CHG120]: {lost}" in told.out
    assert "--service-account aws-node" in told.out
