"""Edits of a pool after which Karpenter replaces its nodes (drift).

Sources: Karpenter 1.14, concepts/disruption, *Drift*: the fields of NodePool and EC2NodeClass that drift nodes. A pod's
annotation ``karpenter.sh/do-not-disrupt``, which all pods of ours have, keeps its node until the pod ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import numbered
from trainyard.output.body import mappings_at, texts_at, value_at
from trainyard.output.manifest import Body, Manifest
from trainyard.plan.scheduling import POOL_LABEL
from trainyard.run.history.changes import Change
from trainyard.run.history.committed import Committed
from trainyard.run.history.runs import ENDED, Run

_NODE_POOL = "NodePool"
_CLASSES = ("EC2NodeClass", "NodeClass")
_TEMPLATE = ("spec", "template")
METADATA = {"labels": "label", "annotations": "annotation"}
_OF_A_RELEASE = ("amiSelectorTerms", "ami")  # other images are said as an upgrade
_SHOWN = 4  # fields that a note names


def drifted_pools(
    manifests: Sequence[Manifest], committed: Committed, runs: Iterable[Run]
) -> Iterator[Diagnostic]:
    """The note on each pool whose nodes are drifted by an edit while runs may be on them."""
    going_on = [run for run in runs if run.state != ENDED]
    if not going_on:
        return
    classes = {
        manifest.ref.name: manifest for manifest in manifests if manifest.body["kind"] in _CLASSES
    }
    for manifest in manifests:
        if manifest.body["kind"] != _NODE_POOL:
            continue
        pool = _name(manifest)
        on_pool = [run for run in going_on if pool in (run.pool, *run.fallbacks)]
        if not on_pool:
            continue
        changes = list(_of_pool(manifest, committed))
        node_class = classes.get(_class_name(manifest))
        if node_class is not None:
            changes += _of_class(node_class, committed)
        if changes:
            yield _drifted(pool, changes, on_pool)


def _name(manifest: Manifest) -> str:
    """The pool's name in the spec: a reservation has a NodePool of its own."""
    labels = value_at(manifest.body, *_TEMPLATE, "metadata", "labels")
    if isinstance(labels, Mapping) and POOL_LABEL in labels:
        return str(labels[POOL_LABEL])
    return manifest.ref.name


def _class_name(manifest: Manifest) -> str:
    return str(value_at(manifest.body, *_TEMPLATE, "spec", "nodeClassRef", "name"))


def _former(manifest: Manifest, committed: Committed) -> Manifest | None:
    """The object as it is committed, where it would change."""
    if committed.holds(manifest):
        return None
    return committed.manifest(str(manifest.ref), manifest.path, manifest)


def _of_pool(manifest: Manifest, committed: Committed) -> Iterator[Change]:
    old = _former(manifest, committed)
    if old is None:
        return
    before = _words_of_template(old.body)
    after = _words_of_template(manifest.body)
    for key in _changed(before, after):
        yield Change(
            key, _shown(before.get(key)), _shown(after.get(key)), manifest.origin(_TEMPLATE)
        )


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The keys whose edit makes existing nodes differ from new ones."""
    return [
        key for key in sorted({*before, *after}) if not _still_fits(before.get(key), after.get(key))
    ]


def _still_fits(before: Any, after: Any) -> bool:
    """Whether a node that was made by one value is none other by the next: one of several values may be allowed more.
    What another operator allows is not compared."""
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        return before <= after
    return bool(before == after)


def _shown(value: Any) -> Any:
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    if isinstance(value, tuple):
        operator, values = value
        return f"{operator} {_shown(values)}".rstrip()
    return value


def drifting_words(before: Body, after: Body) -> list[str]:
    """What of the template of a NodePool makes its nodes drift, by two bodies: ``label NAME``, ``annotation NAME``,
    the key of a requirement, or a key of the template's ``spec`` (karpenter v1.14.1, ``NodePool.Hash``)."""
    return _changed(_words_of_template(before), _words_of_template(after))


def _words_of_template(body: Body) -> dict[str, Any]:
    """Labels, annotations, requirements, taints and the rest of a NodePool's template, by name."""
    words: dict[str, Any] = {}
    for key, word in METADATA.items():
        for name, value in _mapping(value_at(body, *_TEMPLATE, "metadata", key)).items():
            words[f"{word} {name}"] = value
    spec = _mapping(value_at(body, *_TEMPLATE, "spec"))
    words |= spec
    words.pop("requirements", None)
    for requirement in mappings_at(spec, "requirements"):
        operator = str(value_at(requirement, "operator"))
        values = frozenset(map(str, texts_at(requirement, "values")))
        words[str(value_at(requirement, "key"))] = (
            values if operator == "In" else (operator, values)
        )
    return words


def _mapping(value: Any) -> Mapping[str, Any]:
    """What was edited by hand may be anything."""
    if isinstance(value, Mapping):
        return value
    return {}


def _of_class(manifest: Manifest, committed: Committed) -> Iterator[Change]:
    old = _former(manifest, committed)
    if old is None:
        return
    before = _mapping(old.body.get("spec"))
    after = manifest.body["spec"]
    for key in _changed(before, after):
        if key not in _OF_A_RELEASE:
            yield Change(key, before.get(key), after.get(key), manifest.origin(("spec", key)))


def _drifted(pool: str, changes: Sequence[Change], runs: Sequence[Run]) -> Diagnostic:
    names = listed(sorted({run.object for run in runs}))
    notes = [str(change) for change in changes[:_SHOWN]]
    more = len(changes) - _SHOWN
    if more > 0:
        notes.append(f"and {numbered(more, 'more field')}")
    notes.append(f"on nodes of the pool may be: {names}")
    return Diagnostic(
        "CHG030",
        Severity.NOTE,
        f"nodes of pool `{pool}` are drifted by this edit, those of runs too",
        changes[0].at,
        notes=tuple(notes),
        label="a node of a run stays until its pods end, and then a new one is bought",
        help="where that must not be, make a pool of another name, and move jobs there with `rerun:`",
    )
