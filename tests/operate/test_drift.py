"""``drift`` says where a cluster differs from the committed output, and stores nothing in it."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import data_of
from running import Command
from trainyard.extensions.operate.drift import leaves, owners
from trainyard.output.emit.marker import marked
from trainyard.output.emit.yaml import dump
from trainyard.output.fields import ABSENT, Item, differing, shown
from trainyard.output.hidden import hidden

from operate.server import Cluster, serving
from operate.test_status import lab

__all__ = ["lab"]  # fixtures
pytest.importorskip("kubernetes")
pytestmark = pytest.mark.slow

FLUX = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations"
OWNER = {
    "kustomize.toolkit.fluxcd.io/name": "trainyard-platform",
    "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
}
CLUSTER_SCOPED = frozenset(
    (
        *(
            "ClusterRole",
            "ClusterRoleBinding",
            "ClusterQueue",
            "ClusterTrainingRuntime",
            "Topology",
        ),
        *(
            "EC2NodeClass",
            "Namespace",
            "NodeOverlay",
            "NodePool",
            "PriorityClass",
            "ResourceFlavor",
        ),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "PersistentVolume"),
        *("WorkloadPriorityClass", "StorageClass"),
    )
)


def path_of(body: dict[str, Any]) -> str:
    version, kind = body["apiVersion"], body["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if kind not in CLUSTER_SCOPED:
        root += f"/namespaces/{body['metadata']['namespace']}"
    return f"{root}/{kind.lower()}s/{body['metadata']['name']}"


@pytest.fixture
def applied(lab: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster ``lab`` as Flux leaves it: every object as in git, with its labels, defaults and a status."""
    found = Cluster()
    for file in sorted(lab.glob("generated/lab/**/*.yaml")):
        folder = file.relative_to(lab / "generated/lab")
        if folder.parts[0] == "bootstrap" and folder.parts[1] != "flux":
            continue
        body = data_of(file.read_text())
        serve(found, body)
    with serving(found, lab) as file:
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))
        yield found


def serve(cluster: Cluster, body: dict[str, Any]) -> None:
    live = copy.deepcopy(body)
    labels = {**live["metadata"].get("labels", {}), **OWNER}
    live["metadata"] |= {"labels": labels, "resourceVersion": "7", "generation": 1, "uid": "u"}
    live["metadata"]["managedFields"] = []
    live["status"] = {"observedGeneration": 1}
    path = path_of(body)
    cluster.single[path] = live
    version = "/".join(path.split("/")[: 4 if path.startswith("/apis") else 3])
    resources = cluster.single.setdefault(version, {"resources": []})["resources"]
    kind = body["kind"]
    resource = {"name": f"{kind.lower()}s", "kind": kind, "namespaced": kind not in CLUSTER_SCOPED}
    if resource not in resources:
        resources += [resource, {**resource, "name": f"{resource['name']}/status"}]


def of_kind(cluster: Cluster, kind: str) -> tuple[str, dict[str, Any]]:
    for path, body in cluster.single.items():
        if body.get("kind") == kind:
            return path, body
    raise AssertionError(kind)


def asked(trainyard: Command, lab: Path, code: int) -> dict[str, Any]:
    done = trainyard("drift", "lab.yaml", "--format", "json", cwd=lab)
    assert done.code == code, done.err + done.out
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_in_sync(trainyard: Command, lab: Path, applied: Cluster) -> None:
    before = copy.deepcopy(applied.single)
    found = asked(trainyard, lab, 0)
    assert found["drifted"] == []
    assert found["inSync"] == len(applied.applied) > 20
    assert applied.single == before
    assert applied.created == []
    assert not [path for path, _ in applied.applied if "eksctl" in path]
    text = trainyard("drift", "lab.yaml", cwd=lab)
    assert (text.code, text.out) == (0, f"lab: {found['inSync']} objects in sync (context local)\n")


def test_a_field_with_both_values_and_its_owner(
    trainyard: Command, lab: Path, applied: Cluster
) -> None:
    _, job = of_kind(applied, "TrainJob")
    job["spec"]["trainer"]["numNodes"] = 3
    job["metadata"]["managedFields"] = [
        {"manager": "kubectl-edit", "fieldsV1": {"f:spec": {"f:trainer": {"f:numNodes": {}}}}},
        {"manager": "kustomize-controller", "fieldsV1": {"f:spec": {"f:runtimeRef": {}}}},
    ]
    (drift,) = asked(trainyard, lab, 5)["drifted"]
    assert (drift["kind"], drift["state"]) == ("TrainJob", "differs")
    assert drift["fields"] == [
        {"path": "spec.trainer.numNodes", "git": 4, "cluster": 3, "owners": ["kubectl-edit"]}
    ]
    text = trainyard("drift", "lab.yaml", cwd=lab)
    assert text.out.startswith("lab: 1 differs, ")
    assert "    spec.trainer.numNodes: git 4, cluster 3 (kubectl-edit)\n" in text.out
    assert f"(jobs/training.trainjob-{job['metadata']['name']}.yaml)" in text.out


