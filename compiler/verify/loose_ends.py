"""References of an open set that are certainly meant for an object of it: names that are written in two ways."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from compiler.catalog.runtimes import released_runtimes
from compiler.manifest import Manifest
from compiler.output.body import at, follow
from compiler.verify.fault import REFERENCE, Fault, Path, like
from compiler.verify.objects import Identity, ObjectSet, identity_of
from compiler.verify.references import (
    KUEUE,
    POD_SPECS,
    TRAINER,
    is_built_in,
    pod_references,
    references,
)

# Kinds of which a set is mostly whole: the one that is named and absent, and the one that is there and not named, may
# be less alike.
_PAIRED = frozenset(
    {
        ("karpenter.k8s.aws", "EC2NodeClass"),
        (KUEUE, "ResourceFlavor"),
        (KUEUE, "ClusterQueue"),
        (KUEUE, "LocalQueue"),
        (KUEUE, "WorkloadPriorityClass"),
        (KUEUE, "Topology"),
        (TRAINER, "ClusterTrainingRuntime"),
        (TRAINER, "TrainingRuntime"),
        ("", "PersistentVolumeClaim"),
        ("", "PersistentVolume"),
        ("", "ConfigMap"),
    }
)
# Kinds that people write beside the one object that names them: if a set has one, and names one, that is meant.
_BESIDE = frozenset({("karpenter.k8s.aws", "EC2NodeClass"), (KUEUE, "Topology")})
_NEARLY, _CLOSELY, _LOOSELY = 0.88, 0.8, 0.55  # of 1, SequenceMatcher's ratio
_FEW = 100  # where more lie about unused, one that is alike says nothing, and to compare all of them takes minutes
_TELLING = (
    5  # letters of a part of a name: shorter ones differ by one letter and are right
)


Named = list[tuple[Manifest, Path, Identity]]
Near = Callable[[str, str], bool]


def beside(one: str, other: str) -> bool:
    """Whether two files lie in one folder, or one of them above the other: what is in folders beside each other, like
    the examples of a project, need not belong together."""
    folders = [posixpath.dirname(each.replace("\\", "/")) for each in (one, other)]
    shared = posixpath.commonpath(folders) if all(folders) else ""
    return shared in folders or not all(folders)


def loose_ends(objects: ObjectSet, near: Near) -> Iterator[tuple[Manifest, Fault]]:
    """References into nothing that are meant for an object of the set: one ``near`` that nothing refers to and that has
    nearly that name; one of which the name is a slip away; a claim in another namespace. What is merely absent may
    exist elsewhere."""
    spaces = _namespaces_of_jobs(objects)
    named = [
        (manifest, path, target)
        for manifest in objects.manifests
        for path, target in (
            *references(manifest.body),
            *_of_runtime(manifest.body, spaces),
        )
    ]
    shared = {
        (kind, name)
        for _, manifest in objects.of_kind(*_RUNTIME)
        if identity_of(manifest.body)[3] not in spaces
        for _, (_, kind, _, name) in _of_runtime(
            manifest.body, {identity_of(manifest.body)[3]: {""}}
        )
    }
    yield from _misnamed(objects, named, shared, near)
    yield from _misplaced(objects, named, shared)


def _misnamed(
    objects: ObjectSet, named: Named, shared: set[tuple[str, str]], near: Near
) -> Iterator[tuple[Manifest, Fault]]:
    used = {target for _, _, target in named}
    there: dict[Identity, list[str]] = {}
    for identity in objects.identities():
        there.setdefault((*identity[:3], ""), []).append(identity[3])
    absent = {target for target in used if target not in objects}
    missing = Counter(target[:3] for target in absent)
    told: set[tuple[str, Path]] = set()
    for manifest, path, target in named:
        group, kind, namespace, name = target
        names = there.get((group, kind, namespace, ""))
        if names is None:
            continue  # nothing that it could be a slip for
        known = is_built_in(group, kind, name) or (
            target[:2] == _RUNTIME and name in released_runtimes()
        )
        if target not in absent or (manifest.id, path) in told or known:
            continue
        own = identity_of(manifest.body)
        others = [(group, kind, namespace, each) for each in names]
        free = [
            each
            for each in others
            if each not in used and each != own and each[1::2] not in shared
        ]
        unused = [
            each[3] for each in free if near(manifest.path, objects.manifest(each).path)
        ]
        distant = [each[3] for each in free if each[3] not in unused]
        alone = (
            (group, kind) in _PAIRED and len(unused) == 1 and missing[target[:3]] == 1
        )
        loose = (
            like(name, unused, _LOOSELY if alone else _CLOSELY)
            if len(unused) <= _FEW
            else ""
        )
        if (
            alone
            and not loose
            and (
                _shortened(name, unused[0])
                or ((group, kind) in _BESIDE and len(names) == 1)
            )
        ):
            loose = unused[0]
        if not loose and len(distant) <= _FEW:
            loose = like(name, distant, _NEARLY)
        if alike := loose or _slip(name, names):
            told.add((manifest.id, path))
            message = f"there is no `{kind}` `{name}`, and {'nothing refers to' if loose else 'there is'} `{alike}`"
            yield (
                manifest,
                Fault(
                    REFERENCE,
                    "REF001",
                    path,
                    message,
                    f"write `{alike}`, or declare `{name}`",
                ),
            )


def _misplaced(
    objects: ObjectSet, named: Named, shared: set[tuple[str, str]]
) -> Iterator[tuple[Manifest, Fault]]:
    """Claims of a pod that are not in its namespace, but once in another one, where nothing refers to them."""
    used = {target for _, _, target in named if target[1] == "PersistentVolumeClaim"}
    claims = dict(objects.of_kind("", "PersistentVolumeClaim"))
    astray = _astray(objects)
    for _, kind, space, name in sorted(each for each in used if each not in objects):
        others = [each for each in claims if each[3] == name]
        if len(others) != 1 or (space, others[0][2]) in astray:
            continue
        if (
            others[0][2]
            and space
            and others[0] not in used
            and (kind, name) not in shared
        ):
            message = f"nothing here refers to claim `{name}`, and pods of namespace `{space}` want one"
            yield (
                claims[others[0]],
                Fault(
                    REFERENCE,
                    "REF001",
                    ("metadata", "namespace"),
                    message,
                    f"write `namespace: {space}`",
                ),
            )


def _astray(objects: ObjectSet) -> set[tuple[str, str]]:
    """The namespaces of jobs whose queue is in another one, and those: it is the job that is misplaced (QUE018)."""
    queues = [identity for identity, _ in objects.of_kind(KUEUE, "LocalQueue")]
    jobs = [
        (identity[2], at(job.body, "metadata", "labels", "kueue.x-k8s.io/queue-name"))
        for identity, job in objects.of_kind(TRAINER, "TrainJob")
    ]
    return {
        (space, there)
        for space, queue in jobs
        for _, _, there, name in queues
        if name == queue
        and there != space
        and (KUEUE, "LocalQueue", space, queue) not in objects
    }


_RUNTIME = (TRAINER, "ClusterTrainingRuntime")


def _of_runtime(
    body: dict[str, Any], spaces: Mapping[str, set[str]]
) -> Iterator[tuple[Path, Identity]]:
    """What the pods of a ClusterTrainingRuntime refer to, in each of its namespaces."""
    group, kind, _, name = identity_of(body)
    if (group, kind) == _RUNTIME:
        for path, spec in follow(body, POD_SPECS[TRAINER, "TrainingRuntime"]):
            for space in sorted(spaces.get(name, ())):
                yield from pod_references(spec, path, space)


def _namespaces_of_jobs(objects: ObjectSet) -> dict[str, set[str]]:
    """By ClusterTrainingRuntime, the namespaces of its jobs. One without any may have jobs in whichever namespace."""
    found: dict[str, set[str]] = {}
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        ref = at(job.body, "spec", "runtimeRef")
        if at(ref, "kind") in (None, _RUNTIME[1]) and isinstance(
            name := at(ref, "name"), str
        ):
            found.setdefault(name, set()).add(identity[2])
    return found


def _shortened(one: str, other: str) -> bool:
    """Whether one name is the other with words left out: ``p5`` and ``p5-flavor``."""
    words = set(one.split("-")), set(other.split("-"))
    return words[0] < words[1] or words[1] < words[0]


def _slip(word: str, names: Iterable[str]) -> str:
    """The name of which a word is one slip of the pen away, in a part that is long enough to tell, or nothing:
    ``reserch`` is ``research``; ``gpu-a``, ``p4`` and ``models`` are names of their own."""
    return next((name for name in names if _slipped(word, name)), "")


def _slipped(one: str, other: str) -> bool:
    start = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    a, b = one[start:], other[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    longer = max(one, other, key=len)
    part = (
        longer[: start + 1].rpartition("-")[2] + longer[start + 1 :].partition("-")[0]
    )
    single = len(a) <= 1 and len(b) <= 1 and a + b != "s"
    return (
        (a + b).isalpha()
        and len(part) >= _TELLING
        and (single or (len(a) == 2 and a == b[::-1]))
    )
