"""ResourceQuota (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateResourceQuota, and pkg/apis/core/helper
IsStandardQuotaResourceName)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.amounts import amount
from trainyard.verify.fault import Fault, nearest, refused
from trainyard.verify.webhooks import Lookup

GROUP = ""
_STANDARD = frozenset(
    (
        *("cpu", "memory", "ephemeral-storage", "limits.cpu", "limits.memory", "requests.cpu"),
        *(
            "limits.ephemeral-storage",
            "requests.memory",
            "requests.storage",
            "requests.ephemeral-storage",
        ),
        *("pods", "resourcequotas", "services", "services.nodeports", "services.loadbalancers"),
        *("replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps"),
    )
)
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    for name, text in (value_at(body, "spec", "hard") or {}).items():
        path = ("spec", "hard", name)
        if "/" not in name and name not in _STANDARD and not name.startswith(_HUGE_PAGES):
            help = nearest(
                name, _STANDARD, "devices are `requests.DOMAIN/NAME`, objects `count/PLURAL.GROUP`"
            )
            yield refused(path, f"no quota counts `{name}`", help, key=True)
        number = amount(text)
        if number is not None and number < 0:
            yield refused(path, f"`{name}` is negative: {text}", "write 0 or more")
