from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import INTEGRATIONS, QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.near import name_meant


@rule("QUE035")
def integration_unknown(manager: QueueManager) -> Iterator[Finding]:
    """Kueue's configuration names an integration that Kueue does not have.

    Kueue judges its configuration when it starts (kueue v0.19.2, pkg/config/validation.go: `Unsupported value` in
    `integrations.frameworks`; `must be format, 'Kind.version.group.com'` in `integrations.externalFrameworks`). With
    one wrong name it ends at once, again and again: no job of the cluster is admitted, and since its webhooks do not
    answer, none is created.

    ## Fails

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob, kubeflow.org/pytorch]}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob], externalFrameworks: [kubeflow.org/pytorchjob]}

    ## Passes

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob, kubeflow.org/pytorchjob]}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob], externalFrameworks: [Job.v1alpha1.batch.volcano.sh]}
    """
    for index, name in enumerate(manager.frameworks):
        if name not in INTEGRATIONS:
            yield Finding(
                f"Kueue has no integration `{name}`",
                manager.where("frameworks") / index,
                label="Kueue does not start",
                help=name_meant(name, INTEGRATIONS) or _OTHERWISE,
            )
    for index, name in enumerate(manager.external_frameworks):
        # schema.ParseKindArg of apimachinery: what follows the second dot is the group.
        if name.count(".") < 2:
            yield Finding(
                f"`{name}` names no kind of an API: Kueue reads `Kind.version.group`",
                manager.where("external_frameworks") / index,
                label="Kueue does not start",
                help="write it like `Job.v1alpha1.batch.volcano.sh`",
            )


_OTHERWISE = (
    "remove it; a kind that another controller queues is named in `integrations.externalFrameworks`"
)
