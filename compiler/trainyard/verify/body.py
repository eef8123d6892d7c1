"""Verifies one object by itself: every check that needs no other object."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from trainyard.language.places import Key, Route
from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify import webhooks
from trainyard.verify.definition_rules import rule_faults, update_faults
from trainyard.verify.fault import CEL, NAME, SCHEMA, UNKNOWN, Fault, Path, nearest, refused
from trainyard.verify.intent import Meant, as_written, has_shape, intended, misfit, neighbors
from trainyard.verify.names import name_faults, tightest_length
from trainyard.verify.node import Node
from trainyard.verify.schemas import BUILTIN, Schema, Schemas
from trainyard.verify.walk import LATER, Sound, walk

# Where a field belongs that stands one level too high or too low.

_ANYWHERE = frozenset(
    {"name", "namespace", "kind", "apiVersion", "metadata", "type", "value", "key"}
)
"""Names that so many objects have that they say nothing of where a field belongs."""
_AMOUNTS = {"limits", "requests"}
"""The fields of a container's resources: what stands beside them is a limit, which is a request too."""
_FIRST = 1
"""The fields of an object itself are no place for one of its spec."""


def belongs(root: Node, body: Body, path: Path) -> Path:
    """The one place near an unknown field at which the API knows a field of its name, and the body has none: in what
    is beside it, or around it; () where there is none, or several."""
    *above, key = path
    if not isinstance(key, str) or key in _ANYWHERE:
        return ()
    node = _node(root, above)
    if node is None:
        return ()
    value = value_at(body, *path)
    if _AMOUNTS.issubset(node.names) and ("/" in key or key in ("cpu", "memory")):
        place = (*above, "limits", key)
        return place if value_at(body, *place) is None else ()
    within = [
        place
        for place, owner in _beside(node, value_at(body, *above), tuple(above))
        if _takes(owner, key, value) and value_at(body, *place, key) is None
    ]
    if within:
        return (*within[0], key) if len(within) == 1 else ()
    for depth in range(len(above) - 1, _FIRST - 1, -1):
        place = tuple(above[:depth])
        owner = _node(root, place)
        if owner is not None and _takes(owner, key, value):
            return (*place, key) if value_at(body, *place, key) is None else ()
    return ()


def _node(root: Node, path: Path | list[Key]) -> Node | None:
    """The part of a schema that says what may stand at a path."""
    node: Node | None = root
    for key in path:
        if node is None:
            return None
        node = node.items if isinstance(key, int) else node.prop(key) or node.child(key)
    return node


def _beside(node: Node, parent: Any, place: Path) -> Iterator[tuple[Path, Node]]:
    """The mappings in the fields of an object: those of a list, where it has one item."""
    for name in node.names:
        child = node.prop(name)
        if child is None:
            continue
        if dict in child.classes:
            yield (*place, name), child
        items = child.items
        listed = parent.get(name) if isinstance(parent, dict) else None
        if items is not None and isinstance(listed, list) and len(listed) == 1:
            yield (*place, name, 0), items


def _takes(node: Node, key: str, value: Any) -> bool:
    """Whether an object has a field for a value of this class."""
    child = node.prop(key)
    if child is None:
        return False
    return not child.classes or value.__class__ in child.classes


# The size of annotations, keys and values together (apimachinery v0.36, TotalAnnotationSizeLimitB).

MOST_BYTES = 256 * 1024


def annotation_faults(metadata: Any) -> list[Fault]:
    """The fault of annotations that the API server refuses together."""
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict):
        return []
    texts = [str(text) for entry in annotations.items() for text in entry]
    # A character has four bytes at most.
    if sum(map(len, texts)) * 4 <= MOST_BYTES:
        return []
    size = sum(map(_bytes, texts))
    if size <= MOST_BYTES:
        return []
    message = f"{size:,} bytes are more than the {MOST_BYTES:,} that the annotations of an object have together"
    help = "keep long texts in a ConfigMap or in a bucket"
    return [refused(("metadata", "annotations"), message, help, key=True)]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


Lookup = Callable[[str, str, str, str], Body | None]  # group, kind, namespace, name

_OF_SHAPE = (SCHEMA, UNKNOWN)


def nothing(group: str, kind: str, namespace: str, name: str) -> Body | None:
    """The lookup for an object without others."""
    return None


