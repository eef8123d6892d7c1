"""Logs in Loki: what is made, what a line is labelled with, and that nothing is made without the key."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from builders import ROOT, document, faults_of, plan_of, spec
from trainyard.catalog.charts import unknown, values_of
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.pod_labels import JOB_OF_RUN, labels_of_kinds
from trainyard.eks.teams.plan import NetworkPolicy
from trainyard.extensions.observability.logs.pipeline import METADATA, STREAM_LABELS, configuration
from trainyard.extensions.observability.logs.plan import LogBucket, LogSize
from trainyard.extensions.observability.pods import AGENTS
from trainyard.run.driver import check
from trainyard.run.language.load import load
from trainyard.run.lower import lower
from trainyard.run.outcome import Options

LOKI = {"loki": {}}
AUTO: dict[str, Any] = {"autoMode": {}}


def release(name: str, **parts: Any) -> HelmRelease:
    (found,) = [each for each in plan_of(spec(**parts)).of(HelmRelease) if each.name == name]
    return found


def stack(**parts: Any) -> dict[str, Any]:
    plan = plan_of(spec(**parts))
    bodies = [each.body for each in lower(plan) if each.path == "bootstrap/stacks/logs.yaml"]
    (body,) = bodies
    resources: dict[str, Any] = body["Resources"]
    return resources


def test_without_the_key_nothing_is_made() -> None:
    plan = plan_of(spec())
    assert not {"loki", "alloy"} & {each.name for each in plan.of(HelmRelease)}
    assert plan.one(LogBucket) is None
    assert not [each for each in plan.of(NetworkPolicy) if each.namespace == "logging"]


@pytest.mark.parametrize("name", ["loki", "alloy"])
def test_the_pinned_chart_reads_every_value(name: str) -> None:
    found = release(name, logs=LOKI)
    known = values_of(name, found.version)
    assert known is not None
    assert not list(unknown(found.values, known))


def test_loki_is_one_process_without_caches_and_passwords() -> None:
    values = release("loki", logs=LOKI).values
    assert values["deploymentMode"] == "Monolithic"
    assert values["loki"]["auth_enabled"] is False
    for name in ("gateway", "chunksCache", "resultsCache", "lokiCanary"):
        assert values[name] == {"enabled": False}
    # chart loki 18.11.0, templates/validate.yaml: no mode beside another one
    for name in ("read", "write", "backend"):
        assert values[name] == {"replicas": 0}
    assert "password" not in yaml.safe_dump(dict(values))


def test_s3_keeps_lines_longer_than_loki() -> None:
    logs = {"loki": {"retention": "240h"}}
    values = release("loki", logs=logs).values
    assert values["loki"]["limits_config"]["retention_period"] == "240h"
    assert values["loki"]["compactor"]["retention_enabled"] is True
    bucket = stack(logs=logs)["Bucket"]
    (rule,) = [
        each
        for each in bucket["Properties"]["LifecycleConfiguration"]["Rules"]
        if each["Id"] == "expiration"
    ]
    assert rule["ExpirationInDays"] == 12
    assert rule["Prefix"] == "fake/"
    assert bucket["DeletionPolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def test_the_role_reaches_the_bucket_and_nothing_else() -> None:
    found = stack(logs={"loki": {"bucket": "logs-111122223333"}})
    assert set(found) == {"Role", "Association"}
    (policy,) = found["Role"]["Properties"]["Policies"]
    resources = {each["Resource"] for each in policy["PolicyDocument"]["Statement"]}
    assert resources == {"arn:aws:s3:::logs-111122223333", "arn:aws:s3:::logs-111122223333/*"}
    assert found["Association"]["Properties"]["ServiceAccount"] == "loki"


@pytest.mark.needs("terraform")
def test_terraform_makes_the_same_lifecycle() -> None:
    state = {"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}
    found = [
        each
        for each in lower(plan_of(spec(logs=LOKI, bootstrap=state)))
        if each.path.startswith("bootstrap/terraform/logs/") and each.body is not None
    ]
    text = str([each.body for each in found])
    assert "'expiration': {'days': 30}" in text
    assert "'prefix': 'fake/'" in text


def test_alloy_reads_on_every_node_and_may_ask_for_pods_alone() -> None:
    values = release("alloy", logs=LOKI).values
    assert values["controller"]["tolerations"] == [{"operator": "Exists"}]
    asked = [*values["rbac"]["rules"], *values["rbac"]["clusterRules"]]
    assert {resource for rule in asked for resource in rule["resources"]} == {"pods", "namespaces"}
    # The chart reads the text as a template of Helm.
    assert "{{" not in values["alloy"]["configMap"]["content"]


def test_every_label_and_all_metadata_have_a_rule() -> None:
    labels = labels_of_kinds(kinds().values())
    text = configuration("http://loki.logging.svc:3100/loki/api/v1/push", labels)
    targets = set(re.findall(r'target_label = "([a-z]+)"', text))
    assert targets == {*STREAM_LABELS, *METADATA} - {"restart", "stream"}
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    ("run", "job"),
    [
        ("llama-1a2b3", "llama"),
        ("llama3-8b-cpu-26ed5", "llama3-8b-cpu"),
        ("rl-1a2b3-x7k2p", "rl"),
        ("others", "others"),
    ],
)
def test_the_job_is_that_of_the_spec(run: str, job: str) -> None:
    found = re.fullmatch(JOB_OF_RUN, run)
    assert found is not None
    assert found[1] == job


def test_who_reaches_loki() -> None:
    def policy(**parts: Any) -> NetworkPolicy:
        plan = plan_of(spec(logs=LOKI, **parts))
        (found,) = [each for each in plan.of(NetworkPolicy) if each.namespace == "logging"]
        return found

    alone, observed = policy(), policy(monitoring={})
    assert alone.ingress is not None
    assert observed.ingress is not None
    assert len(alone.ingress) == 1
    assert {port for rule in observed.ingress for _, port in rule.ports} == {3100, 12345}


def test_all_of_it_fits_beside_monitoring_on_two_c7g_2xlarge() -> None:
    """S16: RES042 would be a finding."""
    (done,) = check([ROOT / "tests" / "scenarios" / "observed.yaml"], Options()).compilations
    assert not done.diagnostics
    assert done.plan is not None
    size = done.plan.one(LogSize)
    assert size is not None
    assert size.working == 20


def test_more_than_one_pod_of_loki_takes_is_reported() -> None:
    (fault,) = faults_of(spec(logs={"loki": {"perPodDay": "100Gi"}}))
    assert fault.code == "RES340"


def test_retention_is_of_whole_days() -> None:
    _, (fault,) = load(document(spec(logs={"loki": {"retention": "30h"}})))
    assert fault.code == "SPC005"
    assert "`48h`, which is 2 days" in fault.help


KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"


@pytest.mark.parametrize("key", [None, KEY])
def test_the_role_uses_the_key_of_the_bucket(key: str | None) -> None:
    """S3 user guide, UsingKMSEncryption: GenerateDataKey to write, Decrypt to read and to upload in parts."""
    loki = {"loki": {"kmsKey": key}} if key else {"loki": {}}
    (policy,) = stack(logs=loki)["Role"]["Properties"]["Policies"]
    actions = [
        each["Action"] for each in policy["PolicyDocument"]["Statement"] if each["Resource"] == key
    ]
    assert actions == ([["kms:GenerateDataKey", "kms:Decrypt"]] if key else [])


@pytest.mark.parametrize("length", [35, 36, 40])
def test_the_bucket_has_a_name_that_s3_takes(length: int) -> None:
    """63 characters at most: a longer one is cut, and ends in a digest."""
    data = spec(logs=LOKI)
    data["metadata"]["name"] = "a" * length
    (made,) = plan_of(data).of(LogBucket)
    assert len(made.bucket) <= 63


def test_nodes_of_the_system_are_none_of_auto_mode() -> None:
    """Each of them has agents, whose lines are counted."""
    sizes = [plan_of(spec(logs=LOKI, platform={"eks": own})).one(LogSize) for own in ({}, AUTO)]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert sizes[0].others - sizes[1].others == 2 * AGENTS
