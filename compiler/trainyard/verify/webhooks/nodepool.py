"""NodePool: labels, taints and requirements that Karpenter validates at run time (karpenter v1.14,
pkg/apis/v1/nodepool_validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.language.units import Duration
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.syntax import SYNTAXES
from trainyard.verify.webhooks import Lookup

GROUP = "karpenter.sh"
_TEMPLATE: Path = ("spec", "template")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    template = value_at(body, *_TEMPLATE)
    ref = value_at(template, "spec", "nodeClassRef")
    is_ref = isinstance(ref, dict)
    if is_ref and ref.get("group") == _AUTO_MODE:
        yield from _life(value_at(template, "spec"))
    labels = value_at(template, "metadata", "labels") or {}
    for key, value in labels.items():
        path = (*_TEMPLATE, "metadata", "labels", key)
        yield from _syntax(path, "label-key", key)
        yield from _syntax(path, "label-value", value)
    for index, requirement in enumerate(mappings_at(template, "spec", "requirements")):
        path = (*_TEMPLATE, "spec", "requirements", index)
        yield from _syntax((*path, "key"), "label-key", requirement.get("key"))
        if requirement.get("operator") not in ("In", "NotIn"):
            continue  # compared with a number: the CRD's rules
        values = requirement.get("values") or ()
        for place, value in enumerate(values):
            yield from _syntax((*path, "values", place), "label-value", value)
    for field in ("taints", "startupTaints"):
        yield from _taints((*_TEMPLATE, "spec", field), mappings_at(template, "spec", field))


# The API server of EKS Auto Mode: "the sum of expireAfter and terminationGracePeriod (defaulted to 24h) may not exceed
# 21 days" (aws-controllers-k8s/test-infra#1000, 2026-06; EKS user guide, auto-security). Where `expireAfter` is left
# out, it has 336h (EKS user guide, create-node-pool).
_AUTO_MODE = "eks.amazonaws.com"
_LIFE, _AGE, _GRACE = 504 * 3600, "336h", "24h"


def _life(spec: Body) -> Iterator[Fault]:
    age = str(spec.get("expireAfter", _AGE))
    grace = str(spec.get("terminationGracePeriod", _GRACE))
    field = "expireAfter" if "expireAfter" in spec else "terminationGracePeriod"
    path = (*_TEMPLATE, "spec", field)
    if age == "Never":
        yield refused(
            path,
            "a node of EKS Auto Mode lives 504h at most",
            "write `480h` or less, which leaves 24h for `terminationGracePeriod`",
        )
        return
    try:
        life = Duration.parse(age)
        seconds = life.seconds + Duration.parse(grace).seconds
    except ValueError:
        return  # the schema has its own fault
    if seconds <= _LIFE:
        return
    yield refused(
        path,
        f"a node of EKS Auto Mode lives 504h at most, and `expireAfter` {age} with `terminationGracePeriod` {grace} is "
        "more",
        "write less: together they are 504h at most",
    )


def _taints(path: Path, taints: list[Body]) -> Iterator[Fault]:
    seen: dict[tuple[str, str], int] = {}
    for index, taint in enumerate(taints):
        yield from _syntax((*path, index, "key"), "label-key", taint.get("key"))
        yield from _syntax((*path, index, "value"), "label-value", taint.get("value") or "")
        key = str(taint.get("key"))
        effect = str(taint.get("effect"))
        first = seen.setdefault((key, effect), index)
        if first != index:
            yield refused(
                (*path, index),
                f"taint `{key}:{effect}` is already item {first}",
                help="remove one of the two",
            )


def _syntax(path: Path, name: str, text: object) -> Iterator[Fault]:
    syntax = SYNTAXES[name]
    if isinstance(text, str) and not syntax.accepts(text):
        yield refused(path, syntax.breach(text), syntax.advice(text))
