"""An edit of a cluster of ParallelCluster that is committed: what it refuses, what needs a stop, which jobs end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Command
from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import updates
from trainyard.extensions.parallelcluster.history import (
    _DRAINS,
    _LOGIN_STOPS,
    _STOPS,
    _STOPS_ON_REMOVE,
)

from tests.platforms.parallelcluster.clusters import ACCOUNTING, FSX, spec

pytestmark = pytest.mark.slow

Edited = Any


@pytest.fixture
def edited(trainyard: Command, tmp_path: Path) -> Edited:
    """What ``check`` says after an edit of a cluster that is committed: codes, and its whole text."""

    def run(before: dict[str, Any], after: dict[str, Any], *more: str) -> tuple[list[str], str]:
        path = tmp_path / "lab.yaml"
        path.write_text(yaml.safe_dump(before, sort_keys=False))
        assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
        path.write_text(yaml.safe_dump(after, sort_keys=False))
        done = trainyard("compile", "--check", "lab.yaml", *more, cwd=tmp_path)
        codes = [
            line.split("[")[1].split("]")[0] for line in done.out.splitlines() if "]: " in line
        ]
        return codes, done.out

    return run


def test_nothing_is_said_without_an_edit(edited: Edited) -> None:
    assert edited(spec(), spec()) == ([], "")


@pytest.mark.parametrize(
    ("own", "code", "key"),
    [
        ({"os": "ubuntu2404"}, "CHG032", "Image/Os"),
        ({"headNode": {"instanceType": "m7i.8xlarge"}}, "CHG032", "HeadNode/InstanceType"),
        ({"scaledownIdletime": "20m"}, "CHG033", "Scheduling/SlurmSettings/ScaledownIdletime"),
        ({"detailedMonitoring": True}, "CHG033", "Monitoring/DetailedMonitoring"),
        ({"logRetentionDays": 30}, "", ""),
    ],
)
def test_keys_of_the_cluster(edited: Edited, own: dict[str, Any], code: str, key: str) -> None:
    codes, text = edited(spec(), spec(own=own))
    assert codes == ([code] if code else [])
    assert key in text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, {"count": 2}, []),
        ({"count": 2}, {"count": 0}, []),
        ({"count": 2}, {"count": 2, "gracetimePeriod": "30m"}, []),
        ({"count": 2}, {"count": 2, "instanceType": "m7i.2xlarge"}, ["CHG036"]),
        ({"count": 2}, None, ["CHG036"]),
        ({"count": 0}, {"count": 2, "instanceType": "m7i.2xlarge"}, []),
        ({"count": 0}, None, []),
    ],
)
def test_keys_of_login_nodes(
    edited: Edited, before: dict[str, Any] | None, after: dict[str, Any] | None, expected: list[str]
) -> None:
    codes, text = edited(spec(own={"loginNodes": before}), spec(own={"loginNodes": after}))
    assert codes == expected
    assert not expected or "LoginNodes" in text


@pytest.mark.parametrize(
    ("pool", "code"),
    [
        ({"nodes": 2}, "CHG033"),
        ({"nodes": 6}, ""),
        ({"rootVolume": {"size": "400Gi"}}, "CHG034"),
        ({"instanceTypes": ["p4de.24xlarge"]}, "CHG033"),
    ],
)
def test_keys_of_a_pool(edited: Edited, pool: dict[str, Any], code: str) -> None:
    job = {"nodes": 2}
    codes, text = edited(spec(job=job), spec(job=job, pool=pool))
    assert codes == ([code] if code else [])
    if code:
        assert "SlurmQueues[a100]" in text
        assert "lab.yaml:" in text


def test_a_queue_may_come_and_needs_a_stop_to_go(edited: Edited) -> None:
    more = {"name": "two", "instanceTypes": ["m7i.2xlarge"], "zones": ["us-west-2b"], "nodes": 1}
    one = spec()
    two = spec()
    two["spec"]["nodePools"].append(more)
    two["spec"]["jobs"][0]["pool"] = one["spec"]["jobs"][0]["pool"] = "a100"
    assert edited(one, two)[0] == []
    codes, text = edited(two, one)
    assert codes == ["CHG033"]
    assert "SlurmQueues[two]" in text


def test_a_file_system_that_is_mounted_stays_as_it_is(edited: Edited) -> None:
    other = [{"name": "work", "fsxLustre": {"existing": {**FSX, "id": "fs-0a1b2c3d4e5f60799"}}}]
    codes, text = edited(spec(), spec(storage=other))
    assert codes == ["CHG032"]
    assert "SharedStorage[work]/FsxLustreSettings/FileSystemId" in text


def test_accounting_comes_while_no_node_runs(edited: Edited) -> None:
    codes, text = edited(spec(), spec(own={"accounting": ACCOUNTING}))
    assert "CHG033" in codes
    assert "Scheduling/SlurmSettings/Database" in text


def test_a_job_that_is_changed_is_not_submitted_twice(edited: Edited) -> None:
    codes, text = edited(spec(), spec(job={"command": ["torchrun", "u.py"]}))
    assert codes == ["RES030"]
    assert "add `rerun: 1` to run it again" in text
    codes, text = edited(spec(), spec(job={"command": ["torchrun", "u.py"], "rerun": 1}))
    assert codes == ["CHG035"]
    assert "starts after its end" in text
    assert edited(spec(), spec(job={"nodes": 2}), "--replace", "train")[0] == []


def test_a_slip_in_the_name_of_what_is_replaced(
    edited: Edited, trainyard: Command, tmp_path: Path
) -> None:
    edited(spec(), spec())
    done = trainyard("compile", "lab.yaml", "--replace", "trian", cwd=tmp_path)
    assert done.code == 2
    assert "did you mean `train`" in done.err


def test_a_job_is_the_same_as_long_as_the_spec_says_the_same_of_it(edited: Edited) -> None:
    """Its pool grows and its nodes get another disk: the script may change, the run does not."""
    pool = {"nodes": 6, "rootVolume": {"size": "400Gi"}}
    assert "RES030" not in edited(spec(), spec(pool=pool))[0]


def test_a_job_that_leaves_is_cancelled_and_one_that_is_completed_is_not(edited: Edited) -> None:
    codes, text = edited(spec(), spec(jobs=None))
    assert codes == ["CHG035"]
    assert "cancels `train-" in text
    assert "RES030" not in edited(spec(), spec(job={"completed": True}))[0]


def test_a_committed_file_that_cannot_be_read(
    edited: Edited, trainyard: Command, tmp_path: Path
) -> None:
    edited(spec(), spec())
    script = tmp_path / "generated/lab/jobs/training/train.sbatch"
    script.unlink()
    script.mkdir()
    done = trainyard("compile", "--check", "lab.yaml", cwd=tmp_path)
    assert "error[CHG031]" in done.out


@pytest.mark.parametrize("is_there", [True, False])
def test_a_configuration_that_cannot_be_read_is_written_anew(
    edited: Edited, trainyard: Command, tmp_path: Path, is_there: bool
) -> None:
    """In the middle of a merge, or taken away: with it goes what ParallelCluster would be asked to change."""
    edited(spec(), spec(own={"os": "ubuntu2404"}))
    committed = tmp_path / "generated/lab/bootstrap/cluster.yaml"
    text = committed.read_text()
    committed.unlink()
    if is_there:
        committed.write_text(f"<<<<<<< HEAD\n{text}")
    done = trainyard("compile", "lab.yaml", cwd=tmp_path)
    assert (done.code, done.out.count("CHG032")) == (0, 0)
    assert committed.read_text() == text.replace("alinux2023", "ubuntu2404")


def test_every_policy_of_update_is_judged() -> None:
    """A policy that a newer ParallelCluster brings is decided here, not passed over."""
    harmless = {
        *("SUPPORTED", "IGNORED", "SUPPORTED_UNLESS_ADC"),
        # mounts of file systems that exist need no stop where a QueueUpdateStrategy is set
        "SHARED_STORAGE_UPDATE_POLICY",
        # buckets of one's own and attributes of Chef: Trainyard writes none
        *("READ_ONLY_RESOURCE_BUCKET", "EXTRA_CHEF_ATTRIBUTES"),
        "RESIZE_UPDATE_STRATEGY_ON_REMOVE",
    }
    judged = {"UNSUPPORTED", *_STOPS, *_STOPS_ON_REMOVE, *_LOGIN_STOPS, *_DRAINS, *harmless}
    assert set(updates().values()) == judged
