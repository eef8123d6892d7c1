"""By whose rights Flux applies each folder: enough for everything that it finds there, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml
from builders import ROOT, manifests_of, objects_of, plan_of, spec
from trainyard.eks.flux.plan import Stage
from trainyard.extensions.declared_rules.admission_rule import plural
from trainyard.output.manifest import Body, Manifest
from trainyard.plan.features import extensions

MAKE = {"get", "list", "watch", "create", "patch", "delete"}
"""kustomize-controller v1.10: server-side apply, its look at what is there, and pruning."""
OWN_RIGHTS = {"trainyard", "trainyard-include", "trainyard-include-custom"}
"""Stages with all rights: the root, and what an adopter includes."""
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
Right = tuple[str, str, str]
"""An API group, a resource and a verb."""


def rights_of(rules: list[Body]) -> set[Right]:
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def granted(manifests: list[Manifest], account: str, namespace: str | None) -> set[Right]:
    """What an account may do in a namespace, or with what is in none."""
    roles = {
        (each.ref.kind, each.ref.namespace, each.ref.name): each.body["rules"]
        for each in manifests
        if each.ref.kind in ("Role", "ClusterRole")
    }
    found: set[Right] = set()
    for each in manifests:
        if each.ref.kind not in ("RoleBinding", "ClusterRoleBinding"):
            continue
        if not any(subject["name"] == account for subject in each.body["subjects"]):
            continue
        if each.ref.kind == "ClusterRoleBinding" or each.ref.namespace == namespace:
            role = each.body["roleRef"]
            place = "" if role["kind"] == "ClusterRole" else each.ref.namespace
            found |= rights_of(roles[role["kind"], place, role["name"]])
    return found


def needed(manifest: Manifest) -> set[Right]:
    """What it takes to apply an object: the rights to its kind, and those that it hands out itself."""
    group = manifest.ref.api_version.rpartition("/")[0]
    kind = manifest.ref.kind
    resource = plural(kind)
    rights = {(group, resource, verb) for verb in MAKE}
    if kind in ("Role", "ClusterRole"):
        rights |= rights_of(manifest.body["rules"])
    return rights


TEAM = [{"name": "training", "group": "research"}]
SPECS: dict[str, dict[str, Any]] = {
    "plain": spec(namespaces=TEAM),
    "no jobs": spec(namespaces=TEAM, jobs=[]),
    "storage": spec(
        namespaces=TEAM,
        storage=[
            {
                "name": "scratch",
                "fsxLustre": {"create": {"size": "4800Gi", "deployment": "SCRATCH_2"}},
            },
            {"name": "disk", "ebs": {"create": {"each": "namespace", "size": "100Gi"}}},
        ],
        job={
            "mounts": [
                {"storage": "scratch", "path": "/data"},
                {"storage": "disk", "path": "/disk"},
            ],
            "nodes": 1,
        },
    ),
    "secrets": spec(
        namespaces=TEAM,
        secrets=[
            {
                "name": "hub",
                "namespaces": ["training"],
                "secretsManager": {"existing": {"name": "team/hub"}},
            }
        ],
    ),
    "burn-in": spec(namespaces=TEAM, pool={"burnIn": {}}),
}
if "observability" in extensions():
    SPECS["monitored"] = spec(namespaces=TEAM, monitoring={"openCost": {}})


@cache
def compiled(name: str) -> tuple[tuple[Stage, ...], list[Manifest]]:
    plan = plan_of(SPECS[name])
    return tuple(plan.of(Stage)), objects_of(plan)


def folders(name: str) -> Iterator[tuple[Stage, list[Manifest]]]:
    """Each stage with the objects of its folder."""
    stages, manifests = compiled(name)
    for stage in stages:
        path = stage.path.partition("/lab/")[2]
        held = [each for each in manifests if each.path.startswith(f"{path}/")]
        yield stage, held


@pytest.mark.parametrize("name", SPECS)
def test_each_account_may_make_all_that_is_in_its_folder(name: str) -> None:
    _, manifests = compiled(name)
    for stage, held in folders(name):
        if stage.name in OWN_RIGHTS:
            continue
        assert stage.account, stage.name
        for each in held:
            missing = needed(each) - granted(manifests, stage.account, each.ref.namespace)
            assert not missing, f"{stage.account} makes {each.path}"


@pytest.mark.parametrize("name", SPECS)
def test_no_account_may_hand_out_more_than_it_has(name: str) -> None:
    _, manifests = compiled(name)
    roles = {each.ref.name for each in manifests if each.ref.kind == "Role"}
    for each in manifests:
        if each.ref.kind in ("Role", "ClusterRole"):
            for rule in each.body["rules"]:
                assert "*" not in (*rule["resources"], *rule["verbs"])
                assert not {"escalate", "impersonate"} & set(rule["verbs"])
                if "bind" in rule["verbs"]:
                    assert rule["resources"] == ["roles"]
                    assert set(rule["resourceNames"]) <= roles


@pytest.mark.needs("observability")
def test_accounts_stay_when_what_they_make_leaves_git() -> None:
    """Flux deletes by the account of a stage, and skips what it may not delete (kustomize-controller, finalize). An
    account that leaves git with its stage is one that Flux does not delete."""
    names = {each.ref.name for each in compiled("plain")[1] if each.ref.kind == "ServiceAccount"}
    for name in SPECS:
        for stage, _ in folders(name):
            if not stage.account or stage.account in names:
                continue
            own = [
                each
                for each in compiled(name)[1]
                if each.ref.name == stage.account and each.ref.kind != "Kustomization"
            ]
            assert len(own) >= 3
            for each in own:
                annotations = each.body["metadata"].get("annotations", {})
                assert annotations.get(PRUNE) == "disabled", each.ref


def test_jobs_and_secrets_touch_nothing_outside_the_namespaces_of_teams() -> None:
    _, manifests = compiled("secrets")
    for account in ("trainyard-jobs", "trainyard-secrets"):
        assert granted(manifests, account, "training")
        for namespace in ("", "kube-system", "flux-system"):
            assert not granted(manifests, account, namespace)
        resources = {resource for _, resource, _ in granted(manifests, account, "training")}
        assert not resources & {"secrets", "pods", "roles", "rolebindings", "*"}


def test_pods_of_a_daemon_set_change_their_own_node_only() -> None:
    manifests = compiled("burn-in")[1]
    guards = {
        each.ref.name: yaml.safe_dump(each.body)
        for each in manifests
        if each.ref.kind == "ValidatingAdmissionPolicy"
    }
    bound = {
        each.body["spec"]["policyName"]
        for each in manifests
        if each.ref.kind == "ValidatingAdmissionPolicyBinding"
    }
    daemons = {
        each.body["spec"]["template"]["spec"]["serviceAccountName"]
        for each in manifests
        if each.ref.kind == "DaemonSet"
    }
    assert daemons == set(guards) == bound
    for name, text in guards.items():
        assert f"system:serviceaccount:kube-system:{name}" in text


def test_what_a_team_looks_at_it_may_read() -> None:
    made = manifests_of(spec(namespaces=[{"name": "a", "group": "research"}], jobs=[]))
    (role,) = (
        each
        for each in made
        if each.ref.name == "training-users-a" and each.ref.kind == "ClusterRole"
    )
    resources = {resource for rule in role.body["rules"] for resource in rule["resources"]}
    assert resources >= {"clusterqueues", "nodeclaims", "nodes"}
    verbs = {verb for rule in role.body["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}
    (own,) = (
        each for each in made if each.ref.name == "training-users" and each.ref.kind == "Role"
    )
    rules = {
        (resource, verb)
        for rule in own.body["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert ("pods/portforward", "create") in rules
    # kueue v0.19.2, workload_viewer_role.yaml
    assert {verb for resource, verb in rules if resource == "workloads"} == {"get", "list", "watch"}


@pytest.mark.parametrize("kubernetes", ["1.33", "1.34", "1.36"])
def test_pod_security_is_that_of_the_clusters_version(kubernetes: str) -> None:
    made = manifests_of(spec(platform={"eks": {"version": kubernetes}}))
    spaces = [each.body for each in made if each.ref.kind == "Namespace"]
    assert spaces
    for body in spaces:
        labels = body["metadata"]["labels"]
        for mode in ("enforce", "warn", "audit"):
            assert labels[f"pod-security.kubernetes.io/{mode}"] == "baseline"
            assert labels[f"pod-security.kubernetes.io/{mode}-version"] == f"v{kubernetes}"


def test_the_codeowners_of_the_docs_name_what_is_written() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    block = page.split("```text\n")[1].split("```")[0]
    paths = [line.split()[0] for line in block.splitlines() if line.startswith("/")]
    assert len(paths) > 4
    for path in paths:
        place = path.strip("/").replace("generated/*", "generated/two-teams")
        assert (ROOT / place).exists(), path
