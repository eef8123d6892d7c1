"""References that must mean an object of the set though none has that name: probably misspelt."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from trainyard.catalog.runtimes import released_runtimes
from trainyard.output.body import value_at, values_along
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.verify.fault import REFERENCE, Fault, Path, like
from trainyard.verify.objects import Identity, ObjectSet, identity_of
from trainyard.verify.references import (
    KUEUE,
    RUNTIME_PODS,
    TRAINER,
    is_built_in,
    made_by_others,
    pod_references,
    references,
)

# Kinds of which a set is mostly whole: the one that is named and absent, and the one that is there and not named, may
# be less alike.
_PAIRED = frozenset(
    {
        ("karpenter.k8s.aws", "EC2NodeClass"),
        ("eks.amazonaws.com", "NodeClass"),
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
# Kinds that people write next to the one object that names them: if a set has one and names one, that one is meant.
_BESIDE = frozenset(
    {("karpenter.k8s.aws", "EC2NodeClass"), ("eks.amazonaws.com", "NodeClass"), (KUEUE, "Topology")}
)
_NEARLY, _CLOSELY, _LOOSELY = 0.88, 0.8, 0.55  # of 1, SequenceMatcher's ratio
_FEW = 100
"""Of more names that are unused, one that is alike says nothing, and to compare all of them takes minutes."""
_LONG = 5
"""Letters of a part of a name that is long enough for a slip; shorter ones differ by one letter and are right."""
_RUNTIME = (TRAINER, "ClusterTrainingRuntime")

Named = list[tuple[Manifest, Path, Identity]]
Near = Callable[[str, str], bool]
Space = tuple[str, str, str]
"""API group, kind and namespace: objects that a reference may take for one another."""


def beside(one: str, other: str) -> bool:
    """Whether two files lie in one folder, or one of them above the other: what is in sibling folders, like
    the examples of a project, need not belong together."""
    paths = [path.replace("\\", "/") for path in (one, other)]
    folders = [posixpath.normpath(posixpath.dirname(path)) for path in paths]
    if posixpath.curdir in folders:
        return True
    if posixpath.isabs(folders[0]) != posixpath.isabs(folders[1]):
        return False
    return posixpath.commonpath(folders) in folders


def everywhere(one: str, other: str) -> bool:
    """Of a closed set all files belong together."""
    return True


def every_cluster_has(target: Identity) -> bool:
    """Whether every cluster has an object: Kubernetes' own, and the runtimes that Trainer brings."""
    group, kind, _, name = target
    if (group, kind) == _RUNTIME and name in released_runtimes():
        return True
    return is_built_in(group, kind, name)


def loose_ends(
    objects: ObjectSet, near: Near, external: AbstractSet[ObjectRef] = frozenset()
) -> Iterator[tuple[Manifest, Fault]]:
    """References into nothing that are meant for an object of the set.

    Such an object has nearly the name that is written, and nothing refers to it; or the name is one slip of the pen
    away; or it is a claim in another namespace. What is merely absent may exist elsewhere. ``near`` says whether what
    is in two files is likely to belong together; what is ``external`` is there, in whichever namespace.
    """
    namespaces = _namespaces_of_jobs(objects)
    named: Named = []
    for manifest in objects.manifests:
        targets = manifest.once(references)
        if manifest.once(identity_of)[:2] == _RUNTIME:
            targets = (*targets, *_of_runtime(manifest, namespaces))
        named += [(manifest, path, target) for path, target in targets]
    shared = _shared(objects, namespaces)
    there = {(ref.kind, ref.name) for ref in external}
    wanted = named
    if there:
        wanted = [entry for entry in named if (entry[2][1], entry[2][3]) not in there]
    yield from _misnamed(objects, wanted, shared, near)
    yield from _misplaced(objects, named, shared)


