"""Lower: the program, once in a namespace, and a Deployment for each job."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from trainyard.extensions.observability.checkpoints.plan import (
    CheckpointExporter,
    CheckpointProgram,
)
from trainyard.output.lowering.body import (
    NO_SUBSTITUTION,
    manifest_in,
    object_head,
    resources,
    without_rights,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

_FOLDER = "checkpoints"
_FILE = "checkpoint_exporter.py"
_STORAGE = "/storage"
_NODE_GROUP = "eks.amazonaws.com/nodegroup"
"""The label that EKS gives to nodes of a managed node group (EKS user guide, managed-node-groups)."""


def lower(plan: Plan) -> Iterator[Manifest]:
    """A file an object."""
    for program in plan.of(CheckpointProgram):
        yield manifest_in(_FOLDER, program_body(program), program.at)
    for exporter in plan.of(CheckpointExporter):
        yield manifest_in(_FOLDER, exporter_body(exporter), exporter.at)


@cache
def _program() -> str:
    return (Path(__file__).parent / "scripts" / _FILE).read_text(encoding="utf-8")


def program_body(program: CheckpointProgram) -> Body:
    """ConfigMap."""
    name, namespace = program.name, program.namespace
    whole = object_head("v1", "ConfigMap", name, namespace, annotations=NO_SUBSTITUTION)
    return {**whole, "data": {_FILE: _program()}}


def exporter_body(exporter: CheckpointExporter) -> Body:
    """Deployment: a pod without rights, without a token, which may only read what the job saves."""
    selector = {
        "app.kubernetes.io/name": "checkpoint-exporter",
        "app.kubernetes.io/instance": exporter.job,
    }
    claim = {"claimName": exporter.claim, "readOnly": True}
    pod: Body = {
        "automountServiceAccountToken": False,
        "containers": [_container(exporter)],
        "volumes": [
            {"name": "app", "configMap": {"name": "checkpoint-exporter"}},
            {"name": "storage", "persistentVolumeClaim": claim},
        ],
    }
    if exporter.system:
        pod["nodeSelector"] = {_NODE_GROUP: exporter.system}
    digest = sha256(_program().encode()).hexdigest()[:16]
    metadata = {"labels": selector, "annotations": {"trainyard.dev/config": digest}}
    spec = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": selector},
        "template": {"metadata": metadata, "spec": pod},
    }
    return {**object_head("apps/v1", "Deployment", exporter.name, exporter.namespace), "spec": spec}


def _container(exporter: CheckpointExporter) -> Body:
    options = {
        "folder": posixpath.normpath(posixpath.join(_STORAGE, exporter.folder)),
        **({"mount": _STORAGE} if exporter.sized else {}),
        "job": exporter.job,
        "claim": exporter.claim,
        "every": exporter.every,
        "look": exporter.look,
        "port": exporter.port,
    }
    return {
        "name": "checkpoint-exporter",
        "image": exporter.image,
        "command": ["python", "-u", f"/app/{_FILE}"],
        "args": [f"--{name}={value}" for name, value in options.items()],
        "ports": [{"name": "metrics", "containerPort": exporter.port}],
        "resources": resources(exporter.cpu, exporter.memory),
        "securityContext": without_rights(user=65532),
        "volumeMounts": [
            {"name": "app", "mountPath": "/app", "readOnly": True},
            {"name": "storage", "mountPath": _STORAGE, "readOnly": True},
        ],
    }
