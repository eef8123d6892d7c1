"""References of an open set that are certainly meant for an object of it: names that are written in two ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from compiler.manifest import Manifest
from compiler.verify.fault import REFERENCE, Fault, Path, like
from compiler.verify.objects import Identity, ObjectSet, at, identity_of
from compiler.verify.references import (
    KUEUE,
    POD_SPECS,
    TRAINER,
    follow,
    is_built_in,
    pod_references,
    references,
)

# Kinds of which a set is mostly whole: the one that is named and absent, and the one that is there and not named, may
# be less alike.
_PAIRED = frozenset({
    ("karpenter.k8s.aws", "EC2NodeClass"), (KUEUE, "ResourceFlavor"), (KUEUE, "ClusterQueue"), (KUEUE, "LocalQueue"),
    (KUEUE, "WorkloadPriorityClass"), (KUEUE, "Topology"),
})
_CLOSELY, _LOOSELY = 0.8, 0.55  # of 1, SequenceMatcher's ratio
_TELLING = 5  # letters of a part of a name: shorter ones differ by one letter and are right


def loose_ends(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """References into nothing that are meant for an object of the set: one that nothing refers to and that has nearly
    that name; or one of which the name is a slip away. What is merely absent may exist elsewhere."""
    named = [(manifest, path, target) for manifest in objects.manifests
             for path, target in (*references(manifest.body), *_of_cluster_runtime(manifest.body, objects))]
    used = {target for _, _, target in named}
    there: dict[Identity, list[str]] = {}
    for identity in objects.identities():
        there.setdefault((*identity[:3], ""), []).append(identity[3])
    absent = {target for target in used if target not in objects}
    shared = set(_of_any_namespace(objects))
    told: set[tuple[str, Path]] = set()
    for manifest, path, target in named:
        group, kind, namespace, name = target
        names = there.get((group, kind, namespace, ""), [])
        if target not in absent or (manifest.id, path) in told or is_built_in(group, kind, name):
            continue
        own = identity_of(manifest.body)
        unused = [each for each in names
                  if (group, kind, namespace, each) not in {*used, own} and (kind, each) not in shared]
        alone = (group, kind) in _PAIRED and len(unused) == 1 and sum(each[:3] == target[:3] for each in absent) == 1
        loose = like(name, unused, _LOOSELY if alone else _CLOSELY)
        if alike := loose or _slip(name, names):
            told.add((manifest.id, path))
            message = f"there is no `{kind}` `{name}`, and {'nothing refers to' if loose else 'there is'} `{alike}`"
            yield manifest, Fault(REFERENCE, "REF001", path, message, f"write `{alike}`, or declare `{name}`")


def misplaced(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """Claims of a pod that are not in its namespace, but once in another one, where nothing refers to them."""
    named = [target for manifest in objects.manifests
             for _, target in (*references(manifest.body), *_of_cluster_runtime(manifest.body, objects))]
    claims = dict(objects.of_kind("", "PersistentVolumeClaim"))
    absent = {target for target in named if target[1] == "PersistentVolumeClaim" and target not in objects}
    shared = set(_of_any_namespace(objects))
    for _, kind, space, name in sorted(absent):
        others = [each for each in claims if each[3] == name]
        if len(others) == 1 and others[0][2] and space and others[0] not in named and (kind, name) not in shared:
            message = f"nothing here refers to claim `{name}`, and pods of namespace `{space}` want one"
            yield claims[others[0]], Fault(REFERENCE, "REF001", ("metadata", "namespace"), message,
                                           f"write `namespace: {space}`")


def _of_cluster_runtime(body: dict[str, Any], objects: ObjectSet) -> Iterator[tuple[Path, Identity]]:
    """What the pods of a ClusterTrainingRuntime refer to, in the namespace of each of its jobs."""
    spaces = sorted(_namespaces_of_jobs(body, objects))
    for path, spec in _pods_of_cluster_runtime(body) if spaces else ():
        for space in spaces:
            yield from pod_references(spec, path, space)


def _of_any_namespace(objects: ObjectSet) -> Iterator[tuple[str, str]]:
    """Kind and name of what cluster-wide runtimes without a job refer to: jobs may use them in whichever namespace."""
    for _, manifest in objects.of_kind(TRAINER, "ClusterTrainingRuntime"):
        for path, spec in _pods_of_cluster_runtime(manifest.body):
            if not _namespaces_of_jobs(manifest.body, objects):
                yield from ((kind, name) for _, (_, kind, _, name) in pod_references(spec, path, ""))


def _pods_of_cluster_runtime(body: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    group, kind, _, _ = identity_of(body)
    if (group, kind) == (TRAINER, "ClusterTrainingRuntime"):
        yield from follow(body, POD_SPECS[TRAINER, "TrainingRuntime"])


def _namespaces_of_jobs(runtime: dict[str, Any], objects: ObjectSet) -> set[str]:
    _, kind, _, name = identity_of(runtime)
    return {identity[2] for identity, job in objects.of_kind(TRAINER, "TrainJob")
            if (ref := at(job.body, "spec", "runtimeRef")) and at(ref, "name") == name
            and at(ref, "kind") in (None, kind)}


def _slip(word: str, names: Iterable[str]) -> str:
    """The name of which a word is one slip of the pen away, in a part that is long enough to tell, or nothing:
    ``reserch`` is ``research``; ``gpu-a``, ``p4`` and ``models`` are names of their own."""
    return next((name for name in names if _slipped(word, name)), "")


def _slipped(one: str, other: str) -> bool:
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    longer = max(one, other, key=len)
    part = longer[: start + 1].rpartition("-")[2] + longer[start + 1 :].partition("-")[0]
    single = len(a) <= 1 and len(b) <= 1 and a + b != "s"
    return (a + b).isalpha() and len(part) >= _TELLING and (single or (len(a) == 2 and a == b[::-1]))
