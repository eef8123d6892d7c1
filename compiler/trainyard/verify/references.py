"""The linker: what an object refers to by name must be there.

One table of reference kinds. A path walks keys; ``*`` is every item of a list. Source of each: the API of the kind
that holds it (Karpenter v1, Kueue v1beta2, Trainer v1alpha1, Flux v1/v2, core v1 of Kubernetes 1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.output.body import value_at, values_along
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.verify.cycles import cycles
from trainyard.verify.fault import REFERENCE, Fault, Path, nearest
from trainyard.verify.jobs import job_objects
from trainyard.verify.objects import Identity, ObjectSet, identity_of, kind_of

TRAINER, KUEUE, RBAC = ("trainer.kubeflow.org", "kueue.x-k8s.io", "rbac.authorization.k8s.io")
SOURCE, KUSTOMIZE, HELM, NOTIFICATION = (
    f"{part}.toolkit.fluxcd.io" for part in ("source", "kustomize", "helm", "notification")
)
SECRETS = "external-secrets.io"
STORAGE = "storage.k8s.io"

ALWAYS_THERE = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "flux-system"}
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that names another object.

    ``path`` leads to a name or to a mapping with ``name`` (and, if ``typed``, its own ``kind``; ``apiGroup`` or
    ``group``; ``namespace``). ``cluster`` is set for targets without a namespace.
    """

    path: tuple[str, ...]
    target_group: str
    target_kind: str = ""
    cluster: bool = False
    typed: bool = False


def _to(
    path: str, group: str, kind: str = "", *, cluster: bool = False, typed: bool = False
) -> Reference:
    keys = tuple(path.split("."))
    return Reference(keys, group, kind, cluster, typed)


_QUEUED = (
    Reference(("metadata", "labels", "kueue.x-k8s.io/queue-name"), KUEUE, "LocalQueue"),
    Reference(
        ("metadata", "labels", "kueue.x-k8s.io/priority-class"),
        KUEUE,
        "WorkloadPriorityClass",
        cluster=True,
    ),
)
"""Of whatever has these labels."""
# (API group, kind) of the object that refers -> its references
REFERENCES: dict[tuple[str, str], tuple[Reference, ...]] = {
    ("karpenter.sh", "NodePool"): (
        _to("spec.template.spec.nodeClassRef", "karpenter.k8s.aws", cluster=True, typed=True),
    ),
    (KUEUE, "ClusterQueue"): (
        _to("spec.resourceGroups.*.flavors.*.name", KUEUE, "ResourceFlavor", cluster=True),
        _to("spec.cohortName", KUEUE, "Cohort", cluster=True),
        _to("spec.admissionChecks.*", KUEUE, "AdmissionCheck", cluster=True),
        _to(
            "spec.admissionChecksStrategy.admissionChecks.*", KUEUE, "AdmissionCheck", cluster=True
        ),
    ),
    (KUEUE, "Cohort"): (
        _to("spec.resourceGroups.*.flavors.*.name", KUEUE, "ResourceFlavor", cluster=True),
        _to("spec.parentName", KUEUE, "Cohort", cluster=True),
    ),
    (KUEUE, "LocalQueue"): (_to("spec.clusterQueue", KUEUE, "ClusterQueue", cluster=True),),
    (KUEUE, "ResourceFlavor"): (_to("spec.topologyName", KUEUE, "Topology", cluster=True),),
    ("", "PersistentVolumeClaim"): (
        _to("spec.volumeName", "", "PersistentVolume", cluster=True),
        _to("spec.storageClassName", STORAGE, "StorageClass", cluster=True),
    ),
    (RBAC, "RoleBinding"): (_to("roleRef", RBAC, typed=True), _to("subjects.*", "", typed=True)),
    (RBAC, "ClusterRoleBinding"): (
        _to("roleRef", RBAC, typed=True, cluster=True),
        _to("subjects.*", "", typed=True),
    ),
    (KUSTOMIZE, "Kustomization"): (
        _to("spec.sourceRef", SOURCE, typed=True),
        _to("spec.dependsOn.*", KUSTOMIZE, "Kustomization"),
    ),
    (HELM, "HelmRelease"): (
        _to("spec.chart.spec.sourceRef", SOURCE, typed=True),
        _to("spec.chartRef", SOURCE, typed=True),
        _to("spec.dependsOn.*", HELM, "HelmRelease"),
        _to("spec.valuesFrom.*", "", typed=True),
    ),
    (NOTIFICATION, "Alert"): (_to("spec.providerRef", NOTIFICATION, "Provider"),),
    (NOTIFICATION, "Provider"): (_to("spec.secretRef", "", "Secret"),),
    ("batch", "CronJob"): tuple(
        replace(label, path=("spec", "jobTemplate", *label.path)) for label in _QUEUED
    ),
    (TRAINER, "TrainJob"): (
        _to("spec.runtimeRef", TRAINER, "ClusterTrainingRuntime", typed=True),
        _to("spec.trainer.env.*.valueFrom.secretKeyRef", "", "Secret"),
        _to("spec.trainer.env.*.valueFrom.configMapKeyRef", "", "ConfigMap"),
        _to("spec.initializer.dataset.secretRef", "", "Secret"),
        _to("spec.initializer.model.secretRef", "", "Secret"),
    ),
    (SECRETS, "ExternalSecret"): (_to("spec.secretStoreRef", SECRETS, "SecretStore", typed=True),),
}

