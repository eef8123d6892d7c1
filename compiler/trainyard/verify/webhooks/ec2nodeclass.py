"""EC2NodeClass: selector terms that exclude each other, term by term.

The CRD of v1.14.1 says ``!self.all(…)`` in its exclusivity rules of capacity reservation, subnet and security group
terms, so that they hold as soon as one term is right; Karpenter's own lookup takes each term by itself
(karpenter-provider-aws v1.14.1, pkg/apis/v1/ec2nodeclass.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.webhooks import Lookup

GROUP = "karpenter.k8s.aws"
# field -> (a key that stands alone, the keys that it excludes)
_ALONE: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "capacityReservationSelectorTerms": (("id", ("tags", "ownerID", "instanceMatchCriteria")),),
    "subnetSelectorTerms": (("id", ("tags",)),),
    "securityGroupSelectorTerms": (("id", ("tags", "name")), ("name", ("tags", "id"))),
}


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    for field, rules in _ALONE.items():
        for index, term in enumerate(mappings_at(spec, field)):
            yield from _term(("spec", field, index), term, rules)


def _term(
    path: Path, term: dict[str, Any], rules: tuple[tuple[str, tuple[str, ...]], ...]
) -> Iterator[Fault]:
    present = {key for key, value in term.items() if value}
    for alone, excluded in rules:
        others = [key for key in excluded if key in present]
        if alone in present and others:
            message = f"a term with `{alone}` also has {listed(others)}"
            help = f"keep `{alone}`, or select by the others"
            yield refused((*path, others[0]), message, help, key=True)
            return
    if present <= {"ownerID"}:
        message = "a term selects nothing by itself"
        yield refused(path, message, "give it `id` or `tags`")
