"""One object: every layer that looks at nothing but the object itself."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from compiler.manifest import Body
from compiler.verify import webhooks
from compiler.verify.fault import NAME, SCHEMA, UNKNOWN, Fault, Path, nearest
from compiler.verify.intent import around, intended, misfit, shaped
from compiler.verify.schemas import BUILTIN, Schema, Schemas
from compiler.verify.walk import LATER, Sound, walk

Lookup = Callable[[str, str, str, str], Body | None]  # group, kind, namespace, name


def nothing(group: str, kind: str, namespace: str, name: str) -> Body | None:
    """The lookup of an object that stands alone."""
    return None


def validate_body(
    body: Body,
    *,
    schemas: Schemas = BUILTIN,
    old: Body | None = None,
    cel: bool = False,
    lookup: Lookup = nothing,
    closed: bool = True,
    sound: Sound | None = None,
) -> list[Fault]:
    """Faults of one object by schema, names, its kind's webhook and, if asked for, CEL rules (with ``old``, update
    rules too).

    The body is not changed. ``lookup`` finds another object of the set, for the checks that need one (a TrainJob's
    runtime). Where several releases of a kind are known and none is pinned, the object is judged by the one that it
    fits best. A kind without a schema is a fault if the set is ``closed``. ``sound``: parts of other bodies of the set
    that are without fault, if any of them is the same object as one of this.
    """
    api_version, kind = body.get("apiVersion"), body.get("kind")
    if (
        not isinstance(api_version, str)
        or not isinstance(kind, str)
        or not api_version
        or not kind
    ):
        missing = (
            "apiVersion"
            if not isinstance(api_version, str) or not api_version
            else "kind"
        )
        return [
            Fault(
                SCHEMA,
                "SCH003",
                (missing,),
                f"`{missing}` is missing",
                help="begin with `apiVersion` and `kind`",
            )
        ]
    found = schemas.find(api_version, kind)
    if not found:
        return [_unknown_kind(schemas, api_version, kind)] if closed else []
    schema, faults = _alone(schemas, found, body, sound)
    shape = [fault for fault in faults if fault.layer in (SCHEMA, UNKNOWN)]
    meant, known = intended(body, shape)
    if not shape or shaped(walk(schema.root, meant)):  # the checks below rely on it
        places = [*(fault.path for fault in shape), *around(shape, known)]
        faults += [
            fault
            for fault in webhooks.check(meant, lookup)
            if not any(fault.path[: len(each)] == each for each in places)
        ]
    if cel and not any(fault.layer == SCHEMA for fault in faults):
        from compiler.verify.cel import evaluate

        faults += evaluate(schema.root, body, old)
    return faults


def _alone(
    schemas: Schemas, found: tuple[Schema, ...], body: Body, sound: Sound | None
) -> tuple[Schema, list[Fault]]:
    """The schema to judge a body by, and its faults by schema and names. Nothing but the body decides them, and most
    objects of a cluster are the same in all clusters of a fleet; a job is there once."""
    if body["kind"] != "TrainJob":
        try:
            text = marshal.dumps(body, 2)  # of version 2: equal bodies give equal bytes
        except ValueError:  # a value of a class of its own
            return _judged(found, body)
        if (schema := _faultless(schemas, text)) is not None:
            return schema, []
    return _judged(found, body, sound)


@lru_cache(maxsize=4096)
def _faultless(schemas: Schemas, text: bytes) -> Schema | None:
    """The schema of a body that has no fault by it; remembered, for every body that is equal."""
    body: Body = marshal.loads(text)  # noqa: S302 - written a moment ago, by the only caller
    schema, faults = _judged(schemas.find(body["apiVersion"], body["kind"]), body)
    return None if faults else schema


def _judged(
    found: tuple[Schema, ...], body: Body, sound: Sound | None = None
) -> tuple[Schema, list[Fault]]:
    schema, faults = _best(found, body, sound)
    faults = [
        _later(schema, each) if each.help == LATER else each
        for each in faults
        if not webhooks.fills(body, each)
    ]
    return schema, [*faults, *_named(schema, body)]


def corrected(body: Body, schemas: Schemas = BUILTIN) -> tuple[Body, set[Path]]:
    """The body as it was meant, and the places of faults of which that is known."""
    found = schemas.find(str(body.get("apiVersion")), str(body.get("kind")))
    return intended(body, _best(found, body)[1]) if found else (body, set())


def _later(schema: Schema, fault: Fault) -> Fault:
    return replace(
        fault,
        help=f"remove it, or take a later release than {schema.project} {schema.release}, which does "
        "not have it yet",
    )


def _best(
    found: tuple[Schema, ...], body: Body, sound: Sound | None = None
) -> tuple[Schema, list[Fault]]:
    """The schema that understands most of a body, and what it does not."""
    schema, faults = found[0], walk(found[0].root, body, sound)
    for other in found[1:] if faults else ():
        others = walk(other.root, body, sound)
        if misfit(body, others) < misfit(body, faults):
            schema, faults = other, others
    return schema, faults


def _named(schema: Schema, body: Body) -> list[Fault]:
    """Name and namespace: their presence by scope; their syntax is `names`' matter."""
    from compiler.verify.names import name_faults

    metadata: Any = body.get("metadata")
    if metadata is None:
        return [
            Fault(
                NAME,
                "NAM006",
                ("metadata",),
                "`metadata` is missing",
                help="write `metadata: {name: …}`",
            )
        ]
    if not isinstance(metadata, dict):
        return []  # told by the schema
    return name_faults(body, metadata, namespaced=schema.namespaced)


def _unknown_kind(schemas: Schemas, api_version: str, kind: str) -> Fault:
    message = f"no schema of `{kind}` in `{api_version}` is known"
    return Fault(
        SCHEMA,
        "SCH010",
        ("apiVersion",),
        message,
        nearest(api_version, schemas.served().get(kind, ())),
    )