def validate_body(
    body: Body,
    *,
    schemas: Schemas = BUILTIN,
    old: Body | None = None,
    lookup: Lookup = nothing,
    closed: bool = True,
    sound: Sound | None = None,
) -> list[Fault]:
    """Faults of one object by schema, names, the rules of its definition (with ``old``, those of an update too) and its
    kind's webhook.

    The body is not changed. ``lookup`` finds another object of the set, for the checks that need one (a TrainJob's
    runtime). Where several releases of a kind are known and none is pinned, the object is judged by the one that it
    fits best. A kind without a schema is a fault if the set is ``closed``. ``sound``: parts of other bodies of the set
    that are without fault, if any of them is the same object as one of this.
    """
    for key in ("apiVersion", "kind"):
        text = body.get(key)
        if not isinstance(text, str) or not text:
            return [_missing(key)]
    api_version: str = body["apiVersion"]
    kind: str = body["kind"]
    candidates = schemas.find(api_version, kind)
    if not candidates:
        if closed:
            return [_unknown_kind(schemas, api_version, kind)]
        return []
    schema, faults = _own_faults(schemas, candidates, body, sound)
    shape = [fault for fault in faults if fault.layer in _OF_SHAPE]
    faults += _refusals(schema, body, shape, lookup)
    if old is not None:
        faults += update_faults(schema.root, body, old)
    return tightest_length(_told_once(faults))


def _told_once(faults: list[Fault]) -> list[Fault]:
    """The faults without rules of a definition at a place of which a webhook, or the schema, says more."""
    told = {fault.path for fault in faults if fault.layer != CEL and not fault.warning}
    return [fault for fault in faults if fault.layer != CEL or fault.path not in told]


def _missing(key: str) -> Fault:
    message = f"`{key}` is missing"
    return Fault(SCHEMA, "SCH003", (key,), message, help="begin with `apiVersion` and `kind`")


def _refusals(schema: Schema, body: Body, shape: list[Fault], lookup: Lookup) -> list[Fault]:
    """What the webhook of the kind refuses. Faults of ``shape`` are corrected first, since webhooks and rules rely on
    the shape, and what they leave unknown is not judged."""
    if not shape:
        return webhooks.check(body, lookup)
    (meant, known, written, _), inside = _meant(schema, body, shape)
    if not has_shape(walk(schema.root, meant)):
        return inside
    faulty = [fault.path for fault in shape if not fault.belongs]
    faulty += neighbors(shape, known)
    faults = [*rule_faults(schema.root, meant), *webhooks.check(meant, lookup)]
    right = [fault for fault in faults if not _is_inside(fault.path, faulty)]
    return [*inside, *(replace(fault, path=_in_file(fault.path, written)) for fault in right)]


def _in_file(path: Path, written: Mapping[Path, Path]) -> Path:
    """The path in a file to what stands at a path in the corrected body; what was only renamed keeps its name."""
    place = as_written(path, written)
    return path if len(place) == len(path) else place


def _meant(schema: Schema, body: Body, faults: list[Fault]) -> tuple[Meant, list[Fault]]:
    """The body as it was meant, and the faults of what was moved or converted, which nobody saw before."""
    meant = intended(body, faults)
    found: list[Fault] = []
    for _ in range(_DEEPEST):
        inside = [
            fault for fault in walk(schema.root, meant.body) if _is_inside(fault.path, meant.unseen)
        ]
        if not inside:
            break
        inside = [_placed(schema, meant.body, fault) for fault in inside]
        found += [replace(fault, path=as_written(fault.path, meant.written)) for fault in inside]
        meant = meant.then(intended(meant.body, inside))
    return meant, found


_DEEPEST = 3
"""How often what was corrected is looked at again: a list, its items, and their fields."""


def _is_inside(path: Path, places: Iterable[Path]) -> bool:
    """Whether a path leads to one of some places, or into it."""
    return any(path[: len(place)] == place for place in places)


