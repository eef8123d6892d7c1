"""What watches a cluster of Slurm: metrics of GPUs, alarms, who hears of them, and what is paid for it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import boto3
import moto
import pytest
import yaml
from builders import ROOT, document
from cfn_lint import findings
from failures.walking import read
from running import stand_ins
from trainyard.extensions.parallelcluster import PLATFORM
from trainyard.extensions.parallelcluster.differences import INSTEAD
from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import FILE
from trainyard.extensions.parallelcluster.monitoring import alarms
from trainyard.extensions.parallelcluster.monitoring.plan import Alarm
from trainyard.extensions.parallelcluster.report import costs
from trainyard.extensions.parallelcluster.settings.spec import Retention
from trainyard.run.language.load import load

from tests.platforms.parallelcluster.clusters import NOTIFICATIONS, TOPIC, WATCHED, files, spec
from tests.platforms.parallelcluster.test_bootstrap import Place
from tests.platforms.passes import codes, compiled

STACK = "bootstrap/stacks/alarms.yaml"
SCRIPT = "bootstrap/nodes/gpu-metrics.sh"
WITHOUT_GPUS = {"instanceTypes": ["m7i.4xlarge"]}
EVERY = {alarm.name: alarm for alarm in (*alarms.HEAD, *alarms.NODES, *alarms.GPUS)}


def written(folder: Path, **parts: Any) -> dict[str, str]:
    return files(compiled(spec(**{**WATCHED, **parts}), folder))


def alarms_in(text: str) -> dict[str, dict[str, Any]]:
    resources = yaml.safe_load(text)["Resources"].values()
    return {one["Properties"]["AlarmName"]: one["Properties"] for one in resources}


def test_nothing_watches_unless_the_spec_says_so(tmp_path: Path) -> None:
    text = written(tmp_path, monitoring=None)
    assert STACK not in text
    assert SCRIPT not in text
    assert "gpu-metrics" not in text["bootstrap/cluster.yaml"]


def test_nodes_with_gpus_are_measured_and_others_are_not(tmp_path: Path) -> None:
    body = yaml.safe_load(written(tmp_path)["bootstrap/cluster.yaml"])
    (queue,) = body["Scheduling"]["SlurmQueues"]
    scripts = queue["CustomActions"]["OnNodeConfigured"]["Sequence"]
    names = [one["Script"].rpartition("/")[2] for one in scripts]
    assert names == ["compute-node.sh", "gpu-metrics.sh"]
    without = written(tmp_path, pool=WITHOUT_GPUS, job={"resources": {}})
    assert SCRIPT not in without
    assert "gpu-metrics" not in without["bootstrap/cluster.yaml"]
    assert "lab-gpus-fail-tests" not in alarms_in(without[STACK])


@pytest.mark.parametrize("works", [True, False])
def test_the_agent_is_told_and_a_node_starts_without_it_too(works: bool, tmp_path: Path) -> None:
    """The agent of CloudWatch has no build here: its JSON schema took this form (amazon-cloudwatch-agent ab55b8da)."""
    config, said = tmp_path / "gpus.json", tmp_path / "said"
    text = written(tmp_path, monitoring={"interval": "30s"})[SCRIPT]
    path = stand_ins(
        tmp_path / "bin", {"agent": f'#!/bin/bash\necho "$*" > {said}\nexit {int(not works)}\n'}
    )
    agent = tmp_path / "bin" / "agent"
    for there, here in (
        ("/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl", agent),
        ("/etc/trainyard-gpu-metrics.json", config),
    ):
        assert there in text
        text = text.replace(there, str(here))
    done = subprocess.run(
        ["bash", "-c", text], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert ("are not measured" in done.stderr) is not works
    assert said.read_text().split() == f"-a append-config -m ec2 -s -c file:{config}".split()
    assert json.loads(config.read_text()) == {
        "metrics": {
            "metrics_collected": {
                "nvidia_gpu": {
                    "measurement": [
                        "utilization_gpu",
                        "memory_used",
                        "temperature_gpu",
                        "power_draw",
                    ],
                    "metrics_collection_interval": 30,
                    "append_dimensions": {"ClusterName": "lab"},
                }
            }
        }
    }


def test_every_metric_is_one_that_parallelcluster_gives() -> None:
    package = ROOT / ".venv-pcluster" / "lib"
    sources = [*package.glob("python3*/site-packages/pcluster/**/*.py")]
    if not sources:
        pytest.skip("aws-parallelcluster is not installed: run `make pcluster`")
    text = "\n".join(
        source.read_text()
        for source in sources
        if source.name in ("constants.py", "cluster_stack.py", "cw_dashboard_builder.py")
    )
    assert [one.metric for one in EVERY.values() if f'"{one.metric}"' not in text] == []


def fires(alarm: Alarm, minutes: Sequence[float | None]) -> bool:
    """Whether CloudWatch is in alarm at the end of these minutes, each with what the metric said, if anything
    (CloudWatch user guide, AlarmThatSendsEmail: all datapoints, and how missing ones are treated)."""
    size = alarm.minutes
    last = [minutes[start : start + size] for start in range(0, len(minutes), size)]
    breaching = []
    for period in last[-alarm.periods :]:
        there = [value for value in period if value is not None]
        if not there:
            breaching.append(alarm.below is not None)
            continue
        value = sum(there) if alarm.statistic == "Sum" else max(there)
        breaching.append(value < alarm.below if alarm.below is not None else value > alarm.above)
    return len(breaching) == alarm.periods and all(breaching)


QUIET_HOUR: Mapping[str, Sequence[float | None]] = {
    "head-node-fails": [0] * 56 + [1, 1, 1, 0],
    "nodes-are-not-managed": [None] * 9 + [1],
    "head-node-disk-is-full": [90] * 10,
    "head-node-memory-is-full": [40, 40, 40, 40, 99] * 2 + [60] * 5,
    "no-capacity": [1] + [None] * 29,
}
ALARMING: Mapping[str, Sequence[float | None]] = {
    "head-node-fails": [0] * 5 + [1] * 5,
    "nodes-are-not-managed": [1] + [None] * 10,
    "head-node-disk-is-full": [91] * 10,
    "head-node-memory-is-full": [95] * 15,
    "no-capacity": [2] + [None] * 14 + [None] * 14 + [1],
}


@pytest.mark.parametrize("name", EVERY)
def test_each_alarm_has_a_case_that_fires_and_one_that_does_not(name: str) -> None:
    alarm = EVERY[name]
    assert fires(alarm, ALARMING.get(name, [None] * 4 + [1]))
    assert not fires(alarm, QUIET_HOUR.get(name, [0, None, None, 0, None]))


def test_nobody_is_told_of_what_is_unknown(tmp_path: Path) -> None:
    """A cluster without nodes says nothing of them, and only the daemon's silence means something."""
    silent = [name for name, alarm in EVERY.items() if fires(alarm, [None] * 30)]
    assert silent == ["nodes-are-not-managed"]


