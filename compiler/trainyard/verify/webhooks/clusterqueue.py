"""ClusterQueue: quota order and amounts, and flavors named within (kueue v0.19.2, pkg/webhooks)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, nearest, never_works, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._quota import resource_groups

GROUP = "kueue.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    groups = mappings_at(spec, "resourceGroups")
    # v1beta2 calls it cohortName, v1beta1 cohort
    cohort = spec.get("cohortName") or spec.get("cohort")
    yield from resource_groups(groups, in_cohort=bool(cohort))
    yield from _admission_flavors(spec, groups)
    if "namespaceSelector" not in spec or spec["namespaceSelector"] is None:
        message = "without `namespaceSelector` no namespace may use this queue"
        yield never_works(
            ("spec", "namespaceSelector"),
            message,
            "write `namespaceSelector: {}` for every namespace",
            warning=True,
        )


def _admission_flavors(spec: Body, groups: list[Body]) -> Iterator[Fault]:
    flavors = {
        str(flavor.get("name")) for group in groups for flavor in mappings_at(group, "flavors")
    }
    for index, strategy in enumerate(
        mappings_at(spec, "admissionChecksStrategy", "admissionChecks")
    ):
        names = strategy.get("onFlavors") or ()
        for place, name in enumerate(names):
            if name not in flavors:
                path = (
                    "spec",
                    "admissionChecksStrategy",
                    "admissionChecks",
                    index,
                    "onFlavors",
                    place,
                )
                yield refused(
                    path,
                    f"flavor `{name}` is not one of this queue",
                    nearest(str(name), flavors, "name one of its flavors"),
                )
