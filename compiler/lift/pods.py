"""Lift: pod templates and their parts, for whatever kind carries them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from compiler.lift.reader import Reader, unread
from compiler.subjects.jobs.plan import Container, EnvVar, Mount, Pod, Volume
from compiler.subjects.pools.plan import Taint, Toleration

_SOURCES = {
    "persistentVolumeClaim": "claimName",
    "hostPath": "path",
    "secret": "secretName",
}


def taints(values: Reader) -> tuple[Taint, ...]:
    """core/v1 Taints."""
    return tuple(
        Taint((each / "key").word(), (each / "value").word(), (each / "effect").word())
        for each in values.items()
    )


def tolerations(values: Reader) -> tuple[Toleration, ...]:
    """core/v1 Tolerations."""
    return tuple(
        Toleration(
            (each / "key").word(),
            (each / "operator").text() or "Equal",
            (each / "value").word(),
            (each / "effect").word(),
            (each / "tolerationSeconds").integer(),
        )
        for each in values.items()
    )


_HOSTNAME = "kubernetes.io/hostname"


def _excluded(spec: Reader) -> tuple[str, ...]:
    """The hosts that required node affinity keeps a pod from; () where it says anything else beside them."""
    required = spec.follow("affinity", "nodeAffinity", _REQUIRED)
    terms = (required / "nodeSelectorTerms").items()
    if len(terms) != 1 or set(terms[0].mapping()) != {"matchExpressions"}:
        return ()
    expressions = (terms[0] / "matchExpressions").items()
    if len(expressions) != 1:
        return ()
    said = expressions[0]
    about_hosts = (said / "key").text() == _HOSTNAME
    if not about_hosts or (said / "operator").text() != "NotIn":
        return ()
    return (said / "values").texts()


# What pods may have and the plan has no field for, by the name under which rules look for it.
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UNREAD = {
    "host_ipc": ("hostIPC",),
    "node_affinity": ("affinity", "nodeAffinity", _REQUIRED),
    "pod_affinity": ("affinity", "podAffinity", _REQUIRED),
}


def pod(template: Reader) -> Pod:
    """A PodTemplateSpec, or the like of it in a patch."""
    spec, metadata = template / "spec", template / "metadata"
    excluded = _excluded(spec)
    unread = {name for name, found in _UNREAD.items() if spec.follow(*found)}
    if excluded:
        unread.discard("node_affinity")
    return Pod(
        at=template.at,
        unread=frozenset(unread),
        origins={
            "tolerations": (spec / "tolerations").at,
            "volumes": (spec / "volumes").at,
            "node_selector": (spec / "nodeSelector").at,
            "restart_policy": (spec / "restartPolicy").at,
            "grace_seconds": (spec / "terminationGracePeriodSeconds").at,
            "annotations": (metadata / "annotations").at,
            "labels": (metadata / "labels").at,
            "containers": (spec / "containers").at,
            "host_network": (spec / "hostNetwork").at,
            "init_containers": (spec / "initContainers").at,
            "excluded_nodes": (spec / "affinity").at,
        },
        containers=tuple(container(each) for each in (spec / "containers").items()),
        node_selector=(spec / "nodeSelector").strings(),
        tolerations=tolerations(spec / "tolerations"),
        volumes=tuple(_volume(each) for each in (spec / "volumes").items()),
        restart_policy=(spec / "restartPolicy").text(),
        grace_seconds=(spec / "terminationGracePeriodSeconds").integer(),
        service_account=(spec / "serviceAccountName").text(),
        priority_class=(spec / "priorityClassName").text(),
        host_network=bool((spec / "hostNetwork").flag()),
        labels=(metadata / "labels").strings(),
        annotations=(metadata / "annotations").strings(),
        init_containers=tuple(
            container(each) for each in (spec / "initContainers").items()
        ),
        excluded_nodes=excluded,
        pull_secrets=tuple(
            (each / "name").word() for each in (spec / "imagePullSecrets").items()
        ),
    )


def container(body: Reader) -> Container:
    """core/v1 Container."""
    resources, security, hook = (
        body / "resources",
        body / "securityContext",
        body.follow("lifecycle", "preStop"),
    )
    command = hook.follow("exec", "command").texts()
    return Container(
        at=body.at,
        name=(body / "name").word(),
        image=(body / "image").text(),
        unread=unread(
            requests=resources / "requests",
            limits=resources / "limits",
            claims=resources / "claims",
        )
        | (frozenset({"pre_stop"}) if hook and not command else frozenset()),
        pre_stop=command,
        origins={
            "env": (body / "env").at,
            "requests": (resources / "requests").at,
            "limits": (resources / "limits").at,
            "mounts": (body / "volumeMounts").at,
            "command": (body / "command").at,
            "args": (body / "args").at,
            "image": (body / "image").at,
            "privileged": (security / "privileged").at,
            "pre_stop": hook.at,
        },
        command=(body / "command").texts(),
        args=(body / "args").texts(),
        env=env(body / "env"),
        requests=(resources / "requests").quantities(),
        limits=(resources / "limits").quantities(),
        mounts=tuple(
            Mount(
                (each / "name").word(),
                (each / "mountPath").word(),
                bool((each / "readOnly").flag()),
                (each / "subPath").word(),
            )
            for each in (body / "volumeMounts").items()
        ),
        capabilities=security.follow("capabilities", "add").texts(),
        privileged=bool((security / "privileged").flag()),
        working_dir=(body / "workingDir").word(),
    )


def env(values: Reader) -> tuple[EnvVar, ...]:
    """core/v1 EnvVars."""
    return tuple(_variable(each) for each in values.mappings())


def _variable(body: dict[str, Any]) -> EnvVar:
    name, source = _text(body.get("name")) or "", body.get("valueFrom")
    secret = source.get("secretKeyRef") if isinstance(source, dict) else None
    if secret is None:
        return _literal(name, _text(body.get("value")))
    secret = secret if isinstance(secret, dict) else {}
    return EnvVar(name, None, _text(secret.get("name")), _text(secret.get("key")))


@lru_cache(maxsize=4096)
def _literal(name: str, value: str | None) -> EnvVar:
    """A variable with a value: most jobs of a set have the same."""
    return EnvVar(name, value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _volume(body: Reader) -> Volume:
    kind = next((key for key, _ in body.entries() if key != "name"), "")
    source = body / kind
    if kind == "emptyDir":
        return Volume(
            (body / "name").word(),
            kind,
            "",
            (source / "medium").word(),
            (source / "sizeLimit").quantity(),
        )
    return Volume(
        (body / "name").word(),
        kind,
        (source / _SOURCES.get(kind, "name")).word(),
        host_type=(source / "type").word() if kind == "hostPath" else "",
    )
