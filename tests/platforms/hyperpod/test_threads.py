"""Nodes whose cores have one thread offer half of the CPUs, to jobs and to rules; where a core has one anyway, all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainyard.catalog import load_catalog
from trainyard.core.jobs.plan import Gang
from trainyard.extensions.hyperpod.groups.share import reserved_cpu
from trainyard.run.platforms import PLATFORMS

from tests.platforms.passes import compiled
from tests.platforms.small import small

TYPES = ("g5.2xlarge", "p5.48xlarge", "c7g.16xlarge")


def _cluster(name: str, threads: int | None, **resources: Any) -> dict[str, Any]:
    data = small(PLATFORMS["hyperPod"])
    body = data["spec"]
    namespaces = {"namespaces": ["hyperpod-ns-research"]}
    body["queues"] = [{"name": "research", **namespaces, "quota": [{"pool": "gpu", "nodes": 2}]}]
    if threads is not None:
        body["platform"]["hyperPod"]["threadsPerCore"] = threads
    body["nodePools"] = [
        {"name": "gpu", "instanceTypes": [name], "zones": ["us-west-2b"], "nodes": 2}
    ]
    body["jobs"] = [{**body["jobs"][0], "nodes": 2, "resources": resources}]
    return data


@pytest.mark.parametrize("threads", [None, 1, 2])
@pytest.mark.parametrize("name", TYPES)
def test_a_job_gets_the_cpus_that_its_node_boots_with(
    name: str, threads: int | None, tmp_path: Path
) -> None:
    instance = load_catalog().instance(name)
    assert instance is not None
    vcpus = instance.vcpus
    if threads == 1 and instance.arch == "amd64":
        vcpus //= 2
    done = compiled(_cluster(name, threads), tmp_path)
    assert done.plan is not None, done.diagnostics
    (job,) = done.plan.of(Gang)
    assert job.requests["cpu"].milli == (vcpus * 1000 - reserved_cpu(vcpus)) // 1000 * 1000


def test_more_cpus_than_the_cores_have_are_refused(tmp_path: Path) -> None:
    done = compiled(_cluster("p5.48xlarge", 1, cpu=100), tmp_path)
    assert "LIM002" in {each.code for each in done.diagnostics}
    assert "LIM002" not in {
        each.code for each in compiled(_cluster("p5.48xlarge", 2, cpu=100), tmp_path).diagnostics
    }