def test_what_people_added_with_kubectl(trainyard: Command, lab: Path, applied: Cluster) -> None:
    """No dry run shows a field that git does not have; Flux takes it away all the same. A controller's field stays."""
    _, job = of_kind(applied, "TrainJob")
    job["spec"]["suspend"] = False
    job["metadata"]["annotations"] |= {
        "mine": "1",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    marks = {"f:mine": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}
    job["metadata"]["managedFields"] = [
        {"manager": "kueue", "fieldsV1": {"f:spec": {"f:suspend": {}}}},
        {"manager": "kubectl-annotate", "fieldsV1": {"f:metadata": {"f:annotations": marks}}},
        {
            "manager": "kubectl-patch",
            "subresource": "status",
            "fieldsV1": {"f:status": {"f:observedGeneration": {}}},
        },
    ]
    (drift,) = asked(trainyard, lab, 5)["drifted"]
    assert drift["fields"] == [
        {"path": "metadata.annotations.mine", "cluster": "1", "owners": ["kubectl-annotate"]}
    ]


def test_missing_in_the_cluster_and_not_in_git(
    trainyard: Command, lab: Path, applied: Cluster
) -> None:
    path, queue = of_kind(applied, "LocalQueue")
    del applied.single[path]
    old = copy.deepcopy(queue)
    old["metadata"]["name"] = "old"
    serve(applied, old)
    ids = [f"training_{name}_kueue.x-k8s.io_LocalQueue" for name in ("old", "deleted")]
    ids.append("training_token__Secret")
    ids.append(f"training_{queue['metadata']['name']}_kueue.x-k8s.io_LocalQueue")
    stage = applied.single[f"{FLUX}/trainyard-queues"]
    entries = [{"id": id, "v": "v1beta2"} for id in ids]
    stage["status"]["inventory"] = {"entries": entries}
    stage["spec"]["suspend"] = True
    found = asked(trainyard, lab, 5)
    assert [(each["name"], each["state"]) for each in found["drifted"]] == [
        (queue["metadata"]["name"], "missing"),
        ("old", "notInGit"),
        ("token", "notInGit"),
    ]
    assert not [path for path in applied.asked if "/secrets/" in path]
    assert found["suspended"] == ["trainyard-queues"]
    text = trainyard("drift", "lab.yaml", cwd=lab).out
    assert "lab: 1 missing in the cluster, 2 not in git, " in text
    assert "LocalQueue/training/old: not in git, and Kustomization trainyard-queues owns it" in text
    assert "suspended: Kustomization trainyard-queues applies nothing" in text


def test_what_is_terminating_is_drift(trainyard: Command, lab: Path, applied: Cluster) -> None:
    _, queue = of_kind(applied, "ClusterQueue")
    finalizer = "kueue.x-k8s.io/resource-in-use"
    queue["metadata"] |= {"deletionTimestamp": "2026-11-25T11:05:17Z", "finalizers": [finalizer]}
    (drift,) = asked(trainyard, lab, 5)["drifted"]
    assert (drift["state"], drift["heldBy"]) == ("terminating", [finalizer])
    out = trainyard("drift", "lab.yaml", cwd=lab).out
    assert f"ClusterQueue/{queue['metadata']['name']}: Terminating, held by {finalizer}" in out


def test_of_a_namespace_that_is_terminating_it_says_what_is_left_in_it(
    trainyard: Command, lab: Path, applied: Cluster
) -> None:
    _, namespace = of_kind(applied, "Namespace")
    namespace["metadata"] |= {"deletionTimestamp": "2026-11-25T11:05:17Z"}
    left = "Some content in the namespace has finalizers remaining: example.com/kept in 1 resource instances"
    namespace["status"] = {
        "conditions": [
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "none"},
            {"type": "NamespaceFinalizersRemaining", "status": "True", "message": left},
        ]
    }
    (drift,) = asked(trainyard, lab, 5)["drifted"]
    assert (drift["state"], drift["heldBy"]) == ("terminating", [left])


