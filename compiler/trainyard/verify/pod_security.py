"""Pods that their namespace refuses: Pod Security Standards, by the label `pod-security.kubernetes.io/enforce`.

Source: k8s.io/pod-security-admission v0.36, policy/check_*.go (levels baseline and restricted, version latest), and
admission/namespace.go: objects that make pods are let through, and their pods are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.catalog.sysctls import SAFE_SYSCTLS
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import indexed, mappings_at, texts_at, value_at, values_along
from trainyard.output.manifest import Manifest
from trainyard.verify.fault import WEBHOOK, Fault, Path
from trainyard.verify.objects import ObjectSet, identity_of
from trainyard.verify.references import POD_SPECS, RUNTIME_PODS, TRAINER

_LABEL = "pod-security.kubernetes.io/enforce"
_LEVELS = ("baseline", "restricted")
_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
        "image",
    }
)
_SECCOMP = ("RuntimeDefault", "Localhost")
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_LISTS = ("initContainers", "containers", "ephemeralContainers")
Breach = tuple[Path, str, str]  # where in the pod spec, what, what to write


def refused_pods(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of pods in namespaces that enforce a level; of jobs those of their runtime."""
    levels = _levels(objects)
    if not levels:
        return
    for manifest in objects.manifests:
        group, kind, namespace, _ = manifest.once(identity_of)
        is_job = (group, kind) == (TRAINER, "TrainJob")
        if namespace not in levels or is_job:
            continue
        for pods in POD_SPECS.get((group, kind), ()):
            yield from _faults(manifest, pods, namespace, levels[namespace])
    for namespace, manifest in _runtimes(objects):
        if namespace in levels:
            yield from _faults(manifest, RUNTIME_PODS, namespace, levels[namespace])


def _levels(objects: ObjectSet) -> dict[str, str]:
    """The level of each namespace that enforces one."""
    levels: dict[str, str] = {}
    for identity, manifest in objects.of_kind("", "Namespace"):
        level = value_at(manifest.body, "metadata", "labels", _LABEL)
        if level in _LEVELS:
            levels[identity[3]] = level
    return levels


def _runtimes(objects: ObjectSet) -> Iterator[tuple[str, Manifest]]:
    """The cluster-wide runtimes of the set, each with the namespaces of its jobs; jobs that patch the security of their
    pods are left out."""
    used: dict[tuple[str, str], None] = {}
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        ref = value_at(job.body, "spec", "runtimeRef")
        is_cluster_wide = value_at(ref, "kind") in (None, "ClusterTrainingRuntime")
        if is_cluster_wide and "securityContext" not in str(job.body.get("spec")):
            name = str(value_at(ref, "name"))
            used[identity[2], name] = None
    for namespace, name in used:
        identity = (TRAINER, "ClusterTrainingRuntime", "", name)
        if identity in objects:
            yield namespace, objects.manifest(identity)


def _faults(
    manifest: Manifest, pods: tuple[str, ...], namespace: str, level: str
) -> Iterator[tuple[Manifest, Fault]]:
    """One fault a pod: the first breach, and how many more there are."""
    if manifest.body["kind"] == "Pod":
        code = "SCH011"
    else:
        code = "SCH012"
    for start, spec in values_along(manifest.body, pods):
        if not isinstance(spec, dict):
            continue
        breaches = list(_CHECKS[level](spec))
        if not breaches:
            continue
        place, fact, help = breaches[0]
        message = f"{fact}, which namespace `{namespace}` refuses: it enforces `{level}`"
        if len(breaches) > 1:
            message += f" (and {len(breaches) - 1} more)"
        fault = Fault(WEBHOOK, code, (*start, *place), message, help)
        yield manifest, fault


