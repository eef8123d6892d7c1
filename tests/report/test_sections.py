"""What sections of the report say of what is rare, and where something is not known or too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FSX, POOL, dumped
from running import Command

from report.test_report import part, rows, write
from tests.platforms.hyperpod.test_governance import governed
from tests.platforms.parallelcluster.clusters import spec as slurm_spec

pytestmark = pytest.mark.slow

RESERVATION = {"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}
IN_BLOCKS_ALONE = {
    "instanceTypes": ["p5e.48xlarge"],
    "zones": ["us-west-2a"],
    "nodes": 4,
    "capacity": {"reserved": {"reservations": [RESERVATION]}},
}
"""A pool of a type that nobody lists on demand: it is counted by the price of its Capacity Blocks."""
LUSTRE = {"name": "data", "fsxLustre": {"existing": {**FSX, "throughputPerTiB": 125}}}
SAVING: dict[str, Any] = {
    "nodes": 2,
    "mounts": [{"storage": "data", "path": "/data"}],
    "checkpoint": {"path": "/data/run", "every": "30m"},
    "model": {"parameters": 1.7e9, "sharding": "full"},
}
TIMES = slice(3, 11)
"""The columns of a checkpoint: write, read, as fast as, a failure every, saved every, best, lost, costs."""


def report(trainyard: Command, folder: Path, **parts: Any) -> str:
    write(folder, **parts)
    done = trainyard("report", "lab.yaml", cwd=folder)
    assert done.code == 0, done.out
    return done.out


def of_data(trainyard: Command, folder: Path, data: dict[str, Any]) -> str:
    (folder / "lab.yaml").write_text(dumped(data))
    done = trainyard("report", "lab.yaml", cwd=folder)
    assert done.code == 0, done.out
    return done.out


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # without an interval in the spec
        ({"job": {**SAVING, "checkpoint": {"path": "/data/run"}}}, {4: "?", 6: "?", 7: "?"}),
        ({"pool": {"meanTimeBetweenFailures": "1000h"}}, {3: "500h", 5: "6h40m", 6: "9.1%"}),
        # without GPUs nothing says how often a node fails
        (
            {"pool": {"instanceTypes": ["m7i.8xlarge"]}},
            {3: "?", 4: "30m", 5: "?", 6: "?", 7: "0.6 node hours, $1"},
        ),
        ({"pool": IN_BLOCKS_ALONE}, {7: "0.6 node hours, $32"}),
        # a file system whose throughput nobody says
        (
            {"storage": [{"name": "data", "fsxLustre": {"existing": FSX}}]},
            {0: "?", 1: "?", 2: "?", 5: "?", 6: "?", 7: "?"},
        ),
    ],
)
def test_what_is_not_known_of_checkpoints(
    trainyard: Command, tmp_path: Path, parts: dict[str, Any], expected: dict[int, str]
) -> None:
    given = {"job": SAVING, "storage": [LUSTRE], **parts}
    (row,) = rows(report(trainyard, tmp_path, **given), "Checkpoints")
    cells = row[TIMES]
    assert {place: cells[place] for place in expected} == expected


def test_how_often_nodes_fail_is_what_the_pool_says(trainyard: Command, tmp_path: Path) -> None:
    pool = {"meanTimeBetweenFailures": "1000h"}
    write(tmp_path, job=SAVING, storage=[LUSTRE], pool=pool)
    done = trainyard("report", "lab.yaml", "--why", "train a failure every", cwd=tmp_path)
    assert "500h: `meanTimeBetweenFailures: 1000h` of a node, by 2 nodes\n" in done.out


def test_what_nothing_makes_must_exist(trainyard: Command, tmp_path: Path) -> None:
    links = [
        {"path": "/tokens", "s3": "s3://datasets-111122223333/tokens/"},
        {"path": "/runs", "storage": "objects"},
    ]
    lustre = {"size": "1200Gi", "throughputPerTiB": 125, "dataRepositories": links}
    disk = {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "200Gi"}
    storage = [
        LUSTRE,
        {"name": "objects", "s3": {"existing": {"bucket": "runs-111122223333"}}},
        {"name": "disk", "ebs": {"existing": disk}},
        {"name": "scratch", "ebs": {"create": {"each": "pod", "size": "10Gi"}}},
        {"name": "made", "fsxLustre": {"create": lustre}},
    ]
    text = report(trainyard, tmp_path, storage=storage)
    assert part(text, "Must exist").splitlines()[2:6] == [
        "- file system `fs-0a1b2c3d4e5f60718`",
        "- bucket `runs-111122223333`",
        "- EBS volume `vol-0a1b2c3d4e5f60718`",
        "- bucket of `s3://datasets-111122223333/tokens/`",
    ]
    kinds = {row[0]: row[1] for row in rows(text, "Storage")}
    assert kinds["disk"] == "EBS volume vol-0a1b2c3d4e5f60718 in us-west-2b"
    assert kinds["scratch"] == "EBS volumes, one for each pod"


def test_where_all_is_made_nothing_must_exist(trainyard: Command, tmp_path: Path) -> None:
    flux = {"url": "https://git.test/fleet"}
    assert "## Must exist" not in report(trainyard, tmp_path, flux=flux, jobs=[])


def test_what_task_governance_makes_need_not_exist(trainyard: Command, tmp_path: Path) -> None:
    """Its LocalQueue and its priority class come with its requests; the simulation knows neither."""
    priority = {"name": "urgent", "value": 90}
    text = of_data(trainyard, tmp_path, governed(priorities=[priority], job={"priority": "urgent"}))
    assert "Queue" not in part(text, "Must exist")
    assert "Priority" not in part(text, "Must exist")
    done = trainyard("simulate", "lab.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (
        0,
        "lab: no job to simulate\n"
        "  train  NOT SIMULATED: its queue is made by something else, which says what it may use\n",
    )


def test_nodes_that_are_of_no_team_have_no_table_of_teams(
    trainyard: Command, tmp_path: Path
) -> None:
    data = slurm_spec(storage=[], job={"mounts": [], "checkpoint": None})
    assert "## Cost by team" not in of_data(trainyard, tmp_path, data)


def test_diagnostics_of_new_nodes_are_in_the_times_of_kueue(
    trainyard: Command, tmp_path: Path
) -> None:
    pool = {"burnIn": {"diagnostics": {"level": 2}}}
    ready, lost = rows(report(trainyard, tmp_path, pool=pool), "Timeouts")[:2]
    assert ready[2].endswith("a node from nothing 15m, its diagnostics 2m, its image 10m")
    assert ready[3] == "at least 27m"
    assert lost[3] == "at least 37m"


KUEUE = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


@pytest.mark.parametrize(
    ("waits", "shown"),
    [
        ("", []),
        ("waitForPodsReady: {enable: true, timeout: 40m}\n", ["40m"]),
        ("waitForPodsReady: {enable: true, timeout: 40m, recoveryTimeout: 50m}\n", ["40m", "50m"]),
    ],
)
def test_kueue_waits_as_its_patched_configuration_says(
    trainyard: Command, tmp_path: Path, waits: str, shown: list[str]
) -> None:
    path = "/spec/values/managerConfig/controllerManagerConfigYaml"
    frameworks = "integrations: {frameworks: [trainer.kubeflow.org/trainjob]}\n"
    edit = {"op": "replace", "path": path, "value": f"{KUEUE}{frameworks}{waits}"}
    patches = [{"target": {"kind": "HelmRelease", "name": "kueue"}, "patch": [edit]}]
    text = report(trainyard, tmp_path, patches=patches)
    table = rows(text, "Timeouts")
    assert [row[1] for row in table if row[0] == "Kueue"] == shown
    (patched,) = [
        row for row in rows(text, "Who gets in, what changes hands") if row[0] == "patched"
    ]
    assert patched[1] == f"`HelmRelease/kueue`: `replace {path}`"


def test_node_groups_have_placement_groups_of_their_own(trainyard: Command, tmp_path: Path) -> None:
    pools = [{**POOL, "name": name, "managedNodeGroup": {}, "nodes": 4} for name in ("a", "b")]
    jobs = [
        {"name": f"on-{name}", "pool": name, "nodes": 2, "image": "r.test/t:1", "command": ["t"]}
        for name in ("a", "b")
    ]
    text = report(trainyard, tmp_path, nodePools=pools, jobs=jobs)
    lands = [row[5] for row in rows(text, "Jobs")]
    assert [each.count("placement group ") for each in lands] == [1, 1]
    assert "placement group lab-a" in lands[0]
    assert "placement group lab-b" in lands[1]


def test_a_queue_lends_of_the_pool_that_is_asked_for(trainyard: Command, tmp_path: Path) -> None:
    pools = [{**POOL, "name": name, "nodes": 4} for name in ("a", "b")]
    quotas = {"own": {"a": 2}, "other": {"b": 3, "a": 2}}
    queues = [
        {
            "name": name,
            "cohort": "all",
            "namespaces": [name],
            "quota": [{"pool": pool, "nodes": nodes} for pool, nodes in quota.items()],
        }
        for name, quota in quotas.items()
    ]
    text = report(trainyard, tmp_path, nodePools=pools, queues=queues, jobs=[])
    assert [row[:4] for row in rows(text, "Queues")] == [
        ["own", "a", "2", "2"],
        ["other", "b", "3", "0"],
        ["other", "a", "2", "2"],
    ]


def test_of_very_many_jobs_the_command_says_which_wait(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does the page simulate them."""
    assert "## Admission" not in report(trainyard, tmp_path)
    monkeypatch.setattr("trainyard.extensions.forecast.sections.admission.MOST_JOBS", 0)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert part(done.out, "Admission") == "`trainyard simulate` says which of 1 job wait.\n\n"
    page = trainyard("report", "lab.yaml", "--format", "html", cwd=tmp_path).out
    assert "Jobs at once" not in page
    assert "says which of 1 job wait." in page
