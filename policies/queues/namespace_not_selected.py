from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.fit import NAMESPACE_NAME, excluding_namespace_label
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("QUE008", kubernetes="Slurm has no namespaces", pods=True)
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
    queue, namespace = work.queue, work.namespace
    key = excluding_namespace_label(work, world)
    by_label = f"select by the label `{key}` that it has"
    if queue is not None and key:
        yield Finding(
            f"queue `{queue.name}` takes no jobs from namespace `{namespace}`",
            queue.where("namespace_selector"),
            label=f"{work.title} is never admitted",
            help=f"add `{namespace}`" if key == NAMESPACE_NAME else by_label,
        )