def _containers(spec: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    for field in _LISTS:
        for index, container in indexed(spec, field):
            yield (field, index), container


def _baseline(spec: Any) -> Iterator[Breach]:
    for field in _HOST:
        if value_at(spec, field) is True:
            yield ((field,), f"the pod has `{field}`", f"remove `{field}`")
    for index, volume in indexed(spec, "volumes"):
        if "hostPath" in volume:
            yield (
                ("volumes", index, "hostPath"),
                "the pod mounts a path of its node",
                "mount a claim instead",
            )
    for place, container in _containers(spec):
        yield from _privileges(place, container)
    for index, sysctl in indexed(spec, "securityContext", "sysctls"):
        if sysctl.get("name") not in SAFE_SYSCTLS:
            yield (
                ("securityContext", "sysctls", index, "name"),
                f"the pod sets `{sysctl.get('name')}`",
                "leave it out, or set it on the nodes",
            )
    for place, security in _contexts(spec):
        for field, what in _PROFILES.items():
            if value_at(security, field, "type") == "Unconfined":
                yield (*place, field, "type"), f"{what} is `Unconfined`", "write `RuntimeDefault`"


_PROFILES = {"appArmorProfile": "AppArmor", "seccompProfile": "seccomp"}


def _privileges(place: Path, container: dict[str, Any]) -> Iterator[Breach]:
    """What a container may do beyond its own."""
    security: Path = (*place, "securityContext")
    if value_at(container, "securityContext", "privileged") is True:
        yield ((*security, "privileged"), "a container is privileged", "remove `privileged`")
    added = texts_at(container, "securityContext", "capabilities", "add")
    wrong = [name for name in added if name not in _CAPABILITIES]
    if wrong:
        yield (
            (*security, "capabilities", "add"),
            f"a container adds {listed(wrong)}",
            f"leave out {listed(wrong)}, or label the namespace `{_LABEL}: privileged`",
        )
    if any(port.get("hostPort") for port in mappings_at(container, "ports")):
        yield ((*place, "ports"), "a container takes a port of its node", "remove `hostPort`")
    if value_at(container, "securityContext", "procMount") not in (None, "Default"):
        what = "a container sees `/proc` unmasked"
        yield (*security, "procMount"), what, "remove `procMount`"


def _contexts(spec: Any) -> Iterator[tuple[Path, Any]]:
    """The security context of the pod, and that of each container."""
    yield ("securityContext",), value_at(spec, "securityContext")
    for place, container in _containers(spec):
        yield (*place, "securityContext"), container.get("securityContext")


def _restricted(spec: Any) -> Iterator[Breach]:
    yield from _baseline(spec)
    for index, volume in indexed(spec, "volumes"):
        ignored = ("name", "hostPath")
        sources = [key for key in volume if key not in ignored]
        if sources and sources[0] not in _VOLUMES:
            yield (
                ("volumes", index, sources[0]),
                f"the pod mounts a `{sources[0]}`",
                "mount a claim instead",
            )
    pod = value_at(spec, "securityContext")
    for place, container in _containers(spec):
        own = container.get("securityContext")
        yield from _hardened((*place, "securityContext"), own, pod)


def _hardened(place: Path, own: Any, pod: Any) -> Iterator[Breach]:
    """What the level requires of every container, set in the container or in its pod."""
    if value_at(own, "allowPrivilegeEscalation") is not False:
        yield (
            (*place, "allowPrivilegeEscalation"),
            "a container may gain privileges",
            ("write `allowPrivilegeEscalation: false`"),
        )
    dropped = texts_at(own, "capabilities", "drop")
    added = texts_at(own, "capabilities", "add")
    if "ALL" not in dropped:
        yield (
            (*place, "capabilities"),
            "a container keeps its capabilities",
            "write `capabilities: {drop: [ALL]}`",
        )
    known = [name for name in added if name in _CAPABILITIES]
    if any(name != "NET_BIND_SERVICE" for name in known):
        yield (
            (*place, "capabilities", "add"),
            f"a container adds {listed(added)}",
            "leave `add` out",
        )
    if _either(own, pod, "runAsNonRoot") is not True:
        yield (
            (*place, "runAsNonRoot"),
            "a container may run as root",
            "write `runAsNonRoot: true`",
        )
    if _either(own, pod, "runAsUser") == 0:
        yield (*place, "runAsUser"), "a container runs as root", "write another user"
    if value_at(_either(own, pod, "seccompProfile"), "type") not in _SECCOMP:
        yield (
            (*place, "seccompProfile"),
            "a container has no seccomp profile",
            ("write `seccompProfile: {type: RuntimeDefault}`"),
        )


def _either(own: Any, pod: Any, field: str) -> Any:
    """What a container says, or else its pod."""
    value = value_at(own, field)
    if value is None:
        return value_at(pod, field)
    return value


_CHECKS: dict[str, Callable[[Any], Iterator[Breach]]] = {
    "baseline": _baseline,
    "restricted": _restricted,
}
