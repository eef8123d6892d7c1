"""Pods that their namespace refuses: Pod Security Standards, by the label `pod-security.kubernetes.io/enforce`.

Source: k8s.io/pod-security-admission v0.36, policy/check_*.go (levels baseline and restricted, version latest), and
admission/namespace.go: objects that make pods are let through, and their pods are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import Manifest
from compiler.output.body import at, follow, items, texts
from compiler.verify.fault import WEBHOOK, Fault, Path
from compiler.verify.objects import ObjectSet, identity_of
from compiler.verify.references import POD_SPECS, TRAINER

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
    levels = {
        identity[3]: level
        for identity, each in objects.of_kind("", "Namespace")
        if (level := at(each.body, "metadata", "labels", _LABEL)) in _LEVELS
    }
    if not levels:
        return
    for manifest in objects.manifests:
        group, kind, space, _ = identity_of(manifest.body)
        if (
            space in levels
            and (group, kind) in POD_SPECS
            and (group, kind) != (TRAINER, "TrainJob")
        ):
            yield from _refused(manifest, POD_SPECS[group, kind], space, levels[space])
    for space, manifest in _runtimes(objects):
        if space in levels:
            yield from _refused(
                manifest, POD_SPECS[TRAINER, "TrainingRuntime"], space, levels[space]
            )


def _runtimes(objects: ObjectSet) -> Iterator[tuple[str, Manifest]]:
    """The cluster-wide runtimes of the set, each with the namespaces of its jobs; jobs that patch the security of their
    pods are left out."""
    used: dict[tuple[str, str], None] = {}
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        ref = at(job.body, "spec", "runtimeRef")
        if at(ref, "kind") in (
            None,
            "ClusterTrainingRuntime",
        ) and "securityContext" not in str(job.body.get("spec")):
            used[identity[2], str(at(ref, "name"))] = None
    for space, name in used:
        identity = (TRAINER, "ClusterTrainingRuntime", "", name)
        if identity in objects:
            yield space, objects.manifest(identity)


def _refused(
    manifest: Manifest, path: tuple[str, ...], space: str, level: str
) -> Iterator[tuple[Manifest, Fault]]:
    """One fault a pod: the first breach, and how many more there are."""
    kind = identity_of(manifest.body)[1]
    for start, spec in follow(manifest.body, path):
        breaches = [each for check in _CHECKS[level] for each in check(spec)]
        if not breaches or not isinstance(spec, dict):
            continue
        place, what, help = breaches[0]
        more = f" (and {len(breaches) - 1} more)" if len(breaches) > 1 else ""
        code = "SCH011" if kind == "Pod" else "SCH012"
        message = (
            f"{what}, which namespace `{space}` refuses: it enforces `{level}`{more}"
        )
        yield manifest, Fault(WEBHOOK, code, (*start, *place), message, help)


def _containers(spec: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    for field in _LISTS:
        for index, each in enumerate(items(spec, field)):
            yield (field, index), each


def _baseline(spec: Any) -> Iterator[Breach]:
    for field in _HOST:
        if at(spec, field) is True:
            yield (field,), f"the pod has `{field}`", f"remove `{field}`"
    for index, volume in enumerate(items(spec, "volumes")):
        if "hostPath" in volume:
            yield (
                ("volumes", index, "hostPath"),
                "the pod mounts a path of its node",
                "mount a claim instead",
            )
    for place, each in _containers(spec):
        security: Path = (*place, "securityContext")
        if at(each, "securityContext", "privileged") is True:
            yield (
                (*security, "privileged"),
                "a container is privileged",
                "remove `privileged`",
            )
        wrong = [
            name
            for name in texts(each, "securityContext", "capabilities", "add")
            if name not in _CAPABILITIES
        ]
        if wrong:
            yield (
                (*security, "capabilities", "add"),
                f"a container adds {listed(wrong)}",
                f"leave out {listed(wrong)}, or label the namespace `{_LABEL}: privileged`",
            )
        if any(port.get("hostPort") for port in items(each, "ports")):
            yield (
                (*place, "ports"),
                "a container takes a port of its node",
                "remove `hostPort`",
            )
    for place, security in _contexts(spec):
        if at(security, "seccompProfile", "type") == "Unconfined":
            yield (
                (*place, "seccompProfile", "type"),
                "seccomp is `Unconfined`",
                "write `RuntimeDefault`",
            )


def _contexts(spec: Any) -> Iterator[tuple[Path, Any]]:
    """The security context of the pod, and that of each container."""
    yield ("securityContext",), at(spec, "securityContext")
    for place, each in _containers(spec):
        yield (*place, "securityContext"), each.get("securityContext")


def _restricted(spec: Any) -> Iterator[Breach]:
    for index, volume in enumerate(items(spec, "volumes")):
        kind = next((key for key in volume if key not in ("name", "hostPath")), "")
        if kind and kind not in _VOLUMES:
            yield (
                ("volumes", index, kind),
                f"the pod mounts a `{kind}`",
                "mount a claim instead",
            )
    for place, each in _containers(spec):
        yield from _hardened(
            place, each.get("securityContext"), at(spec, "securityContext")
        )


def _hardened(place: Path, own: Any, pod: Any) -> Iterator[Breach]:
    """What the level wants every container to say, by itself or by its pod."""
    place = (*place, "securityContext")
    if at(own, "allowPrivilegeEscalation") is not False:
        yield (
            (*place, "allowPrivilegeEscalation"),
            "a container may gain privileges",
            ("write `allowPrivilegeEscalation: false`"),
        )
    dropped, added = (texts(own, "capabilities", field) for field in ("drop", "add"))
    if "ALL" not in dropped:
        yield (
            (*place, "capabilities"),
            "a container keeps its capabilities",
            "write `capabilities: {drop: [ALL]}`",
        )
    if any(name in _CAPABILITIES and name != "NET_BIND_SERVICE" for name in added):
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
    if at(_either(own, pod, "seccompProfile"), "type") not in _SECCOMP:
        yield (
            (*place, "seccompProfile"),
            "a container has no seccomp profile",
            ("write `seccompProfile: {type: RuntimeDefault}`"),
        )


def _either(own: Any, pod: Any, field: str) -> Any:
    """What a container says, or else its pod."""
    said = at(own, field)
    return at(pod, field) if said is None else said


_CHECKS: dict[str, tuple[Callable[[Any], Iterator[Breach]], ...]] = {
    "baseline": (_baseline,),
    "restricted": (_baseline, _restricted),
}
