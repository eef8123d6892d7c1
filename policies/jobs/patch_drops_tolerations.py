from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.plan.nodes import Taint, Toleration
from compiler.policy.choices import keeping_away
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN005", severity=Severity.WARNING)
def patch_drops_tolerations(work: Work) -> Iterator[Finding]:
    """A patch replaces the tolerations of the runtime and drops some.

    Observed with Trainer 2.3.0: node selectors are merged, tolerations are replaced as a whole. Where the pool has
    the taint, the pods stay Pending, except for the devices that they ask for, whose taints EKS tolerates by
    itself.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                {name: node, template: {spec: {template: {spec: {
                  tolerations: [{key: team, operator: Exists}]}}}}}]}}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                {name: node, template: {spec: {template: {spec: {tolerations: [
                  {key: team, operator: Exists},
                  {key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}]}}}}}]}}}
    """
    for patch in work.job.patches if work.runtime else ():
        replicated = work.runtime.job(patch.job) if work.runtime else None
        if replicated is None or not patch.pod.tolerations:
            continue
        dropped = [
            Taint(toleration.key, toleration.value, toleration.effect)
            for toleration in replicated.pod.tolerations
            if toleration.key
            and not any(_covers(new, toleration) for new in patch.pod.tolerations)
        ]
        if dropped:
            reach = patch.pod.tolerations
            hard = (
                work.choices
                and not work.queue_unknown
                and all(
                    keeping_away(pool, (*reach, *choice.tolerations), work.asks)
                    for choice in work.choices
                    for pool in choice.pools
                )
            )
            yield Finding(
                f"the patch of job `{work.name}` drops the runtime's toleration of `{dropped[0]}`",
                patch.pod.where("tolerations"),
                label="tolerations are replaced as a whole",
                help="repeat the runtime's tolerations in the patch",
                severity=Severity.ERROR if hard else None,
            )


def _covers(new: Toleration, old: Toleration) -> bool:
    return new == old or new.tolerates(
        Taint(old.key, old.value, old.effect or new.effect)
    )
