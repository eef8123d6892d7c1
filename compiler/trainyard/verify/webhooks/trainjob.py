"""TrainJob, by itself and against its runtime if that is in the set.

Sources: trainer v2.3.0 pkg/runtime/framework/plugins/{jobset,torch,mpi}, pkg/constants; what is accepted and never
runs was observed on Trainer 2.3.0 with Kueue 0.19.2 and JobSet 0.12.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, nearest, never_works, refused
from trainyard.verify.names import pod_name_faults
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._jobsets import claimed
from trainyard.verify.webhooks._pods import resources, tolerations
from trainyard.verify.webhooks._runtimes import (
    ANCESTOR,
    CONTAINER,
    added_volumes,
    has_commands,
    takes_trainer,
)
from trainyard.verify.webhooks._topology import topology

GROUP = "trainer.kubeflow.org"
RESERVED = {
    "torch": (
        "PET_NNODES",
        "PET_NPROC_PER_NODE",
        "PET_NODE_RANK",
        "PET_MASTER_ADDR",
        "PET_MASTER_PORT",
    ),
    "mpi": (
        "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_plm_rsh_args",
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "OMPI_MCA_orte_set_default_slots",
    ),
    "xgboost": ("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"),
}
_MANAGER = r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+\Z"
_OWN_ENV = frozenset(CONTAINER.values())


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    runtime = _runtime(body, lookup)
    jobs: dict[str, Body] = {}
    if runtime is not None:
        replicated = mappings_at(runtime, "spec", "template", "spec", "replicatedJobs")
        jobs = {str(job.get("name")): job for job in replicated}
    initializer = value_at(spec, "initializer") or {}
    trainer = value_at(spec, "trainer") or {}
    yield from _trainer(trainer, runtime)
    own = [*jobs.values()]
    if trainer and has_commands(own) and not takes_trainer(own):
        yield never_works(
            ("spec", "trainer"),
            "the runtime has no replicated job of step `trainer`: nothing of this reaches a pod",
            f"choose another runtime, or give its job the label `{ANCESTOR}: trainer`",
            key=True,
        )
    if initializer:
        yield from _initializers(initializer, jobs)
    patches = mappings_at(spec, "runtimePatches")
    overrides = mappings_at(spec, "podTemplateOverrides")
    if patches or overrides:
        claims = _claims(runtime)
        for index, patch in enumerate(patches):
            yield from _patch(("spec", "runtimePatches", index), patch, jobs, claims)
        for index, override in enumerate(overrides):
            path = ("spec", "podTemplateOverrides", index)
            yield from _override(path, override, jobs, claims)
    yield from _names(body, runtime, jobs)


def _claims(runtime: Body | None) -> set[str]:
    """The volumes that JobSet and Trainer add to the pods of a runtime."""
    claims = claimed(value_at(runtime, "spec", "template", "spec"))
    volumes = added_volumes(value_at(runtime, "spec", "mlPolicy"))
    return claims.union(*volumes.values())


def _runtime(body: Body, lookup: Lookup) -> Body | None:
    reference = value_at(body, "spec", "runtimeRef") or {}
    kind = str(reference.get("kind") or "ClusterTrainingRuntime")
    namespace = ""
    if kind != "ClusterTrainingRuntime":
        namespace = str(value_at(body, "metadata", "namespace") or "")
    name = str(reference.get("name") or "")
    return lookup(GROUP, kind, namespace, name)


def _trainer(trainer: Body, runtime: Body | None) -> Iterator[Fault]:
    policies = value_at(runtime, "spec", "mlPolicy")
    given: list[str] = []
    if policies:
        given = [policy for policy in RESERVED if value_at(policies, policy) is not None]
    for policy in given[:1]:
        for index, variable in enumerate(mappings_at(trainer, "env")):
            name = variable.get("name")
            if name in RESERVED[policy]:
                place = ("spec", "trainer", "env", index, "name")
                message = f"`{name}` is set by Trainer for `{policy}`"
                yield refused(place, message, "leave it out")
    path = ("spec", "trainer", "resourcesPerNode")
    yield from resources(path, trainer.get("resourcesPerNode"))


def _initializers(initializer: Body, jobs: dict[str, Body]) -> Iterator[Fault]:
    """An initializer runs in the runtime's job and container of its name, and fills the volume `initializer`."""
    for part in ("dataset", "model"):
        if not initializer.get(part) or not jobs:
            continue
        path: Path = ("spec", "initializer", part)
        name = f"{part}-initializer"
        container = _initializer_container(name, jobs)
        if container is None:
            what = "replicated job"
            if name in jobs:
                what = "container of that name in its job"
            message = f"the runtime has no {what} `{name}`"
            yield refused(path, message, "choose a runtime that has it", key=True)
            return  # a runtime without one rarely has the other
        mounts = mappings_at(container, "volumeMounts")
        volumes = [mount.get("name") for mount in mounts]
        if "initializer" not in volumes:
            yield refused(
                path,
                f"container `{name}` of the runtime mounts no volume `initializer`",
                key=True,
                help="choose a runtime whose initializer mounts it, or add the mount",
            )