def _shared(objects: ObjectSet, namespaces: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Kind and name of what the pods of ClusterTrainingRuntimes without jobs refer to, in whichever namespace."""
    shared: set[tuple[str, str]] = set()
    for identity, manifest in objects.of_kind(*_RUNTIME):
        name = identity[3]
        if name not in namespaces:
            targets = _of_runtime(manifest, {name: {""}})
            for _, (_, kind, _, target) in targets:
                shared.add((kind, target))
    return shared


def _misnamed(
    objects: ObjectSet, named: Named, shared: set[tuple[str, str]], near: Near
) -> Iterator[tuple[Manifest, Fault]]:
    names = _Names(objects, named, shared, near)
    reported: set[tuple[str, Path]] = set()
    for manifest, path, target in named:
        _, kind, _, name = target
        if not names.is_absent(target):
            continue
        if (manifest.id, path) in reported:
            continue
        unused = names.unused_like(manifest, target)
        declared = names.declared(target)
        meant = unused or _slip_of(name, declared)
        if meant:
            reported.add((manifest.id, path))
            fact = "nothing refers to" if unused else "there is"
            absence = f"there is no `{kind}` `{name}`"
            message = f"{absence}, and {fact} `{meant}`"
            help = f"write `{meant}`, or declare `{name}`"
            yield (manifest, Fault(REFERENCE, "REF001", path, message, help))


class _Names:
    """The names that a set declares, and those that its references use."""

    def __init__(
        self, objects: ObjectSet, named: Named, shared: set[tuple[str, str]], near: Near
    ) -> None:
        self._objects = objects
        self._shared = shared
        self._near = near
        made = (made_by_others(manifest) for manifest in objects.manifests)
        self._made = set(filter(None, made))
        self._used = {target for _, _, target in named}
        self._declared: dict[Space, list[str]] = {}
        for identity in objects.identities():
            space = identity[:3]
            self._declared.setdefault(space, []).append(identity[3])
        absent = [target for target in self._used if target not in objects]
        self._absences = Counter(target[:3] for target in absent)

    def declared(self, target: Identity) -> list[str]:
        """The names of the objects that a reference could be meant for."""
        return self._declared.get(target[:3], [])

    def is_absent(self, target: Identity) -> bool:
        """Whether a target is not there, and others are that it could be meant for."""
        if target in self._objects or not self.declared(target):
            return False
        group, kind, _, name = target
        if (group, kind, "", name) in self._objects:
            return False  # a kustomization may give it the namespace, or `kubectl -n`
        if target in self._made:
            return False
        return not every_cluster_has(target)

    def unused_like(self, manifest: Manifest, target: Identity) -> str:
        """The name of an object that nothing refers to, and that a reference in a manifest is meant for; or nothing."""
        name = target[3]
        close, distant = self._unused(manifest, target)
        alike = ""
        if len(close) <= _FEW:
            alone = self._are_alone(target, close)
            alike = like(name, close, _LOOSELY if alone else _CLOSELY)
            is_open = not alike and alone
            if is_open and self._are_paired(target, close[0]):
                alike = close[0]
        if not alike and len(distant) <= _FEW:
            alike = like(name, distant, _NEARLY)
        return alike

    def _unused(self, manifest: Manifest, target: Identity) -> tuple[list[str], list[str]]:
        """The names to which nothing refers: of objects near a manifest, and of the others."""
        group, kind, namespace, _ = target
        own = manifest.once(identity_of)
        close: list[str] = []
        distant: list[str] = []
        for name in self.declared(target):
            identity = (group, kind, namespace, name)
            if identity in self._used or identity == own or (kind, name) in self._shared:
                continue
            path = self._objects.manifest(identity).path
            is_near = self._near(manifest.path, path)
            names = close if is_near else distant
            names.append(name)
        return close, distant

    def _are_alone(self, target: Identity, unused: list[str]) -> bool:
        """Whether one name is absent and one is unused, of a kind of which a set is mostly whole."""
        if target[:2] not in _PAIRED:
            return False
        if len(unused) != 1:
            return False
        return self._absences[target[:3]] == 1

    def _are_paired(self, target: Identity, unused: str) -> bool:
        """Whether two names that are not alike can be meant for one another."""
        if _is_shortened(target[3], unused):
            return True
        if target[:2] not in _BESIDE:
            return False
        return len(self.declared(target)) == 1


def _misplaced(
    objects: ObjectSet, named: Named, shared: set[tuple[str, str]]
) -> Iterator[tuple[Manifest, Fault]]:
    """Claims of a pod that are not in its namespace, but once in another one, where nothing refers to them."""
    claims = dict(objects.of_kind("", "PersistentVolumeClaim"))
    if not claims:
        return
    targets = {target for _, _, target in named}
    used = {target for target in targets if target[1] == "PersistentVolumeClaim"}
    misplaced_jobs = _misplaced_jobs(objects)
    for target in sorted(used):
        _, kind, wanted, name = target
        if target in objects or (kind, name) in shared:
            continue
        namesakes = [identity for identity in claims if identity[3] == name]
        if len(namesakes) != 1:
            continue
        other = namesakes[0]
        namespace = other[2]
        if not namespace or not wanted or other in used or (wanted, namespace) in misplaced_jobs:
            continue
        message = (
            f"nothing here refers to claim `{name}`, and pods of namespace `{wanted}` want one"
        )
        place = ("metadata", "namespace")
        help = f"write `namespace: {wanted}`"
        fault = Fault(REFERENCE, "REF001", place, message, help)
        yield claims[other], fault


def _misplaced_jobs(objects: ObjectSet) -> set[tuple[str, str]]:
    """The namespaces of jobs whose queue is in another one, and those: it is the job that is misplaced (QUE018)."""
    namespaces: dict[str, set[str]] = {}
    for identity, _ in objects.of_kind(KUEUE, "LocalQueue"):
        _, _, namespace, name = identity
        namespaces.setdefault(name, set()).add(namespace)
    misplaced: set[tuple[str, str]] = set()
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        queue = value_at(job.body, "metadata", "labels", "kueue.x-k8s.io/queue-name")
        own = identity[2]
        if not isinstance(queue, str):
            continue
        others = namespaces.get(queue, set())
        if own not in others:
            misplaced.update((own, other) for other in others)
    return misplaced


def _of_runtime(
    manifest: Manifest, namespaces: Mapping[str, set[str]]
) -> Iterator[tuple[Path, Identity]]:
    """What the pods of a ClusterTrainingRuntime refer to, in each of its namespaces."""
    name = manifest.once(identity_of)[3]
    for path, spec in values_along(manifest.body, RUNTIME_PODS):
        for namespace in sorted(namespaces.get(name, ())):
            yield from pod_references(spec, path, namespace)


def _namespaces_of_jobs(objects: ObjectSet) -> dict[str, set[str]]:
    """By ClusterTrainingRuntime, the namespaces of its jobs. One without any may have jobs in whichever namespace."""
    namespaces: dict[str, set[str]] = {}
    for identity, job in objects.of_kind(TRAINER, "TrainJob"):
        ref = value_at(job.body, "spec", "runtimeRef")
        name = value_at(ref, "name")
        is_cluster_wide = value_at(ref, "kind") in (None, _RUNTIME[1])
        if is_cluster_wide and isinstance(name, str):
            own = identity[2]
            namespaces.setdefault(name, set()).add(own)
    return namespaces


def _is_shortened(one: str, other: str) -> bool:
    """Whether one name is the other with words left out: ``p5`` and ``p5-flavor``."""
    words = set(one.split("-"))
    others = set(other.split("-"))
    return words < others or others < words


def _slip_of(word: str, names: Iterable[str]) -> str:
    """The name that a word misspells by one character, in a part that is long enough to be sure, or nothing:
    ``reserch`` is ``research``; ``gpu-a``, ``p4`` and ``models`` are names of their own."""
    for name in names:
        if _is_slip(word, name):
            return name
    return ""


def _is_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter, or by two that changed places, in a long part."""
    start = len(posixpath.commonprefix([one, other]))
    one_rest, other_rest = one[start:], other[start:]
    this, that = _without_common_end(one_rest, other_rest)
    if not (this + that).isalpha():
        return False
    longer = max(one, other, key=len)
    through = longer[: start + 1]
    before = through.rpartition("-")[2]
    rest = longer[start + 1 :]
    after = rest.partition("-")[0]
    if len(before + after) < _LONG:
        return False
    if max(len(this), len(that)) <= 1:
        return this + that != "s"  # a plural is a name of its own
    return len(this) == 2 and this == that[::-1]


def _without_common_end(one: str, other: str) -> tuple[str, str]:
    backwards = [name[::-1] for name in (one, other)]
    common = posixpath.commonprefix(backwards)
    end = common[::-1]
    return one.removesuffix(end), other.removesuffix(end)
