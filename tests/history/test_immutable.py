"""Edits that the API server refuses for ever are refused by ``compile``, at the line of the spec."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, spec
from running import Command, contents, snapshot
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed
from trainyard.run.history.immutable import RULES, refused_edits

from history.folder import compiled, write

pytestmark = pytest.mark.slow

BLOCK = {
    "block": {
        "reservations": [{"id": "cr-0a1b2c3d4e5f60713"}],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-15T11:30:00Z",
    }
}
ALWAYS_ON = {"nodes": 4, "topology": "network"}


def mounted(**fsx: Any) -> dict[str, Any]:
    """A spec whose job mounts a file system."""
    storage = [
        {
            "name": "data",
            "fsxLustre": {"existing": {**FSX, "address": "10.80.1.11", "version": "2.15", **fsx}},
        }
    ]
    return spec(job={"mounts": [{"storage": "data", "path": "/data"}]}, storage=storage)


EDITS = {
    "a dynamic pool becomes static": (
        spec(jobs=[]),
        spec(jobs=[], pool={"nodes": 4}),
        "`spec.replicas` of NodePool/gpu",
        8,
    ),
    "a static pool becomes dynamic": (
        spec(jobs=[], pool={"nodes": 4}),
        spec(jobs=[]),
        "`spec.replicas` of NodePool/gpu",
        8,
    ),
    "topology is taken from a flavor": (
        spec(jobs=[], pool=ALWAYS_ON),
        spec(jobs=[], pool={**ALWAYS_ON, "topology": "none"}),
        "`spec.topologyName` of ResourceFlavor/gpu",
        None,
    ),
    "taints of a flavor with topology": (
        spec(jobs=[], pool=ALWAYS_ON),
        spec(jobs=[], pool={**ALWAYS_ON, "taints": [{"key": "team", "value": "a"}]}),
        "`spec.tolerations` of ResourceFlavor/gpu",
        None,
    ),
    "another file system under the same name": (
        mounted(),
        mounted(id="fs-0a1b2c3d4e5f60799"),
        "`spec.csi.volumeHandle` of PersistentVolume/training-data",
        None,
    ),
    "a file system that shrinks": (
        mounted(size="2400Gi"),
        mounted(),
        "`spec.resources.requests.storage` of PersistentVolumeClaim/training/data",
        None,
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_that_the_api_refuses(what: str, trainyard: Command, tmp_path: Path) -> None:
    before, after, field, _ = EDITS[what]
    assert compiled(tmp_path, trainyard, before).code == 0
    written = snapshot(tmp_path / "generated")
    done = compiled(tmp_path, trainyard, after)
    assert done.code == 1
    assert f"error[CHG002]: {field} cannot change: " in done.out
    assert "--> spec.yaml:" in done.out
    assert "nothing was written" in done.err
    assert snapshot(tmp_path / "generated") == written
    shutil.rmtree(tmp_path / "generated" / "lab")
    assert compiled(tmp_path, trainyard, after).code == 0


def test_the_message_shows_what_was_edited(trainyard: Command, tmp_path: Path) -> None:
    """Not the mapping around it, whose first characters are the same before and after."""
    assert compiled(tmp_path, trainyard, mounted()).code == 0
    done = compiled(tmp_path, trainyard, mounted(address="10.80.1.12"))
    assert (
        "`spec.csi.volumeAttributes.dnsname` of PersistentVolume/training-data cannot change: "
        in done.out
    )
    assert "`10.80.1.11` → `10.80.1.12`" in done.out


def test_edits_that_the_api_takes(trainyard: Command, tmp_path: Path) -> None:
    """More nodes, other taints of a flavor without topology, another quota: nothing is refused."""
    assert compiled(tmp_path, trainyard, spec(jobs=[])).code == 0
    edit = spec(jobs=[], pool={"nodes": {"max": 8}, "taints": [{"key": "team", "value": "a"}]})
    assert compiled(tmp_path, trainyard, edit).code == 0


def test_a_file_system_that_grew(trainyard: Command, tmp_path: Path) -> None:
    """The volume says so; the claim keeps what it asked for, and jobs are not touched."""
    assert compiled(tmp_path, trainyard, mounted()).code == 0
    before = contents(tmp_path / "generated" / "lab")
    done = compiled(tmp_path, trainyard, mounted(size="2400Gi"))
    assert (done.code, done.out) == (0, "")
    after = contents(tmp_path / "generated" / "lab")
    changed = {
        path for path in after if after[path] != before.get(path) and path.startswith("platform")
    }
    assert changed == {"platform/persistentvolume-training-data.yaml"}
    assert trainyard("compile", "--check", "spec.yaml", cwd=tmp_path).code == 0


def test_an_object_that_is_new_or_was_edited_is_not_judged(tmp_path: Path) -> None:
    body = {"kind": "PriorityClass", "metadata": {"name": "p"}, "value": 1}
    assert refused_edits([Manifest(body, "p.yaml")], Committed(tmp_path)) == []


def test_all_is_said_at_once(trainyard: Command, tmp_path: Path) -> None:
    """What would run twice, what cannot change, and what policies find of the rest."""
    assert compiled(tmp_path, trainyard, spec()).code == 0
    edit = spec(pool={"nodes": 4}, job={"nodes": 5})
    done = compiled(tmp_path, trainyard, edit)
    assert done.code == 1
    assert "error[CHG002]" in done.out
    assert "error[RES030]" in done.out
    assert "lower the job to 4 nodes" in done.out


def test_a_reserved_pool_that_leaves_stays_in_the_cluster(
    trainyard: Command, tmp_path: Path
) -> None:
    """It costs as before, so the edit that removes it says how to be rid of it; other pools are pruned."""
    block = {
        "name": "block",
        "instanceTypes": ["p5.48xlarge"],
        "zones": ["us-west-2b"],
        "nodes": 4,
        "capacity": BLOCK,
    }
    dynamic = {
        "name": "other",
        "instanceTypes": ["p5.48xlarge"],
        "zones": ["us-west-2b"],
        "nodes": {"max": 1},
    }
    gpu = spec()["spec"]["nodePools"][0]
    assert compiled(tmp_path, trainyard, spec(jobs=[], nodePools=[gpu, block, dynamic])).code == 0
    done = compiled(tmp_path, trainyard, spec(jobs=[]))
    assert done.code == 0
    assert re.findall(r"\[CHG007\]: NodePool `([\w-]+)` leaves", done.out) == [
        "block-cr-0a1b2c3d4e5f60713"
    ]
    assert "`kubectl delete nodepool,ec2nodeclass block-cr-0a1b2c3d4e5f60713`" in done.out
    done = trainyard("compile", "--check", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")


def test_a_reserved_pool_keeps_its_node_class(trainyard: Command, tmp_path: Path) -> None:
    """Flux prunes neither: without its class a NodePool is not Ready, and replaces no node."""
    block = {"nodes": 4, "capacity": BLOCK}
    for pool, kept in ((block, True), ({}, False)):
        shutil.rmtree(tmp_path / "generated", ignore_errors=True)
        write(tmp_path, spec(jobs=[], pool=pool))
        assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
        name = "gpu-cr-0a1b2c3d4e5f60713" if kept else "gpu"
        for path in (f"nodepool-{name}.yaml", f"ec2nodeclass-{name}.yaml"):
            written = (tmp_path / "generated" / "lab" / "platform" / path).read_text()
            assert ("prune: disabled" in written) is kept


def test_every_rule_has_a_source() -> None:
    rules = [rule for rules in RULES.values() for rule in rules]
    assert len(rules) > 20
    assert all(rule.source and rule.help and rule.path for rule in rules)
