"""Logs in CloudWatch: what is made, which fields a line has, and that Loki and its bucket are not made."""

from __future__ import annotations

from typing import Any

import pytest
from builders import ROOT, files, plan_of, spec
from trainyard.catalog.charts import unknown, values_of
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.pod_labels import labels_of_kinds
from trainyard.eks.teams.plan import NetworkPolicy
from trainyard.extensions.observability.logs.fluent_bit import (
    FIELDS,
    OF_JOBS,
    filters,
    outputs,
    script,
)
from trainyard.extensions.observability.logs.plan import LogBucket, LogGroup

LABELS = labels_of_kinds(kinds().values())
CLOUD_WATCH: dict[str, Any] = {"cloudWatch": {"retentionInDays": 90}}


def resources(**parts: Any) -> dict[str, Any]:
    found: dict[str, Any] = files(plan_of(spec(logs=CLOUD_WATCH, **parts)))[
        "bootstrap/stacks/logs.yaml"
    ]["Resources"]
    return found


def release() -> HelmRelease:
    plan = plan_of(spec(logs=CLOUD_WATCH))
    (found,) = [each for each in plan.of(HelmRelease) if each.name == "fluent-bit"]
    return found


def test_neither_loki_nor_its_bucket_is_made() -> None:
    plan = plan_of(spec(logs=CLOUD_WATCH))
    assert not {"loki", "alloy"} & {each.name for each in plan.of(HelmRelease)}
    assert plan.one(LogBucket) is None
    assert plan_of(spec(logs={"loki": {}})).one(LogGroup) is None


def test_the_pinned_chart_reads_every_value() -> None:
    found = release()
    known = values_of("fluent-bit", found.version)
    assert known is not None
    assert not list(unknown(found.values, known))


def test_the_role_writes_to_the_log_group_and_nothing_else() -> None:
    made = resources()
    group = made["LogGroup"]["Properties"]
    assert group == {"LogGroupName": "/trainyard/lab/pods", "RetentionInDays": 90}
    (statement,) = made["Role"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    arn = "arn:aws:logs:us-west-2:111122223333:log-group:/trainyard/lab/pods:*"
    assert statement["Resource"] == arn
    assert statement["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    account = release().values["serviceAccount"]["name"]
    assert made["Association"]["Properties"]["ServiceAccount"] == account
    assert f"log_group_name {group['LogGroupName']}" in release().values["config"]["outputs"]


def test_a_key_encrypts_the_group() -> None:
    key = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
    body = files(plan_of(spec(logs={"cloudWatch": {"kmsKey": key}})))["bootstrap/stacks/logs.yaml"]
    assert body["Resources"]["LogGroup"]["Properties"]["KmsKeyId"] == key


def test_a_policy_lets_fluent_bit_send_and_nobody_in() -> None:
    plan = plan_of(spec(logs=CLOUD_WATCH, monitoring={}))
    (policy,) = [each for each in plan.of(NetworkPolicy) if each.namespace == "logging"]
    assert len(policy.ingress) == 1  # from its own namespace
    assert [rule.ports for rule in policy.egress if rule.ports == (("TCP", 443),)]


def test_texts_hold_no_template_of_helm() -> None:
    for text in (script(LABELS), filters(), outputs("us-west-2", "/trainyard/lab/pods")):
        assert "{{" not in text
        assert "}}" not in text


@pytest.mark.needs("terraform")
def test_terraform_names_the_group() -> None:
    state = {"tool": "terraform", "state": {"bucket": "state-111122223333"}}
    found = files(plan_of(spec(logs=CLOUD_WATCH, bootstrap=state)))
    module = found["bootstrap/terraform/logs/main.tf.json"]
    (group,) = module["resource"]["aws_cloudwatch_log_group"].values()
    assert group == {"name": "/trainyard/lab/pods", "retention_in_days": 90}


JOBSET = "jobset.sigs.k8s.io"
OPERATOR = "training.kubeflow.org"
OF_BATCH = "batch.kubernetes.io/job-name"


@pytest.mark.needs("hyperpod")
@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (
            {f"{JOBSET}/jobset-name": "llama-1a2b3", OF_BATCH: "llama-1a2b3-node-0"},
            {"job": "llama"},
        ),
        ({f"{JOBSET}/jobset-name": "llama-8b-1a2b3"}, {"job": "llama-8b"}),
        ({"ray.io/cluster": "ray-1a2b3-raycluster-x7k2p"}, {"job": "ray"}),
        ({"HPJob": "bert-1a2b3"}, {"job": "bert"}),
        ({OF_BATCH: "own"}, {"job": "own"}),
        ({f"{JOBSET}/jobset-name": "own-1a2b3c"}, {"job": "own-1a2b3c"}),
        ({"batch.kubernetes.io/job-completion-index": "3"}, {"rank": "3"}),
        ({f"{JOBSET}/replicatedjob-name": "node"}, {"role": "node"}),
        ({f"{JOBSET}/restart-attempt": "1"}, {"attempt": "1"}),
        # mpi-operator v0.8.2, pkg/apis/kubeflow/v2beta1/constants.go
        (
            {f"{OPERATOR}/job-role": "worker", f"{OPERATOR}/replica-index": "0"},
            {"role": "worker", "rank": "0"},
        ),
        ({}, {}),
    ],
)
def test_a_line_has_the_fields_of_its_pod(labels: dict[str, str], wanted: dict[str, str]) -> None:
    """The script itself, by an interpreter of Lua."""
    lupa = pytest.importorskip("lupa", reason="lupa is missing: pip install lupa")
    lua = lupa.LuaRuntime(unpack_returned_tuples=True)
    lua.execute(script(LABELS))
    pod = {
        "namespace_name": "team-a",
        "pod_name": "p",
        "container_name": "node",
        "host": "n1",
        "labels": lua.table_from(labels),
    }
    record = {"log": "NCCL", "stream": "stderr", "_p": "F", "kubernetes": lua.table_from(pod)}
    code, time, line = lua.globals().fields("kube.x", 1.5, lua.table_from(record))
    assert (code, time) == (2, 1.5)
    found = dict(line.items())
    assert {name: found.pop(name) for name in FIELDS} == {
        "log": "NCCL",
        "stream": "stderr",
        "namespace": "team-a",
        "pod": "p",
        "container": "node",
        "node": "n1",
    }
    assert found == wanted
    assert set(found) <= set(OF_JOBS)


def test_the_documented_fields_are_those_of_a_line() -> None:
    page = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")
    section = page.partition("## CloudWatch")[2].partition("\n## ")[0]
    for name in (*FIELDS, *OF_JOBS):
        assert f"`{name}`" in section
