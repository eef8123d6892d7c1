"""Task governance: what SageMaker is asked for, by which names jobs ask it, and what it cannot say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.validate import ParamValidator
from builders import document
from trainyard.catalog import hyperpod
from trainyard.extensions.hyperpod import GOVERNED
from trainyard.extensions.hyperpod import PLATFORM as HYPER_POD
from trainyard.extensions.hyperpod.differences import INSTEAD_GOVERNED
from trainyard.extensions.hyperpod.governance.plan import (
    ClusterPolicy,
    ComputeQuota,
    TeamPriority,
    TeamQueue,
)
from trainyard.output import Artifact
from trainyard.plan import Plan
from trainyard.run.language.load import platform_of
from trainyard.run.language.whole import language
from trainyard.run.outcome import Compilation
from trainyard.run.platforms import EKS, PLATFORMS
from trainyard.verify.formats import lifted, written

from tests.platforms.hyperpod.clusters import errors, files, spec
from tests.platforms.passes import codes, compiled, leads

FOLDER = "bootstrap/hyperpod/governance"
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
RESEARCH = {
    "name": "research",
    "namespaces": ["hyperpod-ns-research"],
    "quota": [{"pool": "a100", "nodes": 3}],
}
PRODUCT = {
    "name": "product",
    "namespaces": ["hyperpod-ns-product"],
    "quota": [{"pool": "a100", "nodes": 1}],
}
URGENT = {"name": "urgent", "value": 90}


def governed(*queues: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """The small cluster with task governance, with two teams unless others are given."""
    job = {"nodes": 3, "queue": "research", **parts.pop("job", {})}
    return spec(
        own={"taskGovernance": {}}, queues=list(queues or (RESEARCH, PRODUCT)), job=job, **parts
    )


def requests(done: Compilation) -> dict[str, dict[str, Any]]:
    """Each request by its path, with an ARN of the cluster."""
    return {
        path.removeprefix(f"{FOLDER}/"): json.loads(text.replace("${HYPERPOD_CLUSTER_ARN}", ARN))
        for path, text in files(done).items()
        if path.startswith(FOLDER)
    }


FORMS: list[dict[str, Any]] = [
    governed(),
    governed(priorities=[URGENT, {"name": "batch", "value": 0}], job={"priority": "urgent"}),
    governed(
        RESEARCH | {"cohort": "all", "fairSharing": {"weight": 3}}, PRODUCT | {"cohort": "all"}
    ),
    governed(
        RESEARCH | {"cohort": "all", "quota": [{"pool": "a100", "nodes": 3, "borrowingLimit": 1}]},
        PRODUCT | {"cohort": "all"},
        tags={"team": "a"},
    ),
    governed(RESEARCH | {"preemption": {"withinClusterQueue": "Never"}}),
    governed(job={"kind": "TrainJob", "retries": 0}),
]


@pytest.mark.parametrize("data", FORMS)
def test_what_is_written_says_what_was_resolved(data: dict[str, Any], tmp_path: Path) -> None:
    done = compiled(data, tmp_path)
    assert errors(done) == []
    assert done.plan is not None
    again = lifted(done.artifacts, closed=True)
    for kind in (ComputeQuota, ClusterPolicy, TeamQueue, TeamPriority):
        assert set(map(str, done.plan.of(kind))) == set(map(str, again.of(kind)))
    assert done.plan.of(ComputeQuota)


@pytest.mark.slow
@pytest.mark.parametrize("data", FORMS)
def test_botocore_takes_the_requests_and_their_updates(
    data: dict[str, Any], tmp_path: Path
) -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    made = requests(compiled(data, tmp_path))
    assert "cluster-policy.json" in made
    for path, request in made.items():
        what = "ClusterSchedulerConfig" if path == "cluster-policy.json" else "ComputeQuota"
        body = {key: value for key, value in request.items() if key != "trainyard.dev/file"}
        update = {key: body[key] for key in body.keys() - {"Name", "ClusterArn", "Tags"}}
        update |= {f"{what}Id": "abcdefghij12", "TargetVersion": 1}
        for name, asked in ((f"Create{what}Request", body), (f"Update{what}Request", update)):
            report = ParamValidator().validate(asked, model.shape_for(name))
            assert not report.has_errors(), report.generate_report()


@pytest.mark.parametrize(
    ("parts", "limits", "sharing"),
    [
        ({}, {}, {"Strategy": "DontLend"}),
        ({"cohort": "all"}, {}, {"Strategy": "LendAndBorrow", "BorrowLimit": 500}),
        ({"cohort": "all"}, {"borrowingLimit": 0}, {"Strategy": "Lend"}),
        ({"cohort": "all"}, {"borrowingLimit": 0, "lendingLimit": 0}, {"Strategy": "DontLend"}),
        ({"cohort": "all"}, {"lendingLimit": 3}, {"Strategy": "LendAndBorrow", "BorrowLimit": 500}),
        (
            {"cohort": "all"},
            {"borrowingLimit": 1},
            {
                "Strategy": "LendAndBorrow",
                "AbsoluteBorrowLimits": [{"InstanceType": "ml.p4d.24xlarge", "Count": 1}],
            },
        ),
    ],
)
def test_what_a_team_does_with_idle_nodes(
    parts: dict[str, Any], limits: dict[str, Any], sharing: dict[str, Any], tmp_path: Path
) -> None:
    queue = RESEARCH | parts | {"quota": [{"pool": "a100", "nodes": 3, **limits}]}
    done = compiled(governed(queue), tmp_path)
    assert errors(done) == []
    config = requests(done)["quotas/research.json"]["ComputeQuotaConfig"]
    assert config["ResourceSharingConfig"] == sharing


def test_jobs_ask_by_the_names_that_sagemaker_makes(tmp_path: Path) -> None:
    done = compiled(governed(priorities=[URGENT], job={"priority": "urgent"}), tmp_path)
    texts = files(done)
    [job] = [yaml.safe_load(text) for path, text in texts.items() if path.startswith("jobs/")]
    assert job["metadata"]["namespace"] == "hyperpod-ns-research"
    labels = job["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "hyperpod-ns-research-localqueue"
    assert labels["kueue.x-k8s.io/priority-class"] == "urgent-priority"


def test_the_add_on_is_the_only_kueue(tmp_path: Path) -> None:
    texts = files(compiled(governed(), tmp_path))
    assert [path for path in texts if "kueue" in path or path.startswith("queues/")] == []
    addons = {
        each["name"]: each for each in yaml.safe_load(texts["bootstrap/eksctl.yaml"])["addons"]
    }
    assert addons["amazon-sagemaker-hyperpod-taskgovernance"]["version"] == "v1.6.0-eksbuild.1"
    jobs = yaml.safe_load(texts["flux/kustomization-trainyard-jobs.yaml"])
    assert [each["name"] for each in jobs["spec"]["dependsOn"]] == ["trainyard-platform"]


def test_runtimes_of_train_jobs_are_there_before_them(tmp_path: Path) -> None:
    texts = files(compiled(governed(job={"kind": "TrainJob", "retries": 0}), tmp_path))
    assert [path for path in texts if path.startswith("queues/runtimes/")]
    jobs = yaml.safe_load(texts["flux/kustomization-trainyard-jobs.yaml"])
    assert "trainyard-queues" in {each["name"] for each in jobs["spec"]["dependsOn"]}
    assert "flux/kustomization-trainyard-queues.yaml" in texts


def test_two_teams_are_two_files(tmp_path: Path) -> None:
    """So that two branches that add one never meet."""
    one = requests(compiled(governed(RESEARCH), tmp_path))
    two = requests(compiled(governed(), tmp_path))
    assert two.keys() - one.keys() == {"quotas/product.json"}
    assert {path: two[path] for path in one} == one


def _queue(**parts: Any) -> dict[str, Any]:
    return governed(RESEARCH | parts)


_TWO_POOLS = [
    {"name": name, "instanceTypes": ["p4d.24xlarge"], "zones": ["us-west-2b"], "nodes": 2}
    for name in ("a100", "b100")
]
_BOTH = [{"pool": "a100", "nodes": 2}, {"pool": "b100", "nodes": 2}]


def test_huge_pages_are_in_no_queue_of_a_team(tmp_path: Path) -> None:
    asking = governed(job={"nodes": 3, "resources": {"hugePages": "5Gi"}})
    assert codes(asking, tmp_path) == [("RES337", "spec.jobs[0].resources.hugePages")]
    assert codes(governed(job={"resources": {"hugePages": 0}}), tmp_path) == []


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (governed(), "RES327", "spec.platform.hyperPod.taskGovernance"),
        (
            governed(priorities=[{"name": "urgent", "value": 1000}]),
            "RES326",
            "spec.priorities[0].value",
        ),
        (
            governed(priorities=[{"name": f"p{each}", "value": each} for each in range(11)]),
            "RES326",
            "spec.priorities[10]",
        ),
        (
            governed(priorities=[{"name": "p" * 40, "value": 1}, {"name": "p" * 41, "value": 2}]),
            "RES326",
            "spec.priorities[1].name",
        ),
        (_queue(namespaces=["hyperpod-lab"]), "RES328", "spec.queues[0].namespaces"),
        (
            governed(RESEARCH | {"cohort": "a"}, PRODUCT | {"cohort": "b"}),
            "RES327",
            "spec.queues[1].cohort",
        ),
        (
            _queue(preemption={"withinClusterQueue": "LowerOrNewerEqualPriority"}),
            "RES328",
            "spec.queues[0].preemption.withinClusterQueue",
        ),
        (
            _queue(cohort="a", quota=[{"pool": "a100", "nodes": 3, "lendingLimit": 1}]),
            "RES328",
            "spec.queues[0].quota[0].lendingLimit",
        ),
        (
            _queue(cohort="a", quota=[{"pool": "a100", "nodes": 3, "lendingLimit": 0}]),
            "RES328",
            "spec.queues[0].quota",
        ),
        (
            _queue(cohort="a", fairSharing={"weight": "500m"}),
            "RES328",
            "spec.queues[0].fairSharing.weight",
        ),
        (
            governed(
                RESEARCH | {"quota": _BOTH}, nodePools=_TWO_POOLS, job={"nodes": 2, "pool": "a100"}
            ),
            "RES327",
            "spec.queues[0].quota[1].pool",
        ),
        (_queue(queueingStrategy="StrictFIFO"), "SPC006", "spec.queues[0].queueingStrategy"),
        (governed(kueue={"waitForPodsReady": {"timeout": "40m"}}), "SPC006", "spec.kueue"),
        (
            governed(RESEARCH | {"quota": [{"pool": "a100", "nodes": 2}]}),
            "QUE031",
            "spec.jobs[0].nodes",
        ),
        (
            governed(RESEARCH, PRODUCT | {"quota": [{"pool": "a100", "nodes": 2}]}),
            "QUE032",
            "spec.queues[1].quota",
        ),
    ],
)
def test_what_it_cannot_say_is_an_error_at_its_line(
    data: dict[str, Any], code: str, place: str, tmp_path: Path
) -> None:
    if place.endswith("taskGovernance"):
        del data["spec"]["queues"]
        del data["spec"]["jobs"][0]["queue"]
    assert (code, place) in codes(data, tmp_path)


def test_a_quota_of_many_instance_types(tmp_path: Path) -> None:
    types = sorted(name for name in hyperpod.types() if name.startswith(("m5.", "m6i.", "m7i.")))
    place = "RES327", "spec.queues[0].quota"
    for count, is_found in ((15, False), (16, True)):
        pools = [
            {"name": f"p{index}", "instanceTypes": [name], "zones": ["us-west-2b"], "nodes": 1}
            for index, name in enumerate(types[:count])
        ]
        quota = [{"pool": pool["name"], "nodes": 1} for pool in pools]
        data = governed(RESEARCH | {"quota": quota}, nodePools=pools)
        del data["spec"]["jobs"]
        assert (place in codes(data, tmp_path)) is is_found, count


def test_a_quota_of_no_pool_says_nothing_of_what_is_lent(tmp_path: Path) -> None:
    queue = RESEARCH | {"cohort": "all", "quota": [{"pool": "a10", "nodes": 3, "lendingLimit": 1}]}
    data = governed(queue)
    del data["spec"]["jobs"]
    assert codes(data, tmp_path) == [("RES011", "spec.queues[0].quota[0].pool")]


def read(body: dict[str, Any]) -> Plan:
    artifact = Artifact(path="request.json", format="hyperpod", body={"ClusterArn": ARN, **body})
    return lifted([artifact], closed=False)


@pytest.mark.parametrize(
    ("resources", "nodes", "whole"),
    [
        ([{"InstanceType": "ml.g5.8xlarge", "Count": 2}], {"g5.8xlarge": 2}, True),
        ([{"InstanceType": "ml.g5.8xlarge", "Accelerators": 1}], {}, False),
        ([{"Count": 2}, {"InstanceType": "ml.g5.8xlarge", "Count": 1}], {"g5.8xlarge": 1}, False),
    ],
)
def test_quotas_of_others_may_be_of_parts_of_nodes(
    resources: list[dict[str, Any]], nodes: dict[str, int], whole: bool
) -> None:
    config = {"ComputeQuotaResources": resources}
    target = {"TeamName": "research"}
    plan = read({"ComputeQuotaConfig": config, "ComputeQuotaTarget": target})
    (quota,) = plan.of(ComputeQuota)
    assert (quota.nodes, quota.whole) == (nodes, whole)
    (queue,) = plan.of(TeamQueue)
    assert queue.namespace == "hyperpod-ns-research"
    assert not read({"ComputeQuotaConfig": config, "ComputeQuotaTarget": {}}).of(ComputeQuota)


def test_a_priority_of_others_without_a_name_makes_no_class() -> None:
    classes = [{"Weight": 1}, {"Name": "urgent", "Weight": 90}, {"Name": "batch"}]
    plan = read({"SchedulerConfig": {"PriorityClasses": classes}})
    assert [(each.name, each.value) for each in plan.of(TeamPriority)] == [
        *(("urgent-priority", 90), ("batch-priority", 0))
    ]


def test_the_key_alone_makes_it_another_platform() -> None:
    assert platform_of(document(governed())) is GOVERNED
    assert platform_of(document(spec())) is HYPER_POD
    assert GOVERNED not in PLATFORMS.values()
    root = language(EKS).model_fields["spec"].annotation
    assert root is not None
    assert all(leads(root, path.split(".")) for path in INSTEAD_GOVERNED)


_AWS = """#!/bin/bash
echo "$*" >> "$LOG"
case "$2" in
  describe-cluster) echo "$ARN" ;;
  list-cluster-scheduler-configs) cat "$POLICIES" ;;
  list-compute-quotas) cat "$QUOTAS" ;;
