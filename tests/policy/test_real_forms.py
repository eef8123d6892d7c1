"""Claims of docs/faults.md in the forms that repositories have: kinds, labels and installers differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Command

pytestmark = pytest.mark.needs("lint")

CONTAINER = {"name": "node", "image": "ghcr.io/team/train:1.0", "command": ["python", "train.py"]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SLOW = {"subnetId": "subnet-0a1b2c3d4e5f60718", "deploymentType": "SCRATCH_2"}
ACCOUNT = "team-runs-111122223333"
REGIONAL = f"{ACCOUNT}-us-west-2"


def found(code: str, folder: Path, trainyard: Command, *bodies: dict[str, Any]) -> int:
    """How often lint reports a code of a file with these objects."""
    (folder / "all.yaml").write_text(yaml.safe_dump_all(bodies))
    done = trainyard("lint", "--format", "json", "all.yaml", cwd=folder)
    codes = [each["code"] for each in json.loads(done.out)["diagnostics"]]
    assert not [each for each in codes if each.startswith(("SCH", "YML", "LNT"))]
    return codes.count(code)


def body(api: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "train"}, **rest}


def nested(value: Any, *path: str) -> Any:
    """A value below keys; `*` is a list of one."""
    for key in reversed(path):
        value = [value] if key == "*" else {key: value}
    return value


AVOIDED = {"key": "nvidia.com/gpu.uuid", "operator": "DoesNotExist", "values": ["GPU-4f1c"]}
TERMS = nested(AVOIDED, "nodeAffinity", REQUIRED, "nodeSelectorTerms", "*", "matchExpressions", "*")
ONCE = {"containers": [CONTAINER], "affinity": TERMS, "restartPolicy": "Never"}
ALWAYS = {"containers": [CONTAINER], "affinity": TERMS}
LABELLED = {
    "selector": {"matchLabels": {"app": "a"}},
    "template": {"metadata": {"labels": {"app": "a"}}, "spec": ALWAYS},
}
STEP = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
PATCH = nested(TERMS, "template", "spec", "template", "spec", "affinity")
KINDS = [
    body("v1", "Pod", spec=ONCE),
    body("v1", "List", items=[body("v1", "Pod", spec=ONCE)]),
    body("batch/v1", "Job", spec={"template": {"spec": ONCE}}),
    body(
        "batch/v1",
        "CronJob",
        spec={"schedule": "0 0 * * *", **nested(ONCE, "jobTemplate", "spec", "template", "spec")},
    ),
    body("apps/v1", "Deployment", spec=LABELLED),
    body("apps/v1", "DaemonSet", spec=LABELLED),
    body("apps/v1", "StatefulSet", spec={"serviceName": "a", **LABELLED}),
    body(
        "kubeflow.org/v1",
        "PyTorchJob",
        spec=nested(
            {"spec": {**ALWAYS, "containers": [{**CONTAINER, "name": "pytorch"}]}},
            *("pytorchReplicaSpecs", "Worker", "template"),
        ),
    ),
    body(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        spec=nested(
            {"name": "node", "template": nested(ONCE, "spec", "template", "spec")},
            *("replicatedJobs", "*"),
        ),
    ),
    body(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        spec=nested({"size": 2, "workerTemplate": {"spec": ALWAYS}}, "leaderWorkerTemplate"),
    ),
    body(
        "trainer.kubeflow.org/v1alpha1",
        "ClusterTrainingRuntime",
        spec=nested(
            {
                "name": "node",
                "template": {"metadata": STEP, **nested(ALWAYS, "spec", "template", "spec")},
            },
            *("template", "spec", "replicatedJobs", "*"),
        ),
    ),
    body(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        spec={
            "runtimeRef": {"name": "torch-distributed"},
            "runtimePatches": [
                {
                    "manager": "team.example/gpus",
                    "trainingRuntimeSpec": nested(
                        {"name": "node", **PATCH}, "template", "spec", "replicatedJobs", "*"
                    ),
                }
            ],
        },
    ),
]


@pytest.mark.parametrize("manifest", KINDS, ids=lambda manifest: manifest["kind"])
def test_an_affinity_that_excludes_every_node(
    manifest: dict[str, Any], tmp_path: Path, trainyard: Command
) -> None:
    assert found("PLC058", tmp_path, trainyard, manifest) == 1


JOB_NAME = "training.kubeflow.org/job-name"
SELECTORS = [
    {"matchLabels": {JOB_NAME: "train"}},
    {"matchExpressions": [{"key": JOB_NAME, "operator": "In", "values": ["train"]}]},
    {"matchLabels": {"training.kubeflow.org/replica-type": "master"}},
    {"matchLabels": {"training.kubeflow.org/job-role": "master"}},
    {"matchLabels": {"app": "train"}},
]


@pytest.mark.parametrize("key", ["node.kubernetes.io", "beta.kubernetes.io"])
@pytest.mark.parametrize("selector", SELECTORS, ids=json.dumps)
def test_workers_that_must_be_with_a_master_on_a_small_node(
    selector: dict[str, Any], key: str, tmp_path: Path, trainyard: Command
) -> None:
    wanted = {
        "key": f"{key}/instance-type",
        "operator": "In",
        "values": ["g5.2xlarge", "g5.12xlarge"],
    }
    own = nested(
        wanted, "nodeAffinity", REQUIRED, "nodeSelectorTerms", "*", "matchExpressions", "*"
    )
    there = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    container = {**CONTAINER, "name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": 1}}}

    def role(replicas: int, affinity: dict[str, Any]) -> dict[str, Any]:
        spec = {"containers": [container], "affinity": affinity}
        metadata = {"labels": {"app": "train"}}
        return {"replicas": replicas, "template": {"metadata": metadata, "spec": spec}}

    roles = {"Master": role(1, own), "Worker": role(3, nested(there, "podAffinity", REQUIRED, "*"))}
    job = body("kubeflow.org/v1", "PyTorchJob", spec={"pytorchReplicaSpecs": roles})
    assert found("PLC057", tmp_path, trainyard, job) == 1


def _application(**helm: Any) -> dict[str, Any]:
    source = {
        "repoURL": "https://helm.ngc.nvidia.com/nvidia",
        "chart": "gpu-operator",
        "targetRevision": "v25.10.1",
        "helm": helm,
    }
    destination = {"server": "https://kubernetes.default.svc", "namespace": "gpu-operator"}
    spec = {"project": "default", "destination": destination, "source": source}
    return body("argoproj.io/v1alpha1", "Application", spec=spec)


def _release(on: object) -> dict[str, Any]:
    source = {"kind": "HelmRepository", "name": "nvidia"}
    chart = {"chart": "gpu-operator", "version": "v25.10.1", "sourceRef": source}
    spec = {"interval": "1h", "chart": {"spec": chart}, "values": {"gds": {"enabled": on}}}
    return body("helm.toolkit.fluxcd.io/v2", "HelmRelease", spec=spec)


INSTALLED = {
    "Flux": _release(True),
    "Flux-text": _release("true"),
    "Argo-object": _application(valuesObject={"gds": {"enabled": True}}),
    "Argo-text": _application(values="driver:\n  enabled: true\ngds:\n  enabled: true\n"),
    "Argo-parameter": _application(parameters=[{"name": "gds.enabled", "value": "true"}]),
    "policy": body("nvidia.com/v1", "ClusterPolicy", spec={"gds": {"enabled": True}}),
}
ELSEWHERE = {
    "Flux": _release(False),
    "Argo": _application(values="gds:\n  enabled: false\ndriver:\n  enabled: true\n"),
}


def _class() -> dict[str, Any]:
    kind = body("storage.k8s.io/v1", "StorageClass", provisioner="fsx.csi.aws.com")
    return {**kind, "parameters": SLOW}


@pytest.mark.parametrize("by", INSTALLED)
def test_direct_storage_however_it_is_installed(
    by: str, tmp_path: Path, trainyard: Command
) -> None:
    assert found("RUN083", tmp_path, trainyard, INSTALLED[by], _class()) == 1


@pytest.mark.parametrize("by", ELSEWHERE)
def test_without_direct_storage_a_class_is_well(
    by: str, tmp_path: Path, trainyard: Command
) -> None:
    assert found("RUN083", tmp_path, trainyard, ELSEWHERE[by], _class()) == 0


def _volume() -> dict[str, Any]:
    csi = {
        "driver": "s3.csi.aws.com",
        "volumeHandle": "runs",
        "volumeAttributes": {"bucketName": REGIONAL},
    }
    spec = {"capacity": {"storage": "1Ti"}, "accessModes": ["ReadWriteMany"], "csi": csi}
    return body("v1", "PersistentVolume", spec=spec)


def _job(**rest: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{**CONTAINER, **rest}]}
    return body("batch/v1", "Job", spec={"template": {"spec": pod}})


NAMED = [
    (_job(command=["aws", "s3", "sync", f"s3://{ACCOUNT}/a", "/a"]), 1),
    (_job(command=["bash", "-c", f"mount-s3 {ACCOUNT} /a && python train.py"]), 1),
    (_job(env=[{"name": "BUCKET", "value": ACCOUNT}]), 1),
    (body("v1", "ConfigMap", data={"train.yaml": f"output: s3://{ACCOUNT}/llama\n"}), 1),
    (_job(command=["bash", "-c", f"mount-s3 {REGIONAL} /a && python train.py"]), 0),
    (_job(env=[{"name": "NAME", "value": "team-runs"}]), 0),
]


@pytest.mark.parametrize(("other", "count"), NAMED)
def test_a_bucket_under_two_names(
    other: dict[str, Any], count: int, tmp_path: Path, trainyard: Command
) -> None:
    assert found("RUN085", tmp_path, trainyard, _volume(), other) == count