@pytest.mark.slow
def test_aws_takes_the_alarms_and_topics_hear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = written(tmp_path, tags={"project": "a"})[STACK]
    file = tmp_path / "alarms.yaml"
    file.write_text(text)
    assert findings([file], "--regions", "us-west-2") == ""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    head = "Ref: HeadNode"
    assert head in text
    filled = text.replace(f"\n          {head}", " i-0a1b2c3d4e5f60718")
    with moto.mock_aws():  # whose CloudFormation makes no alarms
        watch = boto3.client("cloudwatch", region_name="us-west-2")
        for properties in alarms_in(filled).values():
            watch.put_metric_alarm(**properties)
        made = {one["AlarmName"]: one for one in watch.describe_alarms()["MetricAlarms"]}
    assert made.keys() == {f"lab-{name}" for name in EVERY}
    for one in made.values():
        assert one["AlarmActions"] == one["OKActions"] == [TOPIC, f"{TOPIC}-pager"]
    assert made["lab-nodes-are-not-managed"]["Dimensions"] == [
        {"Name": "ClusterName", "Value": "lab"},
        {"Name": "InstanceId", "Value": "i-0a1b2c3d4e5f60718"},
    ]
    assert made["lab-head-node-disk-is-full"]["Dimensions"] == [
        {"Name": "InstanceId", "Value": "i-0a1b2c3d4e5f60718"},
        {"Name": "path", "Value": "/"},
    ]


