"""The identity of a run: everything that cannot change in an existing object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.settled import SettledJob
from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.plan import TRAIN_JOB, Runtime
from trainyard.language.units import Quantity
from trainyard.plan.base import content


def digest_of(node: object) -> str:
    text = content(node)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def identity_of(
    settled: SettledJob, job_runtime: Runtime, own: Mapping[str, Quantity], released: Pod | None
) -> str:
    """Five hex digits over everything that cannot change in a TrainJob that exists (CEL of Trainer 2.3.0). ``own``: the
    sizes of volumes that are each pod's. ``released``: what it lays over a released runtime."""
    job, spec = settled.job, settled.job.spec
    variables = [(item.name, item.value, item.secret, item.key) for item in settled.environment]
    mounts: list[tuple[object, ...]] = [
        (mount.storage, mount.path, mount.read_only) for mount in spec.mounts
    ]
    sizes = own.items()
    mounts += [(name, str(size)) for name, size in sizes]
    requests = settled.asked.items()
    asked_milli = {name: quantity.milli for name, quantity in requests}
    content: dict[str, object] = {
        "image": spec.image,
        "command": spec.command,
        "args": spec.args,
        "nodes": spec.nodes,
        "env": variables,
        **launcher_of(job).identity(job),
        "mounts": mounts,
        "asked": asked_milli,
        "processes": settled.processes,
        "runtime": job_runtime.name,
        "queue": job.queue.name,
        "namespace": job.namespace,
        "priority": spec.priority,
        "rerun": spec.rerun,
        "timeout": spec.timeout.seconds if spec.timeout else None,
    }
    kind = job.kind.name
    if kind != TRAIN_JOB:
        content["kind"] = kind
    if spec.roles:
        roles = spec.roles
        content["roles"] = [role.model_dump(mode="json") for role in roles]
    if spec.initializer is not None:
        content["initializer"] = spec.initializer.model_dump(mode="json")
    if released is not None:
        content["pod"] = digest_of(released)
    if spec.least_nodes is not None:
        content["leastNodes"] = spec.least_nodes
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:5]
