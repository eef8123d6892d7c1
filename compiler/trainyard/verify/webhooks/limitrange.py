"""LimitRange (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateLimitRange)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.amounts import amount
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import is_resource

GROUP = ""
_RISING = ("min", "defaultRequest", "default", "max")
_OF_CLAIMS = ("storage",)


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    for index, item in enumerate(mappings_at(body, "spec", "limits")):
        path = ("spec", "limits", index)
        amounts = {field: value_at(item, field) or {} for field in _RISING}
        names = list(dict.fromkeys(name for each in amounts.values() for name in each))
        for name in names:
            yield from _of_resource(path, item.get("type"), name, amounts)


def _of_resource(
    path: Path, kind: Any, name: str, amounts: Mapping[str, Mapping[str, Any]]
) -> Iterator[Fault]:
    given = [field for field in _RISING if name in amounts[field]]
    if not is_resource(name) and name not in _OF_CLAIMS:
        message = f"`{name}` is not a resource of a container or claim"
        yield refused((*path, given[0], name), message, "devices are `DOMAIN/NAME`", key=True)
    for field in given:
        if kind == "Pod" and field.startswith("default"):
            message = f"a limit of whole pods has no `{field}`"
            yield refused((*path, field), message, "write it for `type: Container`", key=True)
    for lower, upper in pairwise(given):
        least, most = amounts[lower][name], amounts[upper][name]
        one, other = amount(least), amount(most)
        if one is not None and other is not None and one > other:
            message = f"`{lower}` {least} of `{name}` is above `{upper}` {most}"
            yield refused((*path, lower, name), message, f"lower it to {most}, or raise `{upper}`")