def _own_faults(
    schemas: Schemas, candidates: tuple[Schema, ...], body: Body, sound: Sound | None
) -> tuple[Schema, list[Fault]]:
    """The schema to judge a body by, and the faults by schema, names and rules. They depend on nothing but the body,
    and most objects of a cluster are the same in all clusters of a fleet, so bodies without fault are remembered. A
    job is there once."""
    if body["kind"] == "TrainJob":
        return _judge(candidates, body, sound)
    try:
        text = marshal.dumps(body, 2)  # of version 2: equal bodies give equal bytes
    except ValueError:  # a value of a class of its own
        return _judge(candidates, body)
    schema = _schema_without_fault(schemas, text)
    if schema is not None:
        return schema, []
    return _judge(candidates, body, sound)


@lru_cache(maxsize=4096)
def _schema_without_fault(schemas: Schemas, text: bytes) -> Schema | None:
    """The schema by which a body has no fault, if there is one."""
    body: Body = marshal.loads(text)  # noqa: S302 - written a moment ago, by the only caller
    api_version, kind = body["apiVersion"], body["kind"]
    candidates = schemas.find(api_version, kind)
    schema, faults = _judge(candidates, body)
    return None if faults else schema


def _judge(
    candidates: tuple[Schema, ...], body: Body, sound: Sound | None = None
) -> tuple[Schema, list[Fault]]:
    schema, structural = _best_schema(candidates, body, sound)
    structural = [_placed(schema, body, fault) for fault in structural]
    faults = []
    for fault in structural:
        if webhooks.fills(body, fault):
            continue
        if _is_of_sops(body, fault):
            continue
        if fault.help == LATER:
            fault = _with_release(schema, fault)
        faults.append(fault)
    faults += _name_faults(schema, body)
    faults += annotation_faults(body.get("metadata"))
    if not any(fault.layer in _OF_SHAPE for fault in faults):
        faults += rule_faults(schema.root, body)
    return schema, faults


def _placed(schema: Schema, body: Body, fault: Fault) -> Fault:
    """A fault, with the place where an unknown field belongs."""
    if fault.code != "SCH001" or fault.meant or fault.help == LATER:
        return fault
    place = belongs(schema.root, body, fault.path)
    if not place:
        return fault
    *above, _ = place
    return replace(fault, belongs=place, help=f"move it to `{Route(above)}`")


def _is_of_sops(body: Body, fault: Fault) -> bool:
    """Whether a fault is about what SOPS adds to a file that it encrypts, and who decrypts it takes away."""
    if fault.path[:1] != ("sops",):
        return False
    metadata = body.get("sops")
    return isinstance(metadata, dict) and "mac" in metadata


def corrected(body: Body, schemas: Schemas = BUILTIN) -> Meant:
    """The body as it was meant, and the places of faults of which that is known."""
    api_version = str(body.get("apiVersion"))
    kind = str(body.get("kind"))
    candidates = schemas.find(api_version, kind)
    if not candidates:
        return Meant(body, set(), {})
    schema, faults = _best_schema(candidates, body)
    meant, _ = _meant(schema, body, [_placed(schema, body, fault) for fault in faults])
    return meant


def _with_release(schema: Schema, fault: Fault) -> Fault:
    release = f"{schema.project} {schema.release}"
    help = f"remove it, or take a later release than {release}, which does not have it yet"
    return replace(fault, help=help)


def _best_schema(
    candidates: tuple[Schema, ...], body: Body, sound: Sound | None = None
) -> tuple[Schema, list[Fault]]:
    """The schema that understands most of a body, and the faults by it."""
    best, *others = candidates
    faults = walk(best.root, body, sound)
    if not faults:
        return best, faults
    for other in others:
        other_faults = walk(other.root, body, sound)
        if misfit(body, other_faults) < misfit(body, faults):
            best, faults = other, other_faults
    return best, faults


def _name_faults(schema: Schema, body: Body) -> list[Fault]:
    """Faults of name and namespace."""
    metadata: Any = body.get("metadata")
    if metadata is None:
        help = "write `metadata: {name: …}`"
        return [Fault(NAME, "NAM006", ("metadata",), "`metadata` is missing", help)]
    if not isinstance(metadata, dict):
        return []  # reported by the schema
    return name_faults(body, metadata, namespaced=schema.namespaced)


def _unknown_kind(schemas: Schemas, api_version: str, kind: str) -> Fault:
    message = f"no schema of `{kind}` in `{api_version}` is known"
    versions = schemas.served().get(kind, ())
    help = nearest(api_version, versions)
    return Fault(SCHEMA, "SCH010", ("apiVersion",), message, help)
