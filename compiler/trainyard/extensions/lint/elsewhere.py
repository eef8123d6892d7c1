"""Objects that a set refers to and does not contain: they must exist in the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trainyard.extensions.lint.inputs import LintObject
from trainyard.output.manifest import placeholder
from trainyard.verify.loose_ends import every_cluster_has
from trainyard.verify.objects import Identity, identity_of
from trainyard.verify.references import made_by_others, references

_SHOWN = 8


Made = tuple[str, str]
"""Kind and name of what a generator makes, in a namespace that is not known here."""


def elsewhere(objects: Iterable[LintObject], generated: Collection[Made]) -> list[Identity]:
    """What objects refer to and none of them is, nor made by a generator, each once, sorted."""
    there: set[Identity] = set()
    wanted: set[Identity] = set()
    for item in objects:
        manifest = item.manifest
        there.add(manifest.once(identity_of))
        made = made_by_others(manifest)
        if made is not None:
            there.add(made)
        wanted.update([target for _, target in manifest.once(references)])
    lacking = (target for target in wanted - there if _may_lack(target))
    return sorted(target for target in lacking if (target[1], target[3]) not in generated)


def _may_lack(target: Identity) -> bool:
    """Whether a cluster may lack it: it is neither filled in later nor in every cluster."""
    _, _, namespace, name = target
    if placeholder(name) or placeholder(namespace):
        return False
    return not every_cluster_has(target)


def said(wanted: Sequence[Identity]) -> str:
    """What must exist, in words; of many the first."""
    names = []
    for _, kind, namespace, name in wanted[:_SHOWN]:
        path = f"{namespace}/{name}" if namespace else name
        names.append(f"{kind} `{path}`")
    if len(wanted) > _SHOWN:
        names.append(f"{len(wanted) - _SHOWN} more")
    return ", ".join(names)