def _initializer_container(name: str, jobs: dict[str, Body]) -> Body | None:
    """The container of an initializer: both it and its job have the name."""
    pod = value_at(jobs.get(name), "template", "spec", "template", "spec")
    containers = mappings_at(pod, "containers")
    by_name = {str(container.get("name")): container for container in containers}
    return by_name.get(name)


def _patch(path: Path, patch: Body, jobs: dict[str, Body], claims: set[str]) -> Iterator[Fault]:
    manager = str(patch.get("manager") or "")
    if not re.match(_MANAGER, manager):
        message = f"`{manager}` is not a path with a domain"
        yield refused((*path, "manager"), message, "write it as `DOMAIN/NAME`")
    inner: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    pod: Path = ("template", "spec", "template")
    patched = mappings_at(patch, *inner)
    for index, job in enumerate(patched):
        here = (*path, *inner, index)
        name = str(job.get("name"))
        if jobs and name not in jobs:
            yield never_works(
                (*here, "name"),
                f"the runtime has no replicated job `{name}`: no JobSet can be made",
                nearest(name, jobs, "name one that it has"),
            )
        elif job.get("template"):
            template = value_at(jobs.get(name), *pod)
            yield from _pod((*here, *pod), value_at(job, *pod) or {}, template, claims)


def _override(
    path: Path, override: Body, jobs: dict[str, Body], claims: set[str]
) -> Iterator[Fault]:
    """Trainer 2.1's form of a patch (trainer v2.1.0, jobset plugin)."""
    for index, target in enumerate(mappings_at(override, "targetJobs")):
        name = str(target.get("name"))
        if jobs and name not in jobs:
            message = f"the runtime has no replicated job `{name}`"
            help = nearest(name, jobs, "name one that it has")
            yield refused((*path, "targetJobs", index, "name"), message, help)
            return
        template = value_at(jobs.get(name), "template", "spec", "template")
        yield from _pod(path, override, template, claims)


def _pod(path: Path, patch: Body, template: Any, claims: set[str]) -> Iterator[Fault]:
    """Faults of a pod patch, against the runtime's pod template if that is known."""
    for field in ("containers", "initContainers"):
        containers = mappings_at(template, "spec", field)
        known = {str(container.get("name")) for container in containers}
        patched = mappings_at(patch, "spec", field)
        for index, container in enumerate(patched):
            here = (*path, "spec", field, index)
            name = str(container.get("name"))
            if template is not None and name not in known:
                yield never_works(
                    (*here, "name"),
                    f"the runtime has no `{name}` in `{field}`: a container without image would be added",
                    nearest(name, known, "name one that it has"),
                )
            if container.get("env") and name in _OWN_ENV:
                message = f"`env` of container `{name}` cannot be patched"
                yield refused((*here, "env"), message, _env_help(name), key=True)
            yield from _mounts(here, container, patch, template, claims)
    yield from tolerations(
        (*path, "spec", "tolerations"), mappings_at(patch, "spec", "tolerations")
    )
    yield from topology(
        (*path, "metadata", "annotations"), value_at(patch, "metadata", "annotations")
    )


def _env_help(name: str) -> str:
    if name == "node":
        return "write it in `spec.trainer.env`"
    part = name.removesuffix("-initializer")
    return f"write it in `spec.initializer.{part}.env`"


def _mounts(
    path: Path, container: Body, patch: Body, template: Any, claims: set[str]
) -> Iterator[Fault]:
    if template is None:
        return
    volumes = mappings_at(patch, "spec", "volumes")
    volumes += mappings_at(template, "spec", "volumes")
    names = {str(volume.get("name")) for volume in volumes}
    known = claims | names
    for index, mount in enumerate(mappings_at(container, "volumeMounts")):
        name = str(mount.get("name"))
        if name not in known:
            yield never_works(
                (*path, "volumeMounts", index, "name"),
                f"neither the patch nor the runtime has a volume `{name}`: no pod can be made",
                nearest(name, known, "add it to `volumes`"),
            )


def _names(body: Body, runtime: Body | None, jobs: dict[str, Body]) -> Iterator[Fault]:
    """The pods of step `trainer` are as many as nodes; without the runtime it is taken to be called `node`, as
    Trainer's own are. With `mpi` those of `node` are, and one pod has the step.
    """
    nodes = _nodes(body, runtime)
    by_mpi = value_at(runtime, "spec", "mlPolicy", "mpi") is not None
    replicated = []
    for name, job in jobs.items():
        step = value_at(job, "template", "metadata", "labels", ANCESTOR)
        has_step = step == "trainer" and not by_mpi
        trains = name == "node" or has_step
        replicated.append((name, 1, nodes if trains else 1))
    name = str(value_at(body, "metadata", "name") or "")
    replicated = replicated or [("node", 1, nodes)]
    yield from pod_name_faults(name, replicated)


def _nodes(body: Body, runtime: Body | None) -> int:
    own = value_at(body, "spec", "trainer", "numNodes")
    if isinstance(own, int) and own:
        return own
    of_runtime = value_at(runtime, "spec", "mlPolicy", "numNodes")
    if isinstance(of_runtime, int) and of_runtime:
        return of_runtime
    return 1
