"""The verify pass: manifests to diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from trainyard.catalog.runtimes import released_runtimes
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.output import Artifact
from trainyard.output.body import indexed, value_at, values_along
from trainyard.output.manifest import Body, Manifest, ObjectRef, placeholder
from trainyard.verify.body import Lookup, validate_body
from trainyard.verify.fault import (
    NAME,
    REFERENCE,
    SCHEMA,
    Fault,
    Path,
    nearest,
    never_works,
    unfilled,
)
from trainyard.verify.loose_ends import Near, beside, everywhere, loose_ends
from trainyard.verify.objects import Collide, ObjectSet, always, identity_of
from trainyard.verify.pod_security import refused_pods
from trainyard.verify.references import TRAINER, link, pod_specs
from trainyard.verify.schemas import BUILTIN, Schemas
from trainyard.verify.structure import Raw, from_crd
from trainyard.verify.walk import Sound

# Keys of ConfigMaps and Secrets that pods need: a missing one keeps them from starting.
#
# Source: core/v1 of Kubernetes 1.36 (`items`, `configMapKeyRef`, `secretKeyRef`).

# where a pod spec names keys of an object: its kind, and the field of its name
_VOLUMES = (
    (("volumes", "*", "configMap"), "ConfigMap", "name"),
    (("volumes", "*", "secret"), "Secret", "secretName"),
    (("volumes", "*", "projected", "sources", "*", "configMap"), "ConfigMap", "name"),
    (("volumes", "*", "projected", "sources", "*", "secret"), "Secret", "name"),
)
_VARIABLES = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))
_CONTAINERS = (
    ("containers", "*", "env", "*", "valueFrom"),
    ("initContainers", "*", "env", "*", "valueFrom"),
)
_OF_JOBS = (
    ("spec", "trainer", "env", "*", "valueFrom"),
    ("spec", "initializer", "dataset", "env", "*", "valueFrom"),
    ("spec", "initializer", "model", "env", "*", "valueFrom"),
)
_WITH_KEYS = ("ConfigMap", "Secret")
Reference = tuple[Path, str, str, Any]
"""The place of a key, kind and name of the object that is to have it, and the key."""


def absent_keys(objects: ObjectSet, near: Near) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of keys. An object without any key may be filled by a controller, and is not judged; nor is one that is
    not ``near``, since another of its name may be."""
    sources = (objects.of_kind("", kind) for kind in _WITH_KEYS)
    declared = chain.from_iterable(sources)
    if next(declared, None) is None:
        return
    for manifest in objects.manifests:
        namespace = manifest.once(identity_of)[2]
        for path, kind, name, key in _references(manifest.body):
            identity = ("", kind, namespace, name)
            if identity not in objects or not isinstance(key, str):
                continue
            source = objects.manifest(identity)
            keys = _keys(source.body)
            if not keys or not near(manifest.path, source.path):
                continue
            if key not in keys:
                message = f"{kind} `{name}` has no key `{key}`"
                help = nearest(key, keys, "add the key")
                yield (manifest, Fault(REFERENCE, "REF001", path, message, help))


def _keys(body: Body | None) -> set[str]:
    """The keys of a ConfigMap or Secret."""
    keys: set[str] = set()
    for field in ("data", "binaryData", "stringData"):
        entries = value_at(body, field)
        if isinstance(entries, dict):
            keys.update(map(str, entries))
    return keys


def _references(body: Body) -> Iterator[Reference]:
    """Every key that the pods of an object want."""
    group, kind, _, _ = identity_of(body)
    for path, pod in pod_specs(body):
        yield from _of_volumes(pod, path)
        for pattern in _CONTAINERS:
            yield from _of_variables(pod, pattern, path)
    if (group, kind) == (TRAINER, "TrainJob"):
        for place in _OF_JOBS:
            yield from _of_variables(body, place, ())


def _of_volumes(pod: Any, start: Path) -> Iterator[Reference]:
    for pattern, kind, field in _VOLUMES:
        for path, volume in values_along(pod, pattern):
            if value_at(volume, "optional"):
                continue
            name = str(value_at(volume, field))
            for index, item in indexed(volume, "items"):
                place = (*start, *path, "items", index, "key")
                yield place, kind, name, item.get("key")


