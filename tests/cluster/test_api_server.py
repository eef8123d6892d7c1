"""A real API server, with the CRDs and webhooks of a release, accepts every object of ``generated/`` that it serves.

Point TRAINYARD_KUBECONFIG at one that may be written to: namespaces and runtimes are stored, everything else is a
server-side dry run as Flux makes it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
KUBECONFIG = os.environ.get("TRAINYARD_KUBECONFIG")
CLUSTERS = sorted(each.parent.name for each in (ROOT / "generated").glob("*/.manifest.json"))

pytestmark = [
    pytest.mark.controlplane,
    pytest.mark.skipif(
        not KUBECONFIG, reason="TRAINYARD_KUBECONFIG names no kubeconfig of a test API server"
    ),
]


@pytest.fixture(scope="module")
def server() -> Any:
    from kubernetes import config, dynamic

    return dynamic.DynamicClient(config.new_client_from_config(KUBECONFIG))


def refusal(server: Any, body: dict[str, Any], manager: str = "trainyard-test") -> str:
    """Why the server refuses an object in a dry run of server-side apply; empty if it takes it or does not serve it."""
    from kubernetes.client.exceptions import ApiException
    from kubernetes.dynamic.exceptions import ResourceNotFoundError

    try:
        resource = server.resources.get(api_version=body["apiVersion"], kind=body["kind"])
    except ResourceNotFoundError:
        return "" if body["kind"] == "ClusterConfig" else "not served"
    try:
        server.server_side_apply(
            resource,
            body=body,
            name=body["metadata"]["name"],
            namespace=body["metadata"].get("namespace"),
            field_manager=manager,
            force_conflicts=True,
            dry_run="All",
            field_validation="Strict",
        )
    except ApiException as problem:
        return f"{problem.status}: {problem.body}"
    return ""


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_object_is_accepted(server: Any, cluster: str) -> None:
    """Namespaces and runtimes are stored first: what is in them, and TrainJobs, are refused without."""
    files = sorted((ROOT / "generated" / cluster).rglob("*.yaml"))
    bodies = [yaml.safe_load(each.read_text(encoding="utf-8")) for each in files]
    first = [each for each in bodies if each["kind"] in ("Namespace", "ClusterTrainingRuntime")]
    names = {each["metadata"]["namespace"] for each in bodies if each["metadata"].get("namespace")}
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": each}}
        for each in sorted(names)
    ]
    for body in [*spaces, *first]:
        resource = server.resources.get(api_version=body["apiVersion"], kind=body["kind"])
        server.server_side_apply(
            resource,
            body=body,
            name=body["metadata"]["name"],
            field_manager="trainyard-test",
            force_conflicts=True,
        )
    refused = {
        str(file): why
        for file, body in zip(files, bodies, strict=True)
        if (why := refusal(server, body))
    }
    assert refused == {}
