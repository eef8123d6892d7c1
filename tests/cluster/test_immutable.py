"""What CHG002 says of the API server, asked of a real one: it refuses each edit of the table, and takes others."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from trainyard.run.history.immutable import RULES, Rule

from cluster.test_api_server import KUBECONFIG, ROOT, pytestmark, refusal, server

__all__ = ["pytestmark", "server"]

FLUX = "kustomize-controller"  # what another manager owns too stays when this one leaves it out
OBJECTS = (
    {
        path.relative_to(ROOT).as_posix(): yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "generated").rglob("*.yaml"))
        if "/bootstrap/" not in path.as_posix()
    }
    if KUBECONFIG
    else {}
)
FIRST = {body["kind"]: (path, body) for path, body in reversed(OBJECTS.items())}
WITH_TOPOLOGY = {
    body["kind"]: (path, body)
    for path, body in OBJECTS.items()
    if "topologyName" in body.get("spec", {})
}
CASES = [(kind, rule) for kind, rules in RULES.items() for rule in rules if kind in FIRST]


def edited(body: dict[str, Any], rule: Rule) -> dict[str, Any] | None:
    """The body with the rule's field changed; ``None`` where the rule does not hold of it."""
    if not rule.when(body):
        return None
    changed = copy.deepcopy(body)
    parent = changed
    for key in rule.path[:-1]:
        parent = parent[key]
    key = rule.path[-1]
    if rule.presence:
        if key in parent:
            del parent[key]
        else:
            parent[key] = 1
    elif key not in parent:
        return None
    else:
        parent[key] = other(parent[key])
    return changed


def other(value: Any) -> Any:
    """A value of the same type that is another."""
    if isinstance(value, dict):
        key = next(iter(value))
        return {**value, key: other(value[key])}
    if isinstance(value, list):
        return [other(value[0]), *value[1:]]
    if isinstance(value, int):
        return value + 1
    return {"Filesystem": "Block", "PreemptLowerPriority": "Never"}.get(value, f"{value}x")


@pytest.mark.parametrize(
    ("kind", "rule"), CASES, ids=[f"{kind}-{'.'.join(rule.path)}" for kind, rule in CASES]
)
def test_the_server_refuses_the_edit(server: Any, kind: str, rule: Rule) -> None:
    path, body = FIRST[kind] if rule.when(FIRST[kind][1]) else WITH_TOPOLOGY.get(kind, FIRST[kind])
    changed = edited(body, rule)
    if changed is None:
        pytest.skip(f"no {kind} of generated/ has {'.'.join(rule.path)}")
    namespace = body["metadata"].get("namespace")
    if namespace:
        _store(server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    _store(server, body)
    assert refusal(server, body, FLUX) == "", path
    assert refusal(server, changed, FLUX) != "", path


def _store(server: Any, body: dict[str, Any]) -> None:
    resource = server.resources.get(api_version=body["apiVersion"], kind=body["kind"])
    server.server_side_apply(
        resource,
        body=body,
        name=body["metadata"]["name"],
        namespace=body["metadata"].get("namespace"),
        field_manager=FLUX,
        force_conflicts=True,
    )
