"""The linker: what a set refers to must be in it, if the set is closed; cycles are wrong in any set."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.verify import verify
from trainyard.verify.objects import ObjectSet
from trainyard.verify.references import REFERENCES, references
from trainyard.verify.schemas import Schemas

from verify.conftest import (
    CLUSTER_QUEUE,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    RUNTIME,
    TRAIN_JOB,
    edited,
)

Body = dict[str, Any]


def body_of(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Body:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}),
        **rest,
    }


NODE_CLASS = body_of(
    "karpenter.k8s.aws/v1",
    "EC2NodeClass",
    "gpu",
    spec={
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260801"}],
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
    },
)
NAMESPACE = body_of("v1", "Namespace", "team-a")
FLAVOR = body_of("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "a100")
LOCAL_QUEUE = body_of(
    "kueue.x-k8s.io/v1beta2", "LocalQueue", "research", "team-a", spec={"clusterQueue": "research"}
)
OCI = body_of(
    "source.toolkit.fluxcd.io/v1",
    "OCIRepository",
    "kueue",
    "flux-system",
    spec={"url": "oci://r.example/kueue", "interval": "1h"},
)
GIT = body_of(
    "source.toolkit.fluxcd.io/v1",
    "GitRepository",
    "fleet",
    "flux-system",
    spec={"url": "https://g.example/f", "interval": "1h"},
)
SET = [
    NODE_POOL,
    NODE_CLASS,
    NAMESPACE,
    CLUSTER_QUEUE,
    FLAVOR,
    LOCAL_QUEUE,
    RUNTIME,
    TRAIN_JOB,
    KUSTOMIZATION,
    HELM_RELEASE,
    OCI,
    GIT,
]


POD = "spec/template/spec"
RUNTIME_POD = "spec/template/spec/replicatedJobs/0/template/spec/template/spec"
AT_RUNTIME_POD = "spec.template.spec.replicatedJobs[0].template.spec.template.spec"
QUEUE_LABEL = "metadata/labels/kueue.x-k8s.io|queue-name"


def reported(bodies: list[Body], **options: Any) -> list[tuple[str, str]]:
    found = verify([Manifest(body) for body in bodies], **options)
    return [(one.code, str(one.at)) for one in found]


def test_a_whole_set_has_no_fault() -> None:
    assert reported(SET) == []


@pytest.mark.parametrize(
    ("gone", "at"),
    [
        (NODE_CLASS, "@NodePool/gpu.spec.template.spec.nodeClassRef.name"),
        (FLAVOR, "@ClusterQueue/research.spec.resourceGroups[0].flavors[0].name"),
        (CLUSTER_QUEUE, "@LocalQueue/team-a/research.spec.clusterQueue"),
        (LOCAL_QUEUE, '@TrainJob/team-a/llama.metadata.labels["kueue.x-k8s.io/queue-name"]'),
        (RUNTIME, "@TrainJob/team-a/llama.spec.runtimeRef.name"),
        (GIT, "@Kustomization/flux-system/queues.spec.sourceRef.name"),
        (OCI, "@HelmRelease/flux-system/kueue.spec.chartRef.name"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_what_is_missing_is_reported_where_it_is_named(gone: Body, at: str) -> None:
    rest = [body for body in SET if body is not gone]
    assert reported(rest) == [("REF001", at)]
    assert reported(rest, closed=False) == []  # it may live elsewhere
    ref = Manifest(gone).ref
    elsewhere = ObjectRef(f"{ref.group}/v9", ref.kind, ref.namespace, ref.name)
    assert reported(rest, external=frozenset({elsewhere})) == []


def test_a_missing_namespace_is_reported_for_each_object_in_it() -> None:
    rest = [body for body in SET if body is not NAMESPACE]
    assert {code for code, _ in reported(rest)} == {"REF002"}
    assert len(reported(rest)) == 2
    creating = edited(
        HELM_RELEASE,
        ("spec/install", {"createNamespace": True}),
        ("spec/targetNamespace", "team-a"),
    )
    assert reported([*(body for body in rest if body is not HELM_RELEASE), creating]) == []


def test_a_namespace_that_exists_outside_the_set_is_there() -> None:
    rest = [body for body in SET if body is not NAMESPACE]
    assert reported(rest, external=frozenset({Manifest(NAMESPACE).ref})) == []
    other = body_of("v1", "Namespace", "team-b")
    found = reported(rest, external=frozenset({Manifest(other).ref}))
    assert {code for code, _ in found} == {"REF002"}


def test_what_a_runtime_of_the_cluster_names_is_the_matter_of_its_own_jobs() -> None:
    """A job of a runtime of the namespace, which has the same name, is none of them."""
    pods = f"{RUNTIME_POD}/volumes/0"
    wide = edited(RUNTIME, (pods, {"name": "shm", "configMap": {"name": "absent"}}))
    own = edited(RUNTIME, ("kind", "TrainingRuntime"), ("metadata/namespace", "team-a"))
    job = edited(TRAIN_JOB, ("spec/runtimeRef/kind", "TrainingRuntime"))
    rest = [NAMESPACE, CLUSTER_QUEUE, FLAVOR, LOCAL_QUEUE]
    assert reported([*rest, wide, own, job]) == []
    assert reported([*rest, wide, own, TRAIN_JOB]) == [
        ("REF001", f"@ClusterTrainingRuntime/torch.{AT_RUNTIME_POD}.volumes[0].configMap.name")
    ]


@pytest.mark.parametrize(
    "maker",
    [
        body_of("external-secrets.io/v1", "ExternalSecret", "token", "team-a", spec={}),
        body_of(
            "external-secrets.io/v1",
            "ExternalSecret",
            "other",
            "team-a",
            spec={"target": {"name": "token"}},
        ),
        body_of("bitnami.com/v1alpha1", "SealedSecret", "token", "team-a"),
    ],
    ids=["by its own name", "by the name of the target", "sealed"],
)
def test_a_secret_that_a_controller_makes_is_no_loose_end(maker: Body) -> None:
    volumes = [{"name": "v", "secret": {"secretName": "token"}}]
    job = edited(JOB, (f"{POD}/volumes", volumes))
    alike = body_of("v1", "Secret", "tokens", "team-a")
    assert reported([job, alike], closed=False) == [
        ("REF001", "@Job/team-a/smoke.spec.template.spec.volumes[0].secret.secretName")
    ]
    assert [code for code, _ in reported([job, alike, maker], closed=False)] == []


def test_a_slip_is_reported_where_the_right_name_is_used_as_well() -> None:
    """Nothing is left over that could be meant: the name alone says it."""
    second = edited(
        TRAIN_JOB,
        ("metadata/name", "mistral"),
        (QUEUE_LABEL, "reserch"),
        ("spec/trainer/image", "i"),
    )
    found = verify([Manifest(body) for body in (LOCAL_QUEUE, TRAIN_JOB, second)], closed=False)
    assert [(one.code, one.object, one.message) for one in found] == [
        (
            "REF001",
            "TrainJob/team-a/mistral",
            "there is no `LocalQueue` `reserch`, and there is `research`",
        )
    ]


def test_a_runtime_with_jobs_in_two_namespaces_is_reported_once() -> None:
    volume = {"name": "shm", "configMap": {"name": "setings"}}
    wide = edited(RUNTIME, (f"{RUNTIME_POD}/volumes/0", volume))
    jobs = [edited(TRAIN_JOB, ("metadata/namespace", space)) for space in ("team-a", "team-b")]
    maps = [body_of("v1", "ConfigMap", "settings", space) for space in ("team-a", "team-b")]
    assert reported([wide, *jobs, *maps], closed=False) == [
        ("REF001", f"@ClusterTrainingRuntime/torch.{AT_RUNTIME_POD}.volumes[0].configMap.name")
    ]


def test_of_very_many_unused_names_none_is_meant() -> None:
    """One that is alike says nothing among so many."""
    names = [f"data-{index:03}" for index in range(101)]
    job = edited(JOB, (f"{POD}/volumes", [{"name": "v", "configMap": {"name": "data-0010"}}]))

    def found(count: int) -> list[tuple[str, str]]:
        maps = [body_of("v1", "ConfigMap", name, "team-a") for name in names[:count]]
        return reported([job, *maps], closed=False)

    assert [code for code, _ in found(100)] == ["REF001"]
    assert found(101) == []


def test_references_of_a_cluster_are_to_kinds_without_a_namespace() -> None:
    """By the scope in the schema of the kind. A typed reference names its kind itself, and its scope follows that."""
    schemas = Schemas()
    scopes = {
        (api_version.partition("/")[0], kind): schemas.find(api_version, kind)[0].scope
        for kind, api_versions in schemas.served().items()
        for api_version in api_versions
        if schemas.find(api_version, kind)
    }
    seen = set()
    for origin, listed in REFERENCES.items():
        for reference in listed:
            target = (reference.target_group, reference.target_kind)
            if target in scopes and not reference.typed:
                seen.add(target)
                assert reference.cluster == (scopes[target] == "Cluster"), (origin, target)
    assert {("kueue.x-k8s.io", "ResourceFlavor"), ("kueue.x-k8s.io", "LocalQueue")} <= seen


def test_a_queue_of_another_namespace_is_pointed_out() -> None:
    moved = edited(LOCAL_QUEUE, ("metadata/namespace", "default"))
    found = verify([Manifest(moved if body is LOCAL_QUEUE else body) for body in SET])
    assert [(one.code, one.help) for one in found] == [("REF001", "it is in namespace `default`")]


def test_a_misspelled_name_is_answered_with_the_nearest() -> None:
    wrong = edited(LOCAL_QUEUE, ("spec/clusterQueue", "reserch"))
    found = verify([Manifest(wrong if body is LOCAL_QUEUE else body) for body in SET])
    assert [(one.code, one.help) for one in found] == [("REF001", "did you mean `research`?")]


QUEUED = {"labels": {"kueue.x-k8s.io/queue-name": "reserch"}}


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("batch/v1", "CronJob"),
        ("kubeflow.org/v1", "TFJob"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ("ray.io/v1", "RayCluster"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
        ("workload.codeflare.dev/v1beta2", "AppWrapper"),
        ("example.org/v1", "Unknown"),
    ],
)
def test_whatever_waits_in_a_queue_names_one(api_version: str, kind: str) -> None:
    body = body_of(api_version, kind, "one", "team-a")
    body["metadata"] |= QUEUED
    target = ("kueue.x-k8s.io", "LocalQueue", "team-a", "reserch")
    assert references(body) == ((("metadata", "labels", "kueue.x-k8s.io/queue-name"), target),)


def test_the_jobs_of_a_cron_job_name_a_queue() -> None:
    body = body_of("batch/v1", "CronJob", "one", "team-a")
    body["spec"] = {"jobTemplate": {"metadata": QUEUED}}
    ((path, target),) = references(body)
    assert path[:3] == ("spec", "jobTemplate", "metadata")
    assert target == ("kueue.x-k8s.io", "LocalQueue", "team-a", "reserch")


@pytest.mark.parametrize(
    ("edit", "target"),
    [
        (
            (f"{POD}/volumes", [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]),
            "PersistentVolumeClaim",
        ),
        ((f"{POD}/volumes", [{"name": "v", "configMap": {"name": "x"}}]), "ConfigMap"),
        ((f"{POD}/volumes", [{"name": "v", "secret": {"secretName": "x"}}]), "Secret"),
        ((f"{POD}/serviceAccountName", "x"), "ServiceAccount"),
        ((f"{POD}/priorityClassName", "x"), "PriorityClass"),
        ((f"{POD}/imagePullSecrets", [{"name": "x"}]), "Secret"),
        (
            (
                f"{POD}/containers/0/env",
                [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}],
            ),
            "Secret",
        ),
        ((f"{POD}/containers/0/envFrom", [{"configMapRef": {"name": "x"}}]), "ConfigMap"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_references_of_pods(edit: tuple[str, Any], target: str) -> None:
    job = edited(JOB, edit)
    assert [identity[1] for _, identity in references(job)] == [target]
    assert [code for code, _ in reported([NAMESPACE, job])] == ["REF001"]
    assert reported([NAMESPACE, job], closed=False) == []


def test_optional_references_and_what_every_cluster_has_are_no_faults() -> None:
    job = edited(
        JOB,
        (f"{POD}/volumes", [{"name": "v", "secret": {"secretName": "x", "optional": True}}]),
        (f"{POD}/serviceAccountName", "default"),
        (f"{POD}/priorityClassName", "system-node-critical"),
    )
    binding = body_of(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        "v",
        "team-a",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        subjects=[{"kind": "Group", "name": "ml", "apiGroup": "rbac.authorization.k8s.io"}],
    )
    assert reported([NAMESPACE, job, binding]) == []


def chain(*names: str, last: str | None = None) -> list[Body]:
    """Kustomizations that each depend on the one before; the first on ``last``."""
    out = []
    for before, name in zip([last, *names], names, strict=False):
        body = edited(KUSTOMIZATION, ("metadata/name", name))
        if before:
            body["spec"]["dependsOn"] = [{"name": before}]
        out.append(body)
    return out


@pytest.mark.parametrize("closed", [True, False])
def test_a_cycle_is_reported_once(closed: bool) -> None:
    found = verify(
        [Manifest(body) for body in [GIT, *chain("a", "b", "c", last="c")]], closed=closed
    )
    assert [(one.code, str(one.at)) for one in found] == [
        ("REF003", "@Kustomization/flux-system/a.spec.dependsOn[0].name")
    ]
    assert "`a` → `c` → `b` → `a`" in found[0].message
    assert reported([GIT, *chain("a", "b", "c")], closed=closed) == []


@pytest.mark.slow
def test_a_long_chain_and_a_diamond_are_no_cycle() -> None:
    names = [f"k{index:04}" for index in range(1500)]
    assert reported([GIT, *chain(*names)]) == []
    a, b, c, d = chain("a", "b", "c", "d")
    c["spec"]["dependsOn"], d["spec"]["dependsOn"] = (
        [{"name": "a"}],
        [{"name": "b"}, {"name": "c"}],
    )
    assert reported([GIT, a, b, c, d]) == []


def test_cohorts_in_a_circle() -> None:
    cohorts = [
        body_of("kueue.x-k8s.io/v1beta2", "Cohort", name, spec={"parentName": parent})
        for name, parent in (("a", "b"), ("b", "a"))
    ]
    assert reported(cohorts) == [("REF003", "@Cohort/a.spec.parentName")]
    assert (
        reported(cohorts[:1]) == []
    )  # a parent without an object of its own is a cohort all the same


def test_references_survive_any_shape() -> None:
    for spec in (
        None,
        [],
        "x",
        {"runtimeRef": 3},
        {"runtimeRef": {"name": 3}},
        {"runtimePatches": {"a": 1}},
        {"trainer": {"env": [1]}},
    ):
        list(references({**TRAIN_JOB, "spec": spec}))
    assert ObjectSet([Manifest({"metadata": 3})]).duplicates == []
