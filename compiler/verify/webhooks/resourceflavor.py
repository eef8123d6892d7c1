"""ResourceFlavor: the CEL rules of its CRD in words (kueue v0.19.2)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, breaks, nearest
from compiler.verify.webhooks import Lookup

GROUP = "kueue.x-k8s.io"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    if "topologyName" in spec and not spec.get("nodeLabels"):
        yield breaks(
            ("spec", "topologyName"),
            "a flavor with a topology needs `nodeLabels`",
            "add the labels of its nodes",
            key=True,
        )
    for index, taint in enumerate(items(spec, "nodeTaints")):
        path = ("spec", "nodeTaints", index, "effect")
        yield from _effect(path, taint.get("effect"))
    for index, toleration in enumerate(items(spec, "tolerations")):
        yield from _toleration(("spec", "tolerations", index), toleration)


def _toleration(path: Path, toleration: Body) -> Iterator[Fault]:
    operator = toleration.get("operator")
    if operator not in (None, "Equal", "Exists"):
        yield breaks(
            (*path, "operator"),
            f"`{operator}` is no operator of a toleration",
            "write `Exists` or `Equal`",
        )
    elif operator == "Exists" and "value" in toleration:
        help = "remove the value, or write `Equal`"
        yield breaks((*path, "value"), "a value with operator `Exists`", help, key=True)
    elif operator != "Exists" and "key" not in toleration:
        yield breaks(
            path,
            "a toleration without key needs operator `Exists`",
            "add the key, or write `Exists`",
        )
    if "effect" in toleration:
        yield from _effect((*path, "effect"), toleration["effect"])
    if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
        yield breaks(
            (*path, "tolerationSeconds"),
            "`tolerationSeconds` counts for effect `NoExecute` only",
            "remove it, or write the effect",
            key=True,
        )


def _effect(path: Path, effect: object) -> Iterator[Fault]:
    if effect not in _EFFECTS:
        yield breaks(path, f"`{effect}` is no effect of a taint", nearest(str(effect), _EFFECTS))
