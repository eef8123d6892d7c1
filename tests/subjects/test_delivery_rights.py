"""By whose rights Flux applies jobs: enough for everything that it finds in their folder, and for nothing else."""

from __future__ import annotations

import pytest
from builders import ROOT, manifests_of, plan_of, spec

from compiler.manifest import Manifest
from compiler.subjects.delivery.plan import Stage
from compiler.subjects.delivery.stages import JOBS_ACCOUNT


def granted(
    manifests: list[Manifest], namespace: str
) -> dict[tuple[str, str], set[str]]:
    """The verbs of the account in a namespace, by API group and resource."""
    rights: dict[tuple[str, str], set[str]] = {}
    for each in manifests:
        if each.ref.kind != "Role" or each.ref.name != JOBS_ACCOUNT:
            continue
        if each.ref.namespace != namespace:
            continue
        for rule in each.body["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    rights.setdefault((group, resource), set()).update(rule["verbs"])
    return rights


NEEDED = {"get", "list", "watch", "create", "patch", "delete"}
"""kustomize-controller v1.10: server-side apply, its look at what is there, and pruning."""


def test_the_account_may_make_all_that_is_in_the_folder_of_jobs() -> None:
    manifests = list(manifests_of(spec()))
    in_jobs = [each for each in manifests if each.path.startswith("jobs/")]
    assert in_jobs
    for each in in_jobs:
        group = each.ref.api_version.rpartition("/")[0]
        resource = f"{each.ref.kind.lower()}s"
        rights = granted(manifests, each.ref.namespace or "")
        assert rights[group, resource] >= NEEDED


def test_the_account_may_touch_nothing_of_the_cluster() -> None:
    manifests = list(manifests_of(spec()))
    bound = [
        each
        for each in manifests
        if f"'{JOBS_ACCOUNT}'" in str(each.body.get("subjects"))
    ]
    assert bound
    assert {each.ref.kind for each in bound} == {"RoleBinding"}
    names = {each.ref.namespace for each in bound}
    for namespace in names:
        resources = {resource for _, resource in granted(manifests, namespace or "")}
        assert not resources & {"secrets", "pods", "roles", "rolebindings", "*"}


def test_jobs_alone_have_an_account_of_their_own() -> None:
    accounts = {stage.name: stage.account for stage in plan_of(spec()).of(Stage)}
    assert accounts.pop("trainyard-jobs") == JOBS_ACCOUNT
    assert set(accounts.values()) == {""}


def test_what_a_team_looks_at_it_may_read() -> None:
    made = manifests_of(spec(namespaces=[{"name": "a", "group": "research"}], jobs=[]))
    (role,) = (
        each
        for each in made
        if each.ref.name == "training-users-a" and each.ref.kind == "ClusterRole"
    )
    resources = {
        resource for rule in role.body["rules"] for resource in rule["resources"]
    }
    assert resources >= {"clusterqueues", "nodeclaims", "nodes"}
    verbs = {verb for rule in role.body["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}
    (own,) = (
        each
        for each in made
        if each.ref.name == "training-users" and each.ref.kind == "Role"
    )
    rules = {
        (resource, verb)
        for rule in own.body["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert ("pods/portforward", "create") in rules


@pytest.mark.parametrize("kubernetes", ["1.33", "1.34", "1.36"])
def test_pod_security_is_that_of_the_clusters_version(kubernetes: str) -> None:
    made = manifests_of(spec(platform={"eks": {"version": kubernetes}}))
    spaces = [each.body for each in made if each.ref.kind == "Namespace"]
    assert spaces
    for body in spaces:
        labels = body["metadata"]["labels"]
        for mode in ("enforce", "warn", "audit"):
            assert labels[f"pod-security.kubernetes.io/{mode}"] == "baseline"
            assert (
                labels[f"pod-security.kubernetes.io/{mode}-version"] == f"v{kubernetes}"
            )


def test_the_codeowners_of_the_docs_name_what_is_written() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    block = page.split("```text\n")[1].split("```")[0]
    paths = [line.split()[0] for line in block.splitlines() if line.startswith("/")]
    assert len(paths) > 4
    for path in paths:
        place = path.strip("/").replace("generated/*", "generated/two-teams")
        assert (ROOT / place).exists(), path
