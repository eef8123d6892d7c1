"""Settings of Slurm that `slurmctld` does not start with, at each place that takes some; Slurm itself is the referee.

The Slurm that can be had here is 22.05: the names of these cases are the same in 25.05, which ParallelCluster has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from trainyard.extensions.parallelcluster.formats.parallelcluster import slurm_conf

from tests.platforms.parallelcluster.test_lint import Q, R, S, changed, found, line_of

Settings = dict[str, str | int]

UNREAD: list[Settings] = [
    {"FooBar": "x"},
    {"UnkillableStepTimeout": -1},
    {"UnkillableStepTimeout": 65536},
    {"UnkillableStepTimeout": "10m"},
    {"MaxArraySize": "many"},
    {"MaxNodes": 8},
    {"TRESWeights": "cpu=1"},
]
"""What no command of Slurm reads."""
NO_PLUGIN: list[Settings] = [
    {"MpiDefault": "banana"},
    {"ProctrackType": "proctrack/cgroups"},
    {"PreemptType": "qos/preempt"},
    {"PriorityType": "multifactors"},
]
OTHERS: list[Settings] = [
    {"AuthType": "auth/none"},
    {"CredType": "cred/none"},
    {"SelectType": "select/linear"},
]
"""What Slurm takes and this cluster is not set up for."""
RIGHT: list[Settings] = [
    {"UnkillableStepTimeout": 180},
    {"unkillablesteptimeout": 65535},
    {"KillWait": "UNLIMITED"},
    {"MpiDefault": "pmix"},
    {"MpiDefault": "none"},
    {"ProctrackType": "proctrack/cgroup"},
    {"JobAcctGatherType": "jobacct_gather/linux"},
    {"AuthType": "auth/munge"},
    {"SelectType": "select/cons_tres"},
    {"MaxArraySize": 10001},
]


@pytest.mark.parametrize("settings", [*UNREAD, *NO_PLUGIN, *OTHERS], ids=str)
def test_a_setting_that_ends_slurmctld_is_found(settings: Settings, tmp_path: Path) -> None:
    body = changed((f"{S}.CustomSlurmSettings", [settings]))
    assert found(body, tmp_path) == [("SCH012", line_of(body, next(iter(settings))))]


@pytest.mark.parametrize("settings", RIGHT, ids=str)
def test_a_setting_that_slurm_takes_is_not_found(settings: Settings, tmp_path: Path) -> None:
    assert found(changed((f"{S}.CustomSlurmSettings", [settings])), tmp_path) == []


@pytest.mark.parametrize(
    ("place", "right", "wrong"),
    [(Q, {"MaxTime": "3-0"}, {"MaxTimes": "3-0"}), (R, {"Port": "7000"}, {"MaxTime": "3-0"})],
)
def test_queues_and_resources_have_parameters_of_their_own(
    place: str, right: Any, wrong: Any, tmp_path: Path
) -> None:
    assert found(changed((f"{place}.CustomSlurmSettings", right)), tmp_path) == []
    assert [
        code for code, _ in found(changed((f"{place}.CustomSlurmSettings", wrong)), tmp_path)
    ] == ["SCH012"]


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        (Q, {"PartitionName": "a"}),
        (R, {"NodeName": "a"}),
        (R, {"Weight": -1}),
        (Q, {"ResumeTimeout": -1}),
    ],
)
def test_what_parallelcluster_sets_itself_is_said_once(
    place: str, settings: Settings, tmp_path: Path
) -> None:
    body = changed((f"{place}.CustomSlurmSettings", settings))
    assert [code for code, _ in found(body, tmp_path)] == ["SCH011"]


@pytest.mark.parametrize("key", [1, 1.5, True])
def test_a_name_that_is_no_text_is_no_parameter(key: Any, tmp_path: Path) -> None:
    body = changed((f"{S}.CustomSlurmSettings", [{key: "x"}]))
    assert "SCH012" in [code for code, _ in found(body, tmp_path)]


@pytest.mark.skipif(shutil.which("sinfo") is None, reason="Slurm is not installed")
@pytest.mark.parametrize("settings", [*UNREAD, *NO_PLUGIN, *OTHERS, *RIGHT], ids=str)
def test_slurm_reads_what_is_not_found_and_no_other(settings: Settings, tmp_path: Path) -> None:
    """Each command of Slurm reads the whole file first, and stops at what it cannot read."""
    lines = ["ClusterName=a", "SlurmctldHost=localhost", "NodeName=a", "PartitionName=a Nodes=a"]
    own = [f"{name}={value}" for name, value in settings.items()]
    file = tmp_path / "slurm.conf"
    file.write_text("\n".join([*lines, *own, ""]))
    run = subprocess.run(
        ["scontrol", "show", "hostnames", "a"],
        env=os.environ | {"SLURM_CONF": str(file)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("Unable to process configuration file" in run.stderr) == (settings in UNREAD), (
        run.stderr
    )


def test_the_facts_name_each_parameter_once() -> None:
    for part in ("cluster", "partition", "node"):
        names = slurm_conf.names(part)
        assert len(names) == len(slurm_conf.parameters(part)) > 20
