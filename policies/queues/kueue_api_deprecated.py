from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Route
from trainyard.plan import Plan


@rule("QUE014", aliases=("old-queue-api",), severity=Severity.NOTE)
def kueue_api_deprecated(_plan: Plan, world: World) -> Iterator[Finding]:
    """Objects use a deprecated API version of Kueue.

    v1beta1 is served and deprecated since v1beta2 became the stored version (Kueue 0.19); fields have other names in
    the new one, like `cohortName` for `cohort`. It is reported once, at the first object.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta1
        kind: LocalQueue
        metadata: {name: old, namespace: team-a}
        spec: {clusterQueue: research}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: new, namespace: team-a}
        spec: {clusterQueue: research}
    """
    old = [
        manifest
        for manifest in world.manifests
        if manifest.body.get("apiVersion") == "kueue.x-k8s.io/v1beta1"
    ]
    if not old:
        return
    notes: tuple[str, ...] = ()
    if len(old) > 1:
        notes = (numbered(len(old) - 1, "more object is", "more objects are"),)
    yield Finding(
        f"`{old[0].ref}` is written for `kueue.x-k8s.io/v1beta1`",
        Route((old[0].id, "apiVersion")),
        help="write `kueue.x-k8s.io/v1beta2` and the names of its fields",
        notes=notes,
    )