esac
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_bootstrap_makes_what_is_not_there_and_updates_what_is(tmp_path: Path) -> None:
    done = compiled(governed(), tmp_path)
    out = tmp_path / "out"
    for artifact in done.artifacts:
        if artifact.path.startswith("bootstrap/hyperpod/"):
            (out / artifact.path).parent.mkdir(parents=True, exist_ok=True)
            (out / artifact.path).write_bytes(written(artifact))
    first = _asked(out, tmp_path, {}, {})
    assert [line.split()[1] for line in first if line.startswith("sagemaker create")] == [
        "create-cluster-scheduler-config",
        "create-compute-quota",
        "create-compute-quota",
    ]
    assert ARN in " ".join(first)
    policies = [{"ClusterSchedulerConfigId": "p1", "ClusterSchedulerConfigVersion": 4}]
    quotas = [
        {"Name": "lab-research", "ComputeQuotaId": "q1", "ComputeQuotaVersion": 7},
        {"Name": "lab-gone", "ComputeQuotaId": "q2", "ComputeQuotaVersion": 1},
    ]
    again = _asked(
        out,
        tmp_path,
        {"ClusterSchedulerConfigSummaries": policies},
        {"ComputeQuotaSummaries": quotas},
    )
    text = "\n".join(again)
    assert "--cluster-scheduler-config-id p1 --target-version 4" in text
    assert "--compute-quota-id q1 --target-version 7" in text
    made = [line for line in again if line.startswith("sagemaker create-compute-quota")]
    assert len(made) == 1  # of team `product`
    assert "delete-compute-quota --compute-quota-id q2" in text  # printed, not run
    assert [line for line in again if line.startswith("sagemaker delete")] == []