@pytest.mark.slow
def test_alarms_come_after_the_cluster_and_go_before_it(tmp_path: Path) -> None:
    text = {path: each.replace("lab", "jakarta-slurm") for path, each in written(tmp_path).items()}
    place = Place(tmp_path / "cluster", text)
    run = place.run("up.sh")
    assert run.returncode == 0, run.stderr
    (deploy,) = (
        call for call in place.calls("aws", "cloudformation", "deploy") if STACK in call[6]
    )
    assert deploy[-2:] == ["--parameter-overrides", "HeadNode=i-0a1b2c3d4e5f60718"]
    assert "trainyard-jakarta-slurm-alarms" in place.account.stacks
    (place.folder / STACK).unlink()
    assert place.run("up.sh").returncode == 0
    assert "trainyard-jakarta-slurm-alarms" not in place.account.stacks
    (place.folder / STACK).write_text(text[STACK])
    assert place.run("up.sh", "--from", "alarms").returncode == 0
    place.account.calls.clear()
    assert place.run("down.sh", "--keep-data").returncode == 0
    order = [" ".join(call) for call in place.account.calls]
    gone = [
        index for index, call in enumerate(order) if "delete-stack" in call and "alarms" in call
    ]
    (end,) = (index for index, call in enumerate(order) if "pcluster delete-cluster" in call)
    assert gone[0] < end
    assert place.made() == ([], "")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (WATCHED, []),
        ({"notifications": None}, [("RES502", "spec.monitoring")]),
        (
            {"notifications": NOTIFICATIONS},
            [("RES501", "spec.notifications.receivers[1].sns.topicArn")],
        ),
        (
            {"notifications": NOTIFICATIONS, "monitoring": None},
            [("RES456", "spec.notifications.receivers[1].sns.topicArn")],
        ),
    ],
)
def test_who_hears(parts: dict[str, Any], expected: list[tuple[str, str]], tmp_path: Path) -> None:
    assert codes(spec(**{"monitoring": {}, **parts}), tmp_path) == expected


@pytest.mark.parametrize("key", [key for key in INSTEAD if key.startswith("monitoring.")])
def test_a_key_of_eks_is_one_error(key: str) -> None:
    """Its model lacks the key, and the platform says what to write: that alone is said."""
    data = spec(monitoring={key.partition(".")[2]: {}})
    (fault,) = load(document(data), PLATFORM)[1]
    assert (fault.code, str(fault.at), fault.help) == ("SPC006", f"spec.{key}", INSTEAD[key])


def test_every_number_of_days_is_one_that_parallelcluster_takes() -> None:
    found = re.search(r'"RetentionInDays":{"enum":(\[[0-9,]+\])', FILE.read_text())
    assert found is not None
    assert set(get_args(Retention)) == {*json.loads(found[1])} - {0}


def test_what_watches_is_paid_for() -> None:
    def rows(**parts: Any) -> dict[str, tuple[str, int, float]]:
        _, planned = read(spec(**parts))
        return {
            item.name: (item.what, item.most, round((item.usd or 0) * 730, 2))
            for item in costs(planned)
            if "of CloudWatch" in item.what or "alarm" in item.name or item.name == "dashboard"
        }

    always = {
        "alarms": ("5 alarms of CloudWatch", 1, 0.50),
        "alarm of the head node": ("an alarm over its alarms", 1, 0.50),
        "dashboard": ("that of ParallelCluster in CloudWatch", 1, 3.00),
    }
    assert rows() == always
    watched = rows(monitoring={}, own={"detailedMonitoring": True})
    metrics = len(EVERY) + 5
    assert watched == {
        **always,
        "metrics of a100": ("39 metrics of CloudWatch a node", 4, 11.70),
        "alarms": (f"{metrics} alarms of CloudWatch", 1, round(metrics * 0.1, 2)),
    }
