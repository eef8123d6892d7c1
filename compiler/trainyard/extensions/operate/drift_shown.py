"""A comparison as text for people, and as values for JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.extensions.operate.drift import Comparison, Difference, Drift
from trainyard.extensions.operate.proof import doubt
from trainyard.language.diagnostics.words import numbered
from trainyard.output.beside import beside
from trainyard.output.fields import ABSENT

_LONGEST = 100  # characters of a value in text


def text(found: Comparison) -> str:
    """Each object that differs with its fields, then what was not compared."""
    lines = [f"{found.cluster}: {_summary(found)} (context {found.context}{doubt(found.proven)})"]
    for drift in found.drifted:
        lines += _lines(drift)
    lines += [f"  suspended: Kustomization {name} applies nothing" for name in found.suspended]
    lines += [f"  not compared: {each.file}: {each.why}" for each in found.skipped]
    return "\n".join(lines) + "\n"


def _summary(found: Comparison) -> str:
    same = f"{numbered(found.same, 'object')} in sync"
    if not found.drifted:
        return same
    missing = sum(not each.exists for each in found.drifted)
    extra = sum(not each.file for each in found.drifted)
    differing = len(found.drifted) - missing - extra
    counts = {
        "differs" if differing == 1 else "differ": differing,
        "missing in the cluster": missing,
        "not in git": extra,
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    return ", ".join((*parts, same))


def _lines(drift: Drift) -> Iterator[str]:
    if not drift.file:
        yield f"  {drift.ref}: not in git, and Kustomization {drift.stage} owns it"
    elif not drift.exists:
        yield f"  {drift.ref}: missing in the cluster ({drift.file})"
    elif drift.held_by:
        yield f"  {drift.ref}: Terminating, held by {', '.join(drift.held_by)} ({drift.file})"
        yield "    Flux makes it anew once it is gone; what is in it, such as a run, has to end first"
    elif drift.refused:
        yield f"  {drift.ref}: the cluster refuses what is in git ({drift.file})"
        yield f"    {drift.refused}"
    else:
        yield f"  {drift.ref} ({drift.file})"
        yield from (f"    {_line(each)}" for each in drift.fields)


def _line(field: Difference) -> str:
    owner = f" ({', '.join(field.owners)})" if field.owners else ""
    git, cluster = beside(_value(field.git), _value(field.cluster), _LONGEST)
    return f"{field.field}: git {git}, cluster {cluster}{owner}"


def _value(value: Any) -> str:
    return "has none" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def values(found: Comparison) -> dict[str, Any]:
    """What ``--format json`` prints. A field that git or the cluster does not have has no such key."""
    return {
        "cluster": found.cluster,
        "context": found.context,
        "proven": found.proven,
        "inSync": found.same,
        "drifted": [_values(each) for each in found.drifted],
        "suspended": list(found.suspended),
        "notCompared": [each._asdict() for each in found.skipped],
    }


def _values(drift: Drift) -> dict[str, Any]:
    ref = drift.ref
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace or None,
        "name": ref.name,
        "file": drift.file or None,
        "state": _state(drift),
        "refused": drift.refused or None,
        "heldBy": list(drift.held_by),
        "ownedBy": drift.stage or None,
        "fields": [_field(each) for each in drift.fields],
    }


def _state(drift: Drift) -> str:
    if not drift.file:
        return "notInGit"
    if not drift.exists:
        return "missing"
    if drift.held_by:
        return "terminating"
    return "refused" if drift.refused else "differs"


def _field(field: Difference) -> dict[str, Any]:
    both = {"git": field.git, "cluster": field.cluster}
    known = {key: value for key, value in both.items() if value is not ABSENT}
    return {"path": field.field, **known, "owners": list(field.owners)}
