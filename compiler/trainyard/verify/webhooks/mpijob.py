"""MPIJob of kubeflow.org/v2beta1 (mpi-operator v0.8.2, pkg/apis/kubeflow/validation). That of v1 has another operator,
which has no webhook for it (training-operator v1.9.4)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import template
from trainyard.verify.webhooks.pytorchjob import ignored_policy, name_faults

GROUP = "kubeflow.org"

_REPLICAS: Path = ("spec", "mpiReplicaSpecs")
_LAUNCHER = "Launcher"
_POLICIES = {_LAUNCHER: "OnFailure"}
"""The restart policy of a role that says none (pkg/apis/kubeflow/v2beta1/default.go); of others it is `Never`."""
_KEYS = frozenset({"ssh-auth", "mpi-job-config"})
"""Volumes that the operator adds (pkg/controller/mpi_job_controller.go)."""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    """What the operator does not run."""
    if not str(body["apiVersion"]).endswith("/v2beta1"):
        return
    replicas = value_at(body, *_REPLICAS)
    if isinstance(replicas, dict):
        specs = replicas
    else:
        specs = {}
    yield from name_faults(body, specs)
    if _LAUNCHER not in specs:
        message = f"an MPIJob needs the role `{_LAUNCHER}`"
        yield refused(_REPLICAS, message, f"write `{_LAUNCHER}`", key=True)
    for role, spec in specs.items():
        here = (*_REPLICAS, role)
        yield from template((*here, "template"), value_at(spec, "template"), volumes=_KEYS)
        yield from ignored_policy(here, spec, _POLICIES.get(role, "Never"))
        count = value_at(spec, "replicas")
        if role == _LAUNCHER and count not in (None, 1):
            message = f"role `{role}` has {count} `replicas`, and needs exactly 1"
            yield refused((*here, "replicas"), message, "write `replicas: 1`")