def test_what_the_cluster_refuses_is_drift(trainyard: Command, lab: Path, applied: Cluster) -> None:
    path, _ = of_kind(applied, "TrainJob")
    for status, message in (
        (422, "spec.runtimeRef: Invalid value: field is immutable"),
        (403, 'admission webhook "x" denied the request: no'),
    ):
        applied.denied[path] = (status, message)
        (drift,) = asked(trainyard, lab, 5)["drifted"]
        assert (drift["state"], drift["refused"]) == ("refused", message)


def test_the_right_to_patch_is_needed(trainyard: Command, lab: Path, applied: Cluster) -> None:
    path, _ = of_kind(applied, "TrainJob")
    applied.denied[path] = (403, 'User "me" cannot patch resource "trainjobs"')
    done = trainyard("drift", "lab.yaml", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU005]" in done.err
    assert "cannot patch" in done.err


def test_nothing_is_committed(trainyard: Command, lab: Path, applied: Cluster) -> None:
    done = trainyard("drift", "lab.yaml", "--output", "elsewhere", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert "error[CLU016]" in done.err


def test_another_cluster_is_not_compared(trainyard: Command, lab: Path, applied: Cluster) -> None:
    applied.single[f"{FLUX}/trainyard"]["spec"]["path"] = "./generated/prod/flux"
    done = trainyard("drift", "lab.yaml", cwd=lab)
    assert (done.code, done.out, applied.applied) == (2, "", [])
    assert "error[CLU006]" in done.err


def commit(lab: Path, path: str, body: dict[str, Any]) -> None:
    """An object in the committed folder, as the compiler writes it."""
    file = lab / "generated/lab" / path
    file.write_bytes(marked(path, dump(body).encode()))


def config_map(name: str, **annotations: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "training", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}}


def test_what_is_not_compared_is_said(trainyard: Command, lab: Path, applied: Cluster) -> None:
    flux = "kustomize.toolkit.fluxcd.io"
    secret = {**config_map("token"), "kind": "Secret", "data": {"a": "c3dvcmRmaXNo"}}
    alone = config_map("alone", **{f"{flux}/reconcile": "disabled"})
    once = config_map("once", **{f"{flux}/ssa": "IfNotPresent"})
    merged = config_map("merged", **{f"{flux}/ssa": "Merge"})
    for body in (secret, alone, once, merged):
        commit(lab, f"platform/{body['metadata']['name']}.yaml", body)
        serve(applied, {**body, "data": {"a": "1", "b": "2"}})
    (lab / "generated/lab/more").mkdir()
    commit(lab, "more/x.yaml", config_map("x"))
    (lab / "generated/lab/health/mine.yaml").write_text("kind: ConfigMap\n")
    entry = {"manager": "kubectl-edit", "fieldsV1": {"f:data": {"f:b": {}}}}
    applied.single[path_of(merged)]["metadata"]["managedFields"] = [entry]
    done = trainyard("drift", "lab.yaml", "--format", "json", cwd=lab)
    assert done.code == 0, done.out
    assert json.loads(done.out)["notCompared"] == [
        {"file": "more/x.yaml", "why": "no Kustomization applies its folder"},
        {"file": "platform/alone.yaml", "why": "Flux leaves it alone, by its annotation"},
        {"file": "platform/token.yaml", "why": "it is secret"},
        {"file": "health/mine.yaml", "why": "it is no object that Trainyard wrote"},
    ]
    assert not [path for path in applied.asked if path_of(secret) in path]
    assert "not compared: platform/token.yaml" in trainyard("drift", "lab.yaml", cwd=lab).out
    del applied.single[path_of(once)]
    (missing,) = asked(trainyard, lab, 5)["drifted"]
    assert (missing["name"], missing["state"]) == ("once", "missing")


def test_values_that_flux_fills_in(trainyard: Command, lab: Path, applied: Cluster) -> None:
    """A stage with values of the bootstrap: known ones are filled in before the comparison."""
    path = "flux/kustomization-trainyard-platform.yaml"
    stage = data_of((lab / "generated/lab" / path).read_text())
    sources = [{"kind": "ConfigMap", "name": "made"}]
    stage["spec"]["postBuild"] = {"substituteFrom": sources}
    commit(lab, path, stage)
    serve(applied, stage)
    body = config_map("volume")
    commit(lab, "platform/volume.yaml", {**body, "data": {"a": "fs-${id}"}})
    serve(applied, {**body, "data": {"a": "fs-0a1b"}})
    found = asked(trainyard, lab, 0)
    assert {"file": "platform/volume.yaml", "why": "nothing says what `${id}` is"} in found[
        "notCompared"
    ]
    made = "/api/v1/namespaces/flux-system/configmaps/made"
    applied.single[made] = {"data": {"id": "0a1b"}}
    assert asked(trainyard, lab, 0)["notCompared"] == []
    applied.single[made] = {"data": {"id": "ffff"}}
    (drift,) = asked(trainyard, lab, 5)["drifted"]
    (field,) = drift["fields"]
    assert (field["git"], field["cluster"]) == ("fs-ffff", "fs-0a1b")