_POD = ("spec", "template", "spec")
_REPLICATED = ("replicatedJobs", "*", "template", "spec", "template", "spec")
RUNTIME_PODS: tuple[str, ...] = ("spec", "template", "spec", *_REPLICATED)
"""Where a runtime keeps pod specs; what the pods of a cluster-wide one use is its jobs' matter."""
# where a kind keeps pod specs: a path, or several
POD_SPECS: dict[tuple[str, str], tuple[tuple[str, ...], ...]] = {
    **{object: kind.pods for object, kind in job_objects().items()},
    ("", "Pod"): (("spec",),),
    ("apps", "Deployment"): (_POD,),
    ("apps", "DaemonSet"): (_POD,),
    ("batch", "CronJob"): (("spec", "jobTemplate", *_POD),),
    (TRAINER, "TrainingRuntime"): (RUNTIME_PODS,),
}


def pod_specs(body: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Every pod spec of an object, with its path."""
    for path in POD_SPECS.get(kind_of(body), ()):
        yield from values_along(body, path)


POD_REFERENCES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("volumes", "*", "persistentVolumeClaim", "claimName"), "", "PersistentVolumeClaim"),
    (("volumes", "*", "configMap"), "", "ConfigMap"),
    (("volumes", "*", "secret", "secretName"), "", "Secret"),
    (("volumes", "*", "projected", "sources", "*", "configMap"), "", "ConfigMap"),
    (("volumes", "*", "projected", "sources", "*", "secret"), "", "Secret"),
    (("serviceAccountName",), "", "ServiceAccount"),
    (("imagePullSecrets", "*"), "", "Secret"),
    (("priorityClassName",), "scheduling.k8s.io", "PriorityClass"),
    *(
        ((part, "*", *inner), "", kind)
        for part in ("containers", "initContainers")
        for inner, kind in (
            (("env", "*", "valueFrom", "secretKeyRef"), "Secret"),
            (("env", "*", "valueFrom", "configMapKeyRef"), "ConfigMap"),
            (("envFrom", "*", "secretRef"), "Secret"),
            (("envFrom", "*", "configMapRef"), "ConfigMap"),
        )
    ),
)

# what every cluster has (k8s.io/kubernetes v1.36 bootstrap policy; EKS creates the class gp2)
_BUILT_IN = {
    ("scheduling.k8s.io", "PriorityClass"): frozenset(
        {"system-node-critical", "system-cluster-critical"}
    ),
    ("", "ServiceAccount"): frozenset({"default"}),
    ("", "ConfigMap"): frozenset({"kube-root-ca.crt"}),
    (RBAC, "ClusterRole"): frozenset({"cluster-admin", "admin", "edit", "view"}),
    (STORAGE, "StorageClass"): frozenset({"gp2"}),
    # of EKS Auto Mode, with its own node pools (EKS user guide, set-builtin-node-pools)
    ("eks.amazonaws.com", "NodeClass"): frozenset({"default"}),
}
_IMPLICIT = frozenset({(KUEUE, "Cohort")})  # Kueue makes a cohort of every name that a queue gives


def link(
    objects: ObjectSet, *, closed: bool, external: frozenset[ObjectRef] = frozenset()
) -> list[tuple[Manifest, Fault]]:
    """Faults of references; of an open set only those that are wrong wherever the rest may live."""
    faults = list(cycles(objects))
    if not closed:
        return faults
    known: set[Identity] = set()
    spaces = _namespaces(objects)
    for ref in external:
        target = (ref.group, ref.kind, ref.namespace, ref.name)
        known.add(target)
        if ref.kind == "Namespace":
            spaces.add(ref.name)
    for manifest in objects.manifests:
        unresolved = _unresolved(manifest, objects, known)
        faults.extend((manifest, fault) for fault in unresolved)
        undeclared = _undeclared(manifest, spaces)
        faults.extend((manifest, fault) for fault in undeclared)
    faults.extend(_of_runtimes(objects, known))
    return faults


def _of_runtimes(objects: ObjectSet, known: set[Identity]) -> Iterator[tuple[Manifest, Fault]]:
    """What the pods of a cluster-wide runtime name must be in the namespace of each job that refers to it."""
    used: dict[tuple[str, str], None] = {}
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        ref = value_at(job.body, "spec", "runtimeRef")
        if value_at(ref, "kind") in (None, "ClusterTrainingRuntime"):
            name = str(value_at(ref, "name"))
            used[identity[2], name] = None
    for space, name in used:
        runtime = (TRAINER, "ClusterTrainingRuntime", "", name)
        if runtime not in objects:
            continue
        manifest = objects.manifest(runtime)
        for start, spec in values_along(manifest.body, RUNTIME_PODS):
            for path, target in pod_references(spec, start, space):
                fault = _missing(path, target, objects, known)
                if fault is not None:
                    yield manifest, fault


def references(body: dict[str, Any]) -> tuple[tuple[Path, Identity], ...]:
    """Every reference of an object: its place and the object that it names."""
    found: list[tuple[Path, Identity]] = []
    group, kind, namespace, _ = identity_of(body)
    own = REFERENCES.get((group, kind), ())
    for reference in (*_QUEUED, *own):
        for path, value in values_along(body, reference.path):
            if isinstance(value, dict) and value.get("optional"):
                continue
            target = _target(reference, value, namespace)
            if target is None:
                continue
            place = path
            if isinstance(value, dict):
                place = (*path, "name")
            found.append((place, target))
    for path, spec in pod_specs(body):
        found += pod_references(spec, path, namespace)
    return tuple(found)


def made_by_others(manifest: Manifest) -> Identity | None:
    """What a controller makes of an object, if it is one of those: a Secret of cert-manager, External Secrets or
    Sealed Secrets (cert-manager.io/v1 Certificate, spec.secretName; external-secrets.io/v1 ExternalSecret,
    spec.target.name; bitnami.com/v1alpha1 SealedSecret, whose Secret has its name)."""
    group, kind, namespace, name = manifest.once(identity_of)
    path = _MAKES.get((group, kind))
    if path is None:
        return None
    target = value_at(manifest.body, *path)
    if isinstance(target, str) and target:
        return "", "Secret", namespace, target
    return "", "Secret", namespace, name


_MAKES = {
    ("cert-manager.io", "Certificate"): ("spec", "secretName"),
    (SECRETS, "ExternalSecret"): ("spec", "target", "name"),
    ("bitnami.com", "SealedSecret"): ("metadata", "name"),
}


def made_elsewhere(bodies: Iterable[Mapping[str, Any]]) -> frozenset[ObjectRef]:
    """What objects of the adopter's own refer to, and what stands in no repository: Secrets, and whatever a chart among
    them may make in its namespace."""
    objects = [dict(body) for body in bodies]
    spaces = set()
    for body in objects:
        group, kind, namespace, _ = identity_of(body)
        if (group, kind) == (HELM, "HelmRelease"):
            spaces.add(value_at(body, "spec", "targetNamespace") or namespace)
    refs = set()
    for body in objects:
        for _, target in references(body):
            group, kind, namespace, name = target
            if kind == "Secret" or namespace in spaces:
                api_version = f"{group}/v1" if group else "v1"
                refs.add(ObjectRef(api_version, kind, namespace, name))
    return frozenset(refs)


def pod_references(spec: Any, path: Path, namespace: str) -> Iterator[tuple[Path, Identity]]:
    """Every reference of a pod spec that stands at ``path``, with its target."""
    for inner, group, kind in POD_REFERENCES:
        for tail, value in values_along(spec, inner):
            name = value
            place = (*path, *tail)
            if isinstance(value, dict):
                if value.get("optional"):
                    continue
                name = value.get("name")
                place = (*place, "name")
            if not isinstance(name, str) or not name:
                continue
            if _optional_secret(spec, tail):
                continue
            space = "" if kind == "PriorityClass" else namespace
            yield (place, (group, kind, space, name))


def _optional_secret(spec: Any, tail: Path) -> bool:
    if tail[-1:] != ("secretName",):
        return False
    return bool(value_at(spec, *tail[:-1], "optional"))


_CLUSTER_WIDE = ("ClusterRole", "ClusterTrainingRuntime", "ClusterSecretStore")


def _target(reference: Reference, value: Any, namespace: str) -> Identity | None:
    kind = reference.target_kind
    group = reference.target_group
    space = namespace
    name = value
    if isinstance(value, dict):
        name = value.get("name")
        space = value.get("namespace") or namespace
        if reference.typed:
            kind = value.get("kind") or kind
            group = value.get("group") or group
    if not isinstance(name, str) or not isinstance(space, str):
        return None
    if not isinstance(kind, str) or not isinstance(group, str):
        return None
    if not name:
        return None
    if kind in ("User", "Group"):
        return None
    cluster = reference.cluster or kind in _CLUSTER_WIDE
    return group, kind, "" if cluster else space, name


def _unresolved(manifest: Manifest, objects: ObjectSet, known: set[Identity]) -> Iterator[Fault]:
    for path, target in manifest.once(references):
        fault = _missing(path, target, objects, known)
        if fault is not None:
            yield fault


def _missing(
    path: Path, target: Identity, objects: ObjectSet, known: set[Identity]
) -> Fault | None:
    """The fault of a reference whose target is not there."""
    group, kind, namespace, name = target
    if target in objects or target in known:
        return None
    if (group, kind) in _IMPLICIT:
        return None
    if is_built_in(group, kind, name):
        return None
    where = f" in namespace `{namespace}`" if namespace else ""
    message = f"`{kind}` `{name}`{where} is not declared"
    help = _near(objects, target)
    return Fault(REFERENCE, "REF001", path, message, help)


def is_built_in(group: str, kind: str, name: str) -> bool:
    """Whether every cluster has the object."""
    if kind == "ClusterRole" and name.startswith("system:"):
        return True
    names = _BUILT_IN.get((group, kind), ())
    return name in names


def _near(objects: ObjectSet, target: Identity) -> str:
    group, kind, namespace, name = target
    spaces = {}
    for identity, _ in objects.of_kind(group, kind):
        _, _, space, other = identity
        spaces[other] = space
    if name in spaces:
        return f"it is in namespace `{spaces[name]}`"
    known = spaces.items()
    beside = [other for other, space in known if space == namespace]
    return nearest(name, beside, "declare it")


def _namespaces(objects: ObjectSet) -> set[str]:
    """Namespaces that the set declares, or that one of its HelmReleases creates."""
    declared = set(ALWAYS_THERE)
    for identity, _ in objects.of_kind("", "Namespace"):
        declared.add(identity[3])
    for identity, release in objects.of_kind(HELM, "HelmRelease"):
        if value_at(release.body, "spec", "install", "createNamespace") is True:
            target = value_at(release.body, "spec", "targetNamespace")
            declared.add(target or identity[2])
    return declared


def _undeclared(manifest: Manifest, declared: set[str]) -> Iterator[Fault]:
    _, _, namespace, _ = manifest.once(identity_of)
    if not namespace or namespace in declared:
        return
    yield Fault(
        REFERENCE,
        "REF002",
        ("metadata", "namespace"),
        f"namespace `{namespace}` is not declared",
        nearest(namespace, declared - ALWAYS_THERE, "declare it"),
    )
