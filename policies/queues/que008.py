from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import placeholder
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE008")
def namespace_not_selected(work: Work, world: World) -> Iterator[Finding]:
    """A job is in a namespace that its queue does not select.

    A ClusterQueue admits workloads only from namespaces that match `namespaceSelector` (kueue v0.19.2): elsewhere
    they wait for ever.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team-b}}}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {namespaceSelector: {}}
    """
    queue, namespace = work.queue, work.job.namespace
    if queue is None or not queue.namespace_selector or not namespace or placeholder(namespace):
        return
    here = next((each for each in world.plan.namespaces if each.name == namespace), None)
    labels = {**(here.labels if here else {}), "kubernetes.io/metadata.name": namespace}
    for key, wanted in queue.namespace_selector.items():
        known, value = key in labels or here is not None, labels.get(key)
        if any(map(placeholder, wanted)):
            continue
        if (wanted and known and value not in wanted) or value in queue.namespaces_excluded.get(key, ()):
            yield Finding(
                f"queue `{queue.name}` takes no jobs from namespace `{namespace}`", queue.where("namespaces"),
                label=f"job `{work.name}` is never admitted",
                help=f"add `{namespace}`" if key == "kubernetes.io/metadata.name" else f"select its label `{key}`",
            )
            return