def test_lists_by_the_keys_of_their_items() -> None:
    git = {"c": [{"name": "a", "image": "1"}, {"name": "b"}], "s": [1, 2]}
    live = {"c": [{"name": "a", "image": "2"}, {"name": "b"}, {"name": "d"}], "s": [1, 2, 3]}
    found = [(shown(each.steps), each.wanted, each.found) for each in differing(git, live)]
    assert found == [
        ("c[name=a].image", "1", "2"),
        ("c[name=d]", ABSENT, {"name": "d"}),
        ("s", [1, 2], [1, 2, 3]),
    ]
    turned = {"c": list(reversed(git["c"]))}
    assert [shown(each.steps) for each in differing(git, {**git, **turned})] == ["c"]


def test_owners_through_lists_and_whole_values() -> None:
    fields = {"f:c": {'k:{"name":"a"}': {".": {}, "f:image": {}}}, "f:data": {}}
    body = {
        "c": [{"name": "a", "image": "2"}],
        "data": {"x": "1"},
        "metadata": {"managedFields": [{"manager": "m", "fieldsV1": fields}]},
    }
    assert owners(body, ("c", Item("name", "a"), "image")) == ("m",)
    assert owners(body, ("c", Item("name", "b"), "image")) == ()
    assert owners(body, ("c", Item("name", "a"), "args")) == ()
    assert owners(body, ("data", "x")) == ("m",)


def test_who_owns_an_item_that_has_nothing_but_its_key() -> None:
    fields = {"f:c": {'k:{"name":"a"}': {".": {}, "f:name": {}}}}
    body = {
        "c": [{"name": "a"}],
        "metadata": {"managedFields": [{"manager": "m", "fieldsV1": fields}]},
    }
    assert owners(body, ("c", Item("name", "a"), "name")) == ("m",)


def test_the_fields_that_a_manager_owns() -> None:
    """Items of lists by their keys; what is not there any more is left out."""
    body = {
        "spec": {
            "containers": [
                {"name": "a", "image": "1"},
                {"name": "b", "ports": [{"port": 80, "protocol": "TCP"}], "args": ["x"]},
            ],
            "finalizers": ["mine", "yours"],
        }
    }
    port = {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}
    fields = {
        "f:spec": {
            "f:containers": {
                'k:{"name":"b"}': {"f:ports": port, "f:args": {}, "f:image": {}},
                'k:{"name":"gone"}': {"f:image": {}},
            },
            "f:finalizers": {'v:"yours"': {}, 'v:"gone"': {}},
            "f:gone": {},
        }
    }
    found = {shown(steps): value for steps, value in leaves(fields, body)}
    assert found == {
        "spec.containers[name=b].ports[0].port": 80,
        "spec.containers[name=b].args": ["x"],
        "spec.finalizers[1]": "yours",
    }
    assert list(leaves(None, body)) == []
    entry = {"manager": "m", "fieldsV1": fields}
    live = {**body, "metadata": {"managedFields": [entry]}}
    containers = ("spec", "containers", Item("name", "b"))
    assert owners(live, (*containers, "ports", 0, "port")) == ("m",)
    assert owners(live, (*containers, "ports", 1, "port")) == ()


def test_credentials_are_hidden() -> None:
    steps = ("env", Item("name", "HF_TOKEN"), "value")
    assert hidden("swordfish-and-more", steps) == "***"
    variable = {"name": "HF_TOKEN", "value": "swordfish-and-more"}
    assert hidden(variable, steps[:2]) == {"name": "HF_TOKEN", "value": "***"}
    assert hidden(1000, ("value",)) == 1000  # of a PriorityClass, at the top
    assert hidden({"name": "LR", "value": "0.1"}, steps[:2]) == {"name": "LR", "value": "0.1"}


def test_a_real_api_server_is_compared(
    trainyard: Command, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRAINYARD_KUBECONFIG names a test API server: whatever is in it, the answer is a comparison or says why not."""
    file = os.environ.get("TRAINYARD_KUBECONFIG")
    if not file:
        pytest.skip("TRAINYARD_KUBECONFIG names no kubeconfig of a test API server")
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", file)
    done = trainyard("drift", "lab.yaml", "--format", "json", cwd=lab)
    if done.code == 2:
        assert "error[CLU006]" in done.err
    else:
        found = json.loads(done.out)
        assert done.code == (5 if found["drifted"] else 0)
        assert found["inSync"] + len(found["drifted"]) > 20
