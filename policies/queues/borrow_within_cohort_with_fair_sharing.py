from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import ClusterQueue, QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("QUE016", aliases=("borrowing-with-fair-sharing",))
def borrow_within_cohort_with_fair_sharing(queue: ClusterQueue, world: World) -> Iterator[Finding]:
    """A queue preempts within its cohort by priority while fair sharing is on.

    `borrowWithinCohort` belongs to classical preemption; with fair sharing it is not supported (kueue v0.19.2,
    ClusterQueue `preemption.borrowWithinCohort`).

    ## Fails

        queues:
          - {name: research, cohort: all, preemption: {borrowWithinCohort: {policy: LowerPriority}}}
        kueue: {fairSharing: {}}

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}}
        ---
        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}

    ## Passes

        queues:
          - {name: research, cohort: all, preemption: {borrowWithinCohort: {policy: LowerPriority}}}

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}}
    """
    manager = world.plan.one(QueueManager)
    fair = manager is not None and manager.fair_sharing
    if fair and queue.preemption.borrow_within_cohort != "Never":
        yield Finding(
            f"queue `{queue.name}` borrows by priority, and fair sharing is on",
            queue.where("preemption") / "borrowWithinCohort",
            help="remove `borrowWithinCohort`, or fair sharing",
            spec_help="remove `borrowWithinCohort`, or every `fairSharing` of the spec",
        )