@pytest.mark.parametrize("data", [governed(), spec()], ids=["governed", "Kueue"])
def test_the_bootstrap_lists_each_step_once(data: dict[str, Any], tmp_path: Path) -> None:
    done = compiled(data, tmp_path)
    [script] = [each for each in done.artifacts if each.path == "bootstrap/hyperpod/up.sh"]
    file = tmp_path / "up.sh"
    file.write_bytes(written(script))
    listed = subprocess.run(
        ["bash", str(file), "--list"], capture_output=True, text=True, check=True
    )
    steps = [line.split()[0] for line in listed.stdout.splitlines()]
    assert ("governance" in steps) is (data != spec())
    assert [step for step in steps if step != "governance"] == [
        *("stack", "scripts", "chart", "cluster", "accept")
    ]


def _asked(
    out: Path, tmp_path: Path, policies: dict[str, Any], quotas: dict[str, Any]
) -> list[str]:
    """What the step asks AWS for, and prints."""
    programs = tmp_path / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "aws").write_text(_AWS)
    (programs / "aws").chmod(0o755)
    (tmp_path / "policies.json").write_text(
        json.dumps({"ClusterSchedulerConfigSummaries": [], **policies})
    )
    (tmp_path / "quotas.json").write_text(json.dumps({"ComputeQuotaSummaries": [], **quotas}))
    log = tmp_path / "log"
    log.write_text("")
    script = out / "bootstrap/hyperpod/up.sh"
    text = script.read_text().rpartition("while [ $# -gt 0 ]")[0]
    only = out / "bootstrap/hyperpod/only.sh"
    only.write_text(f"{text}\ndry=''\nstep_governance\n")
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "LOG": str(log),
        "ARN": ARN,
        "POLICIES": str(tmp_path / "policies.json"),
        "QUOTAS": str(tmp_path / "quotas.json"),
    }
    done = subprocess.run(
        ["bash", str(only)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return [*log.read_text().splitlines(), *done.stdout.splitlines()]
