"""Pods that a namespace refuses by its label, and what each level wants."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.output.manifest import Manifest
from trainyard.verify import verify

HARD = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def namespace_with(level: str | None, name: str = "a") -> Manifest:
    labels = {"pod-security.kubernetes.io/enforce": level} if level else {}
    return Manifest(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    )


def pod(spec: dict[str, Any], security: dict[str, Any] | None = None) -> Manifest:
    container = {
        "name": "a",
        "image": "busybox:1.37",
        **({"securityContext": security} if security else {}),
    }
    return Manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "namespace": "a"},
            "spec": {"containers": [container], **spec},
        }
    )


def reported(*manifests: Manifest) -> list[tuple[str, str]]:
    return [(each.code, str(each.at).partition(".")[2]) for each in verify(manifests, closed=False)]


@pytest.mark.parametrize(
    ("spec", "security", "place"),
    [
        ({}, None, ""),
        ({"hostIPC": True}, None, "spec.hostIPC"),
        ({"hostNetwork": True}, None, "spec.hostNetwork"),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, None, "spec.volumes[0].hostPath"),
        ({"volumes": [{"name": "a", "emptyDir": {}}]}, None, ""),
        ({}, {"privileged": True}, "spec.containers[0].securityContext.privileged"),
        (
            {},
            {"capabilities": {"add": ["IPC_LOCK"]}},
            "spec.containers[0].securityContext.capabilities.add",
        ),
        ({}, {"capabilities": {"add": ["SYS_CHROOT"]}}, ""),
        (
            {"securityContext": {"sysctls": [{"name": "net.core.rmem_max", "value": "1"}]}},
            None,
            "spec.securityContext.sysctls[0].name",
        ),
        ({"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "1"}]}}, None, ""),
        ({}, {"procMount": "Unmasked"}, "spec.containers[0].securityContext.procMount"),
        (
            {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
            None,
            "spec.securityContext.appArmorProfile.type",
        ),
        (
            {},
            {"seccompProfile": {"type": "Unconfined"}},
            "spec.containers[0].securityContext.seccompProfile.type",
        ),
    ],
)
@pytest.mark.parametrize("level", ["baseline", "privileged", None])
def test_baseline(
    level: str | None, spec: dict[str, Any], security: dict[str, Any] | None, place: str
) -> None:
    """IPC_LOCK, which old guides ask for EFA, is refused; the default of a pod is not."""
    expected = [("SCH011", place)] if place and level == "baseline" else []
    assert reported(namespace_with(level), pod(spec, security)) == expected


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({}, ""),
        ({"allowPrivilegeEscalation": None}, "allowPrivilegeEscalation"),
        ({"runAsNonRoot": None}, "runAsNonRoot"),
        ({"runAsUser": 0}, "runAsUser"),
        ({"capabilities": {"drop": ["NET_RAW"]}}, "capabilities"),
        ({"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}}, "capabilities.add"),
        ({"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}, ""),
        ({"seccompProfile": None}, "seccompProfile"),
    ],
)
def test_restricted(change: dict[str, Any], place: str) -> None:
    security = {key: value for key, value in {**HARD, **change}.items() if value is not None}
    expected = [("SCH011", f"spec.containers[0].securityContext.{place}")] if place else []
    assert reported(namespace_with("restricted"), pod({}, security)) == expected


def test_what_the_pod_says_holds_for_its_containers() -> None:
    security = {key: HARD[key] for key in ("allowPrivilegeEscalation", "capabilities")}
    beside = {"securityContext": {key: HARD[key] for key in ("runAsNonRoot", "seccompProfile")}}
    assert reported(namespace_with("restricted"), pod(beside, security)) == []


def test_a_port_of_the_node_is_refused_and_one_of_the_container_is_not() -> None:
    for port, expected in (
        ({"containerPort": 80}, []),
        ({"containerPort": 80, "hostPort": 80}, [("SCH011", "spec.containers[0].ports")]),
    ):
        container = {"name": "a", "image": "busybox:1.37", "ports": [port]}
        body = pod({"containers": [container]})
        assert reported(namespace_with("baseline"), body) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"nfs": {"server": "s", "path": "/"}}, [("SCH011", "spec.volumes[0].nfs")]),
        ({"hostPath": {"path": "/"}}, [("SCH011", "spec.volumes[0].hostPath")]),
        ({"persistentVolumeClaim": {"claimName": "c"}}, []),
        ({}, []),
    ],
)
def test_volumes_that_the_restricted_level_takes(
    source: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    volumes = {"volumes": [{"name": "a", **source}]}
    assert reported(namespace_with("restricted"), pod(volumes, HARD)) == expected


def test_a_pod_without_a_spec_is_the_schemas_matter() -> None:
    body = pod({}).body | {"spec": ["a"]}
    assert reported(namespace_with("restricted"), Manifest(body)) == [("SCH002", "spec")]


def test_other_namespaces_are_free() -> None:
    assert reported(namespace_with("restricted", "b"), pod({"hostNetwork": True})) == []


def test_what_makes_pods_is_let_through_and_never_works() -> None:
    """One fault a pod template, however much is wrong with it."""
    template = {
        "metadata": {"labels": {"a": "a"}},
        "spec": {"containers": [{"name": "a", "image": "busybox:1.37"}]},
    }
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "a"},
        "spec": {"selector": {"matchLabels": {"a": "a"}}, "template": template},
    }
    assert reported(namespace_with("restricted"), Manifest(body)) == [
        ("SCH012", "spec.template.spec.containers[0].securityContext.allowPrivilegeEscalation")
    ]


@pytest.mark.parametrize(
    ("patch", "found"),
    [
        ([], ["spec.template.spec.replicatedJobs[0].template.spec.template.spec.hostIPC"]),
        (
            [
                {
                    "manager": "a.com/a",
                    "trainingRuntimeSpec": {
                        "template": {
                            "spec": {
                                "replicatedJobs": [
                                    {
                                        "name": "node",
                                        "template": {
                                            "spec": {
                                                "template": {
                                                    "spec": {"securityContext": {"runAsUser": 1}}
                                                }
                                            }
                                        },
                                    }
                                ]
                            }
                        }
                    },
                }
            ],
            [],
        ),
    ],
)
def test_the_pods_of_a_job_are_those_of_its_runtime(patch: list[Any], found: list[str]) -> None:
    node = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {
                "template": {
                    "spec": {
                        "hostIPC": True,
                        "containers": [{"name": "node", "image": "busybox:1.37"}],
                    }
                }
            },
        },
    }
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch-1"},
        "spec": {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}},
    }
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a", "namespace": "a"},
        "spec": {
            "runtimeRef": {"name": "torch-1"},
            "trainer": {"numNodes": 1},
            "runtimePatches": patch,
        },
    }
    assert reported(namespace_with("baseline"), Manifest(runtime), Manifest(job)) == [
        ("SCH012", each) for each in found
    ]
    assert reported(namespace_with("baseline", "b"), Manifest(runtime), Manifest(job)) == []
