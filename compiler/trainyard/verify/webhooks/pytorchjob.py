"""PyTorchJob of kubeflow.org/v1 (training-operator v1.9.4, pkg/webhooks/pytorch and pkg/common/util)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, never_works, refused
from trainyard.verify.names import MOST, too_long
from trainyard.verify.syntax import SYNTAXES
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import template

GROUP = "kubeflow.org"

_REPLICAS: Path = ("spec", "pytorchReplicaSpecs")
_ROLES = ("Master", "Worker")
_MAIN = "pytorch"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    """What its webhook refuses, and pods that could not have their names."""
    replicas = value_at(body, *_REPLICAS)
    if isinstance(replicas, dict):
        specs = replicas
    else:
        specs = {}
    yield from name_faults(body, specs)
    for role, spec in specs.items():
        if role not in _ROLES:
            message = f"a PyTorchJob has no role `{role}`"
            help = "write `Master` or `Worker`"
            yield refused((*_REPLICAS, role), message, help, key=True)
            continue
        yield from _replica((*_REPLICAS, role), role, spec)
    is_elastic = value_at(body, "spec", "elasticPolicy") is not None
    if is_elastic and "Worker" not in specs:
        message = "`elasticPolicy` needs the role `Worker`, and the job has none"
        help = "write its pods as `Worker`, without a `Master`"
        yield refused(("spec", "elasticPolicy"), message, help, key=True)


def _replica(path: Path, role: str, spec: Any) -> Iterator[Fault]:
    yield from template((*path, "template"), value_at(spec, "template"))
    pod: Path = ("template", "spec", "containers")
    containers = mappings_at(spec, *pod)
    names = [container.get("name") for container in containers]
    if _MAIN not in names:
        message = f"role `{role}` has no container `{_MAIN}`"
        help = f"call the container that trains `{_MAIN}`"
        yield refused((*path, *pod), message, help, key=True)
    for index, container in enumerate(containers):
        if not container.get("image"):
            message = f"container `{container.get('name')}` has no image"
            yield refused((*path, *pod, index), message, "write `image`")
    count = value_at(spec, "replicas")
    if role == "Master" and count != 1:
        message = f"role `Master` has {count or 'no'} `replicas`, and needs exactly 1"
        help = "write `replicas: 1`, and the other nodes as `Worker`"
        yield refused((*path, "replicas"), message, help)
    elif count is not None and count < 1:
        message = f"role `{role}` has {count} `replicas`"
        yield refused((*path, "replicas"), message, "write 1 or more, or leave it out")
    yield from ignored_policy(path, spec)


def ignored_policy(path: Path, spec: Any, default: str = "Never") -> Iterator[Fault]:
    """A restart policy of pods, which the operator overwrites with that of the role, or its ``default``."""
    given = value_at(spec, "template", "spec", "restartPolicy")
    role = value_at(spec, "restartPolicy")
    if given and given != (role or default):
        yield never_works(
            (*path, "template", "spec", "restartPolicy"),
            f"`restartPolicy` {given} of the pods is overwritten by that of the role, which is {role or default}",
            "write `restartPolicy` next to `template`",
            warning=True,
        )


def name_faults(body: Body, specs: Any) -> Iterator[Fault]:
    """Faults of the name, of which the operator makes those of pods and Services: labels that begin with a letter."""
    name = value_at(body, "metadata", "name")
    if not isinstance(name, str):
        return
    syntax = SYNTAXES["dns-1035-label"]
    if len(name) <= MOST and not syntax.accepts(name):
        yield refused(("metadata", "name"), syntax.breach(name), syntax.advice(name))
    for role, spec in specs.items():
        replicas = int(value_at(spec, "replicas") or 1)
        highest = max(replicas, 1) - 1
        last = f"-{str(role).lower()}-{highest}"
        if len(name) + len(last) > MOST:
            why = f"a pod would be called `{name}{last}`, and that has at most {MOST}"
            yield too_long(("metadata", "name"), name, MOST - len(last), why)
            return
