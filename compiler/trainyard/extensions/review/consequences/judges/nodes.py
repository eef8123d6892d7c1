"""NodePools, their classes, and overlays: what Karpenter does when one changes.

Sources: Karpenter 1.14, concepts/disruption (*Drift*: fields that make nodes drift, and behavioural fields, which do
not; *TerminationGracePeriod*), concepts/nodeoverlays. Which edits drift is decided by ``trainyard.run.history.drift``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge, key_of_spec
from trainyard.output.body import mappings_at, value_at
from trainyard.output.fields import Item, Steps
from trainyard.run.history.drift import METADATA, drifting_words

_SOURCE = "Karpenter 1.14, concepts/disruption"
_OVERLAYS = "Karpenter 1.14, concepts/nodeoverlays"
_TEMPLATE = ("spec", "template")
_DRIFTS = Effect(
    Consequence.REPLACES_NODES,
    "its nodes drift: Karpenter replaces each once the pods of jobs on it have ended",
    _SOURCE,
)
_WAITS = Effect(
    Consequence.REPLACES_NODES,
    "its nodes drift, and the budget lets Karpenter replace none: each stays until its NodeClaim is deleted",
    _SOURCE,
)
_ENDS = Effect(
    Consequence.ENDS_JOBS,
    "its nodes drift, and `terminationGracePeriod` ends the pods that are still on them",
    _SOURCE,
)
_BOUGHT = Effect(Consequence.COST, "other or more nodes may be bought; none drifts", _SOURCE)
_BEHAVES = Effect(
    Consequence.REPLACES_NODES,
    "it decides when Karpenter may take nodes away; none drifts by it",
    _SOURCE,
)
_OF_NUMBER = ("limits", "replicas", "weight")


def _node_pool(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "its nodes may be bought", _SOURCE)
    if edit.action is Action.REMOVED:
        return _removed(edit.old)
    if steps[:2] == _TEMPLATE:
        return _of_template(edit, steps)
    key = key_of_spec(steps)
    if key in _OF_NUMBER:
        return Effect(Consequence.COST, "it bounds or weighs what is bought; none drifts", _SOURCE)
    if steps[1:3] == ("disruption", "consolidateAfter"):
        return Effect(Consequence.COST, "nodes without pods stay for another time", _SOURCE)
    if key == "disruption":
        return _BEHAVES
    return None


def _removed(old: Mapping[str, Any]) -> Effect:
    if _has_deadline(old):
        return Effect(
            Consequence.ENDS_JOBS,
            "its nodes are drained, and `terminationGracePeriod` ends the pods on them",
            _SOURCE,
        )
    return Effect(
        Consequence.REPLACES_NODES,
        "its nodes are drained and taken away; pods of jobs hold theirs until they end",
        _SOURCE,
    )


def _of_template(edit: Edit, steps: Steps) -> Effect:
    words = drifting_words(edit.old, edit.new)
    named = _word(steps)
    drifts = bool(words) if named is None else named in words
    if not drifts:
        return _BOUGHT
    if _replaces(edit.new) and _has_deadline(edit.old):
        return _ENDS
    return _drifting([edit.new])


def _drifting(pools: Sequence[Mapping[str, Any]]) -> Effect:
    """What happens to nodes of pools that drift."""
    replaced = [pool for pool in pools if _replaces(pool)]
    if any(map(_has_deadline, replaced)):
        return _ENDS
    if pools and not replaced:
        return _WAITS
    return _DRIFTS


def _word(steps: Steps) -> str | None:
    """What ``drifting_words`` calls the field at a path of a template; ``None`` for several of them."""
    rest = steps[2:]
    if rest[:1] == ("metadata",) and len(rest) > 2 and rest[1] in METADATA:
        return f"{METADATA[str(rest[1])]} {rest[2]}"
    if rest[:2] == ("spec", "requirements"):
        if len(rest) > 2 and isinstance(rest[2], Item):
            return str(rest[2].value)
        return None
    if rest[:1] == ("spec",) and len(rest) > 1:
        return str(rest[1])
    return None


def _replaces(body: Mapping[str, Any]) -> bool:
    """Whether a budget leaves room to replace drifted nodes."""
    for budget in mappings_at(body, "spec", "disruption", "budgets"):
        reasons = budget.get("reasons")
        is_meant = not reasons or "Drifted" in reasons
        if is_meant and "schedule" not in budget and str(budget.get("nodes")) in ("0", "0%"):
            return False
    return True


def _has_deadline(body: Mapping[str, Any]) -> bool:
    return value_at(body, *_TEMPLATE, "spec", "terminationGracePeriod") is not None


def _node_class(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "nothing uses it but pools that are listed themselves")
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.HARMLESS, "its finalizer keeps it as long as a node is of it", _SOURCE
        )
    if steps[:1] == ("spec",):
        return _drifting(list(_pools_of(edit)))
    return None


def _pools_of(edit: Edit) -> Iterator[Mapping[str, Any]]:
    """The NodePools whose nodes are of a class."""
    name = value_at(edit.new, "metadata", "name")
    for pool in edit.objects("NodePool"):
        if value_at(pool, *_TEMPLATE, "spec", "nodeClassRef", "name") == name:
            yield pool


def _node_overlay(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] != ("spec",):
        return None
    return Effect(
        Consequence.COST, "Karpenter reckons with it when it chooses new nodes", _OVERLAYS
    )


KINDS: Mapping[str, Judge] = {
    "NodePool.karpenter.sh": _node_pool,
    "EC2NodeClass.karpenter.k8s.aws": _node_class,
    "NodeClass.eks.amazonaws.com": _node_class,
    "NodeOverlay.karpenter.sh": _node_overlay,
}
