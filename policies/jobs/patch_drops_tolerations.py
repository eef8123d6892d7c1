from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.choices import repelling_taint
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan.scheduling import Taint, Toleration


@rule("RUN005", kubernetes="patches are of a TrainJob", severity=Severity.WARNING)
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
    if work.runtime is None:
        return
    for patch in work.patches:
        replicated = work.runtime.job(patch.job)
        tolerations = patch.pod.tolerations
        if replicated is None or not tolerations:
            continue
        dropped = [
            old
            for old in replicated.pod.tolerations
            if old.key and not _is_covered(old, tolerations)
        ]
        if dropped:
            taint = Taint(dropped[0].key, dropped[0].value, dropped[0].effect)
            pending = _is_repelled_by_every_pool(work, tolerations)
            yield Finding(
                f"the patch of job `{work.name}` drops the runtime's toleration of `{taint}`",
                patch.pod.where("tolerations"),
                label="tolerations are replaced as a whole",
                help="repeat the runtime's tolerations in the patch",
                severity=Severity.ERROR if pending else None,
            )


def _is_repelled_by_every_pool(work: Work, tolerations: tuple[Toleration, ...]) -> bool:
    """Whether the taints of every pool that the job may land on repel its pods, with these tolerations."""
    if work.queue_unknown or not work.choices:
        return False
    return all(
        repelling_taint(pool, (*tolerations, *choice.tolerations), work.asks)
        for choice in work.choices
        for pool in choice.pools
    )


def _is_covered(old: Toleration, tolerations: tuple[Toleration, ...]) -> bool:
    for new in tolerations:
        taint = Taint(old.key, old.value, old.effect or new.effect)
        if new == old or new.tolerates(taint):
            return True
    return False
