from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TRAIN_JOB, TrainJob
from trainyard.eks.kueue.plan import ClusterQueue, LocalQueue, QueueManager
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.beside import stand_together
from trainyard.judge.model.kinds import framework_of, is_never_queued
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("RUN089")
def kind_not_managed(manager: QueueManager, world: World) -> Iterator[Finding]:
    """Kueue is not configured to manage the kind of a job that has a queue.

    It looks only at the kinds in `integrations.frameworks` (kueue v0.19.2), and those of the training operator are not
    among its defaults: the queue label of such a job means nothing, and it starts at once, outside every quota. Kinds
    whose own operators make the workloads are in `integrations.externalFrameworks` (SageMaker developer guide,
    sagemaker-eks-operator-install).

    ## Fails

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: {
          tolerations: [{operator: Exists}], containers: [{name: pytorch}]}}}}}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: chat, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {template: {spec: {tolerations: [{operator: Exists}], containers: [{name: server}]}}}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: sparkoperator.k8s.io/v1beta2
        kind: SparkApplication
        metadata: {name: curate, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        metadata: {name: nightly, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: nightly, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {jobTemplate: {spec: {template: {spec: {tolerations: [{operator: Exists}], containers: [{name: main}]}}}}}

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
        ---
        apiVersion: sagemaker.amazonaws.com/v1
        kind: HyperPodPyTorchJob
        metadata: {name: bert, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {replicaSpecs: [{name: pods, replicas: 1, template: {spec: {
          tolerations: [{operator: Exists}], containers: [{name: pytorch}]}}}]}

    ## Passes

        jobs: [{name: llama, kind: PyTorchJob}]

        # as the fifth that fails, but
        kind: CronJob
        metadata: {labels: {kueue.x-k8s.io/queue-name: null}}
        spec: {jobTemplate: {metadata: {labels: {kueue.x-k8s.io/queue-name: research}}}}

        # as the first that fails, but
        kind: Configuration
        integrations: {frameworks: [trainer.kubeflow.org/trainjob, kubeflow.org/pytorchjob]}

        # as the sixth that fails, but
        kind: Configuration
        integrations: {externalFrameworks: [HyperPodPytorchJob.v1.sagemaker.amazonaws.com]}
    """
    frameworks = (*manager.frameworks, *manager.external_frameworks)
    if not manager.frameworks:
        return
    reported = set()
    for job in _queued(world):
        if not _of_one_cluster(manager, job, world.plan):
            continue
        framework = framework_of(job.kind)
        if framework is None and isinstance(job, Workload) and not _is_known(job.kind):
            yield from _unknown(job, manager)
        if is_never_queued(job.kind):
            yield Finding(
                f"Kueue cannot manage {job.kind}s, and `{job.identity.name}` has queue `{job.queue}`",
                job.where("kind"),
                label="the job runs past every quota",
                help="write a `kind` that Kueue manages, or none",
            )
        if framework is None or framework in frameworks or framework in reported:
            continue
        reported.add(framework)
        yield Finding(
            f"Kueue does not manage {job.kind}s, and `{job.identity.name}` has queue `{job.queue}`",
            manager.where("frameworks"),
            label="the job runs past every quota",
            help=f"add `{framework}` to `{_list_of(framework)}`",
        )


def _is_known(kind: str) -> bool:
    """Whether Kueue manages a kind by several integrations, as it does pods, or can never manage it."""
    return kind == "Pod" or is_never_queued(kind)


def _unknown(workload: Workload, manager: QueueManager) -> Iterator[Finding]:
    """What has a queue and is of a kind that Kueue has no integration for; one that makes its own workloads is named
    among the external frameworks."""
    if any(name.startswith(f"{workload.kind}.") for name in manager.external_frameworks):
        return
    yield Finding(
        f"Kueue has no integration for `{workload.kind}`, and `{workload.name}` has queue `{workload.queue}`",
        workload.where("queue"),
        label="Kueue does not look at it",
        help="remove the label, or put it on what Kueue manages: the Jobs or pods that it makes",
        severity=Severity.WARNING,
    )


def _list_of(framework: str) -> str:
    """Where Kueue's configuration names a framework; one that another controller brings is `Kind.version.group`."""
    if "/" in framework:
        return "integrations.frameworks"
    return "integrations.externalFrameworks"


def _of_one_cluster(manager: QueueManager, job: TrainJob | Workload, plan: Plan) -> bool:
    """Whether Kueue's configuration is that of the job's cluster: it is in a file near the job's, or near that of the
    queue that the job goes to. The examples of a project are in sibling folders, each for a cluster of its own."""
    if stand_together(manager, job):
        return True
    local = plan.named(LocalQueue, job.queue, job.namespace)
    if local is None:
        return False
    queue = plan.named(ClusterQueue, local.cluster_queue)
    return any(part is not None and stand_together(manager, part) for part in (local, queue))


def _queued(world: World) -> Iterator[TrainJob | Workload]:
    """Each job in a queue that is no TrainJob (QUE011)."""
    for job in world.plan.of(TrainJob):
        if job.queue and job.kind != TRAIN_JOB:
            yield job
    for workload in world.plan.of(Workload):
        if workload.queue:
            yield workload
