"""NodePool: labels, taints and requirements that Karpenter validates at run time (karpenter v1.14,
pkg/apis/v1/nodepool_validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, refused
from compiler.verify.syntax import SYNTAXES
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._requirements import rules as crd_rules

GROUP = "karpenter.sh"
_TEMPLATE: Path = ("spec", "template")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from crd_rules(at(body, "spec") or {})
    template = at(body, *_TEMPLATE)
    for key, value in (at(template, "metadata", "labels") or {}).items():
        path = (*_TEMPLATE, "metadata", "labels", key)
        yield from _syntax(path, "label-key", key)
        yield from _syntax(path, "label-value", value)
    for index, requirement in enumerate(items(template, "spec", "requirements")):
        path = (*_TEMPLATE, "spec", "requirements", index)
        yield from _syntax((*path, "key"), "label-key", requirement.get("key"))
        if requirement.get("operator") not in ("In", "NotIn"):
            continue  # compared with a number: the CRD's rules
        for place, value in enumerate(requirement.get("values") or ()):
            yield from _syntax((*path, "values", place), "label-value", value)
    for field in ("taints", "startupTaints"):
        yield from _taints((*_TEMPLATE, "spec", field), items(template, "spec", field))


def _taints(path: Path, taints: list[Body]) -> Iterator[Fault]:
    seen: dict[tuple[str, str], int] = {}
    for index, taint in enumerate(taints):
        yield from _syntax((*path, index, "key"), "label-key", taint.get("key"))
        yield from _syntax(
            (*path, index, "value"), "label-value", taint.get("value") or ""
        )
        identity = (str(taint.get("key")), str(taint.get("effect")))
        if seen.setdefault(identity, index) != index:
            yield refused(
                (*path, index),
                f"taint `{identity[0]}:{identity[1]}` is already item {seen[identity]}",
                help="remove one of the two",
            )


def _syntax(path: Path, name: str, text: object) -> Iterator[Fault]:
    syntax = SYNTAXES[name]
    if isinstance(text, str) and not syntax.accepts(text):
        yield refused(path, syntax.breach(text), f"use {syntax.help}")
