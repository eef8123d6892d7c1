"""EC2NodeClass: selector terms that exclude each other, term by term.

The CRD of v1.14.1 says ``!self.all(…)`` in its exclusivity rules of capacity reservation, subnet and security group
terms, so that they hold as soon as one term is right; Karpenter's own lookup takes each term by itself
(karpenter-provider-aws v1.14.1, pkg/apis/v1/ec2nodeclass.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import Body
from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, refused
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._nodeclass import rules as crd_rules

GROUP = "karpenter.k8s.aws"
# field -> (a key that stands alone, the keys that it excludes)
_ALONE: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "capacityReservationSelectorTerms": (
        ("id", frozenset({"tags", "ownerID", "instanceMatchCriteria"})),
    ),
    "subnetSelectorTerms": (("id", frozenset({"tags"})),),
    "securityGroupSelectorTerms": (
        ("id", frozenset({"tags", "name"})),
        ("name", frozenset({"tags", "id"})),
    ),
}


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    yield from crd_rules(spec)
    for field, rules in _ALONE.items():
        for index, term in enumerate(items(spec, field)):
            yield from _term(("spec", field, index), term, rules)
    yield from _evictions(at(spec, "kubelet") or {})


def _term(
    path: Path, term: dict[str, Any], rules: tuple[tuple[str, frozenset[str]], ...]
) -> Iterator[Fault]:
    present = {key for key, value in term.items() if value}
    for alone, excluded in rules:
        others = sorted(present & excluded)
        if alone in present and others:
            message = f"a term with `{alone}` also has {listed(others)}"
            yield refused(path, message, f"keep `{alone}`, or select by the others")
            return
    if present <= {"ownerID"}:
        message = "a term selects nothing by itself"
        yield refused(path, message, "give it `id` or `tags`")


def _evictions(kubelet: dict[str, Any]) -> Iterator[Fault]:
    """Soft thresholds and grace periods come in pairs; without the second map the CRD's rule fails to evaluate."""
    fields = ("evictionSoft", "evictionSoftGracePeriod")
    pairs = (fields, fields[::-1])
    for field, other in pairs:
        signals = set(at(kubelet, field) or {})
        signals_of_other = set(at(kubelet, other) or {})
        for signal in sorted(signals - signals_of_other):
            path = ("spec", "kubelet", field, signal)
            message = f"`{signal}` is not in `{other}`"
            yield refused(path, message, "give it in both, or in none")