def _of_variables(value: Any, pattern: tuple[str, ...], start: Path) -> Iterator[Reference]:
    sources = list(values_along(value, pattern))
    for field, kind in _VARIABLES:
        for path, source in sources:
            ref = value_at(source, field)
            if ref is not None and not value_at(ref, "optional"):
                place = (*start, *path, field, "key")
                name = str(value_at(ref, "name"))
                yield place, kind, name, value_at(ref, "key")


# Claims that name a volume of another StorageClass than the one they get by default.
#
# Source: Kubernetes 1.36, admission plugin DefaultStorageClass (a claim without `storageClassName` gets the default
# class, whether it names a volume or not), and volume binding (both classes must be the same).

_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def claims_of_default_class(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of claims; without a default class in the set nothing is known of it."""
    defaults = [
        identity[3]
        for identity, manifest in objects.of_kind("storage.k8s.io", "StorageClass")
        if value_at(manifest.body, "metadata", "annotations", _DEFAULT) == "true"
    ]
    if len(defaults) != 1:
        return
    for _, manifest in objects.of_kind("", "PersistentVolumeClaim"):
        name = value_at(manifest.body, "spec", "volumeName")
        if not isinstance(name, str):
            continue
        volume = objects.find("", "PersistentVolume", "", name)
        if volume is None:
            continue
        if value_at(manifest.body, "spec", "storageClassName") is not None:
            continue
        if not value_at(volume, "spec", "storageClassName"):
            message = f"claim gets the default class `{defaults[0]}`, and volume `{name}` has none: never bound"
            help = 'write `storageClassName: ""` as well'
            yield manifest, never_works(("spec", "volumeName"), message, help)


# Schemas of the CustomResourceDefinitions that are among the objects themselves.

DEFINITION = "CustomResourceDefinition"


def with_definitions(schemas: Schemas, manifests: Iterable[Manifest]) -> Schemas:
    """The schemas, and those of kinds that only a definition among the objects knows."""
    definitions = [manifest.body for manifest in manifests if manifest.ref.kind == DEFINITION]
    if not definitions:
        return schemas
    extended = schemas.copy()
    for definition in definitions:
        for derived in schemas_of(definition):
            api_version = f"{derived['group']}/{derived['version']}"
            if not schemas.find(api_version, derived["kind"]):
                extended.add(derived)
    return extended


def schemas_of(definition: Body) -> list[Raw]:
    """What ``structure.from_crd`` derives; nothing where the definition has another form than Kubernetes takes.

    The schema is OpenAPI v3's, which has the keywords of JSON Schema's draft 4 (Kubernetes, CustomResourceDefinition,
    structural schemas).
    """
    from jsonschema import Draft4Validator, SchemaError  # few specs include definitions

    try:
        for version in definition["spec"]["versions"]:
            Draft4Validator.check_schema(version["schema"]["openAPIV3Schema"])
        return from_crd(definition)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, SchemaError):
        return []


def verify(
    manifests: Sequence[Manifest],
    *,
    closed: bool = True,
    external: frozenset[ObjectRef] = frozenset(),
    schemas: Schemas = BUILTIN,
    previous: Mapping[ObjectRef, Body] | None = None,
    near: Near = beside,
    collide: Collide = always,
) -> list[Diagnostic]:
    """Everything that the cluster would refuse or never run, in the order of the manifests.

    ``closed``: the set is all there is (our own output), so that a reference into nothing and a kind without a schema
    are errors. Third-party manifests may need objects that live elsewhere; of them only what is certainly wrong is
    reported. ``external`` are objects that exist outside the set; their API version need not be exact, only its group.
    With ``previous`` (the objects as they were) rules of updates are evaluated too.
    ``near`` says of two files of an open set whether what is in them is likely to belong together, ``collide`` whether
    two manifests of one name are one object there. Routes start with the manifest's id.
    """
    objects = ObjectSet(manifests)
    if closed:
        schemas = with_definitions(schemas, manifests)
    lookup = objects.find if closed else _or_released(objects.find)
    faults: list[tuple[Manifest, Fault]] = []
    sound: Sound = set()
    for manifest in manifests:
        if previous:
            old = previous.get(manifest.ref)
        else:
            old = None
        own_faults = validate_body(
            manifest.body,
            schemas=schemas,
            old=old,
            lookup=lookup,
            closed=closed and not manifest.key,
            sound=sound,
        )
        if closed and manifest.key and not own_faults:
            own_faults = list(_unverified(manifest, schemas))
        faults += [(manifest, fault) for fault in own_faults]
    for first, later in objects.duplicates:
        if not collide(first, later):
            continue
        copy, other = later, first
        if first.key and not later.key:
            copy, other = first, later
        faults.append((copy, _duplicate(other, copy)))
    faults += absent_keys(objects, everywhere if closed else near)
    faults += claims_of_default_class(objects)
    faults += link(objects, closed=closed, external=external)
    faults += refused_pods(objects)
    if not closed:
        faults += loose_ends(objects, near, external)
        faults = [
            (manifest, fault)
            for manifest, found in faults
            for fault in _as_it_stands(manifest.body, found)
        ]
    places = enumerate(manifests)
    order = {id(manifest): place for place, manifest in places}
    faults.sort(key=lambda pair: order[id(pair[0])])
    return [diagnostic(manifest, fault) for manifest, fault in faults]


def _unverified(manifest: Manifest, schemas: Schemas) -> Iterator[Fault]:
    """An object of the adopter's own, of a kind that no schema is known of."""
    ref = manifest.ref
    if ref.kind == DEFINITION and schemas_of(manifest.body):
        return
    if schemas.find(ref.api_version, ref.kind):
        return
    kind = f"`{ref.kind}` of `{ref.api_version}`"
    yield Fault(
        SCHEMA,
        "SCH014",
        ("kind",),
        f"no schema of {kind} is known, so `{ref.name}` is not verified",
        "try it on the API server: `kubectl apply --dry-run=server`",
        warning=True,
    )


def _or_released(find: Lookup) -> Lookup:
    """A lookup that also has the runtimes of Trainer, which every cluster with Trainer has."""

    def lookup(group: str, kind: str, namespace: str, name: str) -> Body | None:
        body = find(group, kind, namespace, name)
        is_runtime = (group, kind) == (TRAINER, "ClusterTrainingRuntime")
        if body is not None or not is_runtime:
            return body
        released = released_runtimes().get(name)
        if released is not None:
            return dict(released.body)
        return None

    return lookup


def diagnostic(artifact: Artifact, fault: Fault) -> Diagnostic:
    """A fault as it is reported to a person."""
    if fault.warning:
        severity = Severity.WARNING
    else:
        severity = Severity.ERROR
    at = Route((artifact.id, *fault.path))
    return Diagnostic(
        fault.code,
        severity,
        fault.message,
        at,
        help=fault.help,
        key=fault.key,
        object=str(artifact.ref),
    )


def _as_it_stands(body: Body, fault: Fault) -> Iterator[Fault]:
    """A fault, or that its value was left to be filled in: what that will be is not known."""
    if not _filled_in_later(body, fault):
        yield fault
    elif (
        fault.layer in (SCHEMA, NAME)
        and not fault.key
        and isinstance(value_at(body, *fault.path), str)
    ):
        yield unfilled(fault.path)


def _filled_in_later(body: Body, fault: Fault) -> bool:
    """Whether the value at a fault is a placeholder, or its key; a text with spaces stays one, after any substitution,
    and a key is wrong with whatever value. A mapping of placeholders alone stands for lines of whatever they become."""
    if fault.path and placeholder(str(fault.path[-1])):
        return True
    if fault.key:
        return False
    value = value_at(body, *fault.path)
    if isinstance(value, dict) and fault.code == "SCH002":
        return bool(value) and all(map(placeholder, map(str, value)))
    if not isinstance(value, str):
        return False
    if not placeholder(value):
        return False
    return fault.code != "SCH002" or _is_one(value)


def _is_one(text: str) -> bool:
    """Whether a text is a placeholder and nothing else, so that it may become a number."""
    is_template = text.startswith("{{") and text.endswith("}}")
    is_name = text.startswith("<") and text.endswith(">")
    return is_template or is_name or len(text.split()) == 1


def _duplicate(first: Manifest, later: Manifest) -> Fault:
    """The same object twice, in one file or in two."""
    places = []
    for manifest in (first, later):
        place = manifest.path or str(manifest.at)
        places.append(place or "?")
    where = f"in {listed(dict.fromkeys(places), ' and ')}"
    return Fault(
        NAME,
        "NAM005",
        ("metadata", "name"),
        f"`{later.ref}` is there twice: {where}",
        "rename or remove one of them",
    )
