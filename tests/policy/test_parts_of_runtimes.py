"""A second replicated job of a TrainJob's runtime is judged for what it asks for, on the nodes that it is for."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.run.examples.rehearse import base_set

from tests.policy.harness import findings_for

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "more GPUs than the node has": ({"nvidia.com/gpu": 9}, "LIM001"),
    "more memory than the node has": ({"memory": "9000Gi"}, "LIM002"),
    "more EFA devices than the node has": ({"vpc.amazonaws.com/efa": 99}, "EFA002"),
    "no huge pages": ({"hugepages-2Mi": None}, "EFA008"),
}


def with_second(change: dict[str, Any]) -> list[Any]:
    """The base, with a second replicated job in the runtime that asks for what the job does, but for a change."""
    bodies = copy.deepcopy(list(base_set()))
    (runtime,) = (body for body in bodies if body["kind"] == "ClusterTrainingRuntime")
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    second = copy.deepcopy(jobs[0])
    second["name"] = "reward"
    second["template"]["metadata"] = {}
    pod = second["template"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    container["name"] = "reward"
    (job,) = (body for body in bodies if body["kind"] == "TrainJob")
    asked = {**job["spec"]["trainer"]["resourcesPerNode"]["limits"], **change}
    amounts = {name: value for name, value in asked.items() if value is not None}
    container["resources"] = {"limits": amounts, "requests": amounts}
    jobs.append(second)
    return bodies


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_second_job_asks_for_is_judged(fault: str) -> None:
    change, code = FAULTS[fault]
    said = findings_for(yaml.dump_all(with_second(change), Dumper=DUMPER))
    assert [each for each in said if each.code == code and "`reward`" in each.message]


def test_one_that_asks_for_what_the_job_does_is_said_nothing_of() -> None:
    said = findings_for(yaml.dump_all(with_second({}), Dumper=DUMPER))
    assert not [each for each in said if "`reward`" in each.message]
