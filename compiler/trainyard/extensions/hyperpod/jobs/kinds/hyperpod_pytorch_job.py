"""sagemaker.amazonaws.com/v1 HyperPodPyTorchJob, which HyperPod's training operator runs.

Sources: SageMaker developer guide, sagemaker-eks-operator, -install, -usage and sagemaker-eks-elastic-training; the
models of PyPI sagemaker-hyperpod 3.12.0; the agent in each pod, PyPI hyperpod-elastic-agent 1.1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import EnvVar, ReplicatedJob
from trainyard.eks.jobs.bodies import POD, Written, pod_template
from trainyard.eks.jobs.kind import TRAINER, CalledBy, Ending, OwnPods, program_part
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    Settings,
    count_or_text,
    job_and_pods,
    own_runtime,
    replica_count,
    run_policy,
    settings_of,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import RunPods
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.output.manifest import Body
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
"""The add-on of EKS that has the operator."""
OPERATOR_NAMESPACE, OPERATOR_ACCOUNT = "aws-hyperpod", "hp-training-operator-controller-manager"
AGENT_PORT = 8080
"""The port at which the agent in each pod listens for the operator (hyperpod-elastic-agent 1.1.3, --server-port)."""
REPLICA = "pods"
WHOLE_RUN = 10_000_000
"""Seconds in which restarts are counted where a job has no timeout: 116 days, as hyperpod-elastic-agent 1.1.3 writes
in its own sample (k8s/mnist_lightning_cd_template.yaml)."""
KEPT = -1
"""``ttlSecondsAfterFinished`` of a job that stays: 0, the default, deletes it, and Flux would start it again."""
_USAGE = "SageMaker developer guide, sagemaker-eks-operator-usage"
_ELASTIC = "SageMaker developer guide, sagemaker-eks-elastic-training"
_MODELS = "PyPI sagemaker-hyperpod 3.12.0"
_AGENT = "PyPI hyperpod-elastic-agent 1.1.3"


class HyperPodPyTorchJob(OwnPods):
    """One replica of all nodes, whose processes the operator starts, ranks and restarts by the agents in its pods."""

    name = kind = "HyperPodPyTorchJob"
    place = 6
    api = "sagemaker.amazonaws.com/v1"
    plural = "hyperpodpytorchjobs"
    crd = "sagemaker-hyperpod/v3.12.0"
    # SageMaker developer guide, sagemaker-eks-operator-install: an external framework of Kueue.
    framework = "HyperPodPytorchJob.v1.sagemaker.amazonaws.com"
    operator = OPERATOR
    pods = (("spec", "replicaSpecs", "*", *POD),)
    name_limit = None
    name_syntax = "dns-subdomain"
    has_peers = True
    restarts_gang = False
    launcher = "hyperpodrun"
    launchers = ("hyperpod",)
    # sagemaker-hyperpod 3.12.0, list_pods; its pods have no label with their rank that is published.
    run_pods = RunPods("HPJob")
    # Its operator is not published, nor the types of its conditions: those of the training operators, and of Jobs.
    ends = Ending(("Succeeded", "Completed", "Complete"))
    retries = ("spec", "runPolicy", "jobMaxRetryCount")
    restarted = "the processes on all of its nodes, or all of its pods"
    retried = (
        "how often the operator starts all processes again, on other nodes where one has failed"
    )
    leaves_broken_nodes = True
    elastic = True
    in_part = False
    called_by = CalledBy(OPERATOR, AGENT_PORT, OPERATOR_NAMESPACE)
    # Kueue writes node selectors into the list of replicas, and the operator their number; no list type of it is
    # published, so that for server-side apply it is one value: Flux would take both back.
    applied_once = True
    places = {
        ("nprocPerNode",): "processes",
        ("runPolicy", "activeDeadlineSeconds"): "deadline",
        ("runPolicy", "restartPolicy", "evalPeriodSeconds"): "deadline",
        ("runPolicy", "jobMaxRetryCount"): "max_restarts",
        ("runPolicy", "restartPolicy", "maxFullJobRestarts"): "max_restarts",
        ("replicaSpecs", 0, "replicas"): "nodes",
        ("replicaSpecs", 0, "maxReplicas"): "nodes",
        ("elasticPolicy", "minReplicas"): "least_nodes",
        ("elasticPolicy", "maxReplicas"): "nodes",
    }

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        _check_governance(context, job)
        _check_spot(context, job)

    def instead_elastic(self, context: Context, job: Job) -> str:
        # only specs have jobs
        from trainyard.core.jobs.launchers.hyperpodrun.resolve import refused_torch
        from trainyard.core.jobs.launchers.launcher import launcher_of

        is_other = launcher_of(job).framework != "torch" or bool(job.spec.roles)
        is_spot = any("spot" in pool.spec.capacity_types for pool in job.pools)
        if is_other or is_spot or refused_torch(job) is not None:
            return ""
        words = "write `kind: HyperPodPyTorchJob` and start the program by `hyperpodrun`"
        if not _has_governance(context):
            words += ", with `taskGovernance: {}` in `platform.hyperPod`"
        return words

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        """The options that hyperpodrun reads from variables as torchrun does; ranks and the master it gets from the
        operator."""
        nodes = job.spec.least_nodes or job.spec.nodes
        values = {
            "PET_NNODES": (str(nodes), "the nodes with which the job starts"),
            "PET_NPROC_PER_NODE": (str(processes), "the processes of a node"),
            "PET_RDZV_BACKEND": ("hyperpod", "the operator says who has which rank"),
        }
        for option, (value, why) in values.items():
            yield from variable(context, job, option, value, why, _AGENT)

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The pod of the runtime, once for each node. The operator says itself how its containers restart."""
        node = program_part(runtime)
        pods = replace(node.pod, restart_policy=None)
        replica = ReplicatedJob(
            at=job.at, name=REPLICA, step=TRAINER, pod=pods, replicas=job.spec.nodes
        )
        timeout = job.spec.timeout
        settings: Settings = {
            "cleanPodPolicy": "All",
            "ttlSecondsAfterFinished": KEPT,
            "evalPeriodSeconds": timeout.seconds if timeout else WHOLE_RUN,
        }
        if job.spec.max_restarts is not None:
            settings["numRestartBeforeFullJobRestart"] = job.spec.max_restarts
        return replace(
            runtime,
            kind=self.name,
            jobs=(replica,),
            framework="torch",
            nodes=None,
            restart_strategy=None,
            settings=settings,
        )

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        (part,) = runtime.jobs
        least = job.least_nodes
        replica = fields_given(
            name=part.name,
            replicas=part.replicas if least is None else least,
            maxReplicas=None if least is None else part.replicas,
            template=pod_template(part.pod),
        )
        spec = fields_given(
            nprocPerNode=None if job.processes is None else str(job.processes),
            replicaSpecs=[replica],
            runPolicy=_run_policy(job, runtime),
            elasticPolicy=_elastic_policy(job, part),
        )
        return spec, [("spec", "replicaSpecs", 0, *POD)]

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        policy = run_policy(body)
        elastic = spec / "elasticPolicy"
        items = (spec / "replicaSpecs").items()
        parts = [_replica(item) for item in items]
        settings = {
            **settings_of(policy, "cleanPodPolicy", "ttlSecondsAfterFinished"),
            **settings_of(
                policy / "restartPolicy", "evalPeriodSeconds", "numRestartBeforeFullJobRestart"
            ),
        }
        fields = JobFields(
            deadline=policy / "activeDeadlineSeconds",
            max_restarts=policy / "jobMaxRetryCount",
            nodes=items[0] / "replicas" if items else None,
            least_nodes=elastic / "minReplicas" if elastic else None,
        )
        yield from job_and_pods(
            body,
            own_runtime(body, self.name, self.main, parts, framework="torch", settings=settings),
            fields,
            nodes=replica_count(parts),
            processes=count_or_text((spec / "nprocPerNode").text()),
        )

    def parts(self, body: Reader) -> Iterator[Part]:
        """By their names. ``replicas`` is 0 by default; spares have resources and run nothing."""
        for replica in body.follow("spec", "replicaSpecs").items():
            counted = _most(replica)
            pods = counted.integer() if counted else 0
            yield Part((replica / "name").word(), replica / "template", pods, counted)

    def explain(self, context: Context, job: Job) -> None:
        retries = job_retries(job)
        context.derive(
            job.target,
            "kind",
            self.name,
            "HyperPod's training operator runs it, by the agent in each pod",
            _USAGE,
        )
        context.derive(
            job.target,
            "restart",
            f"jobMaxRetryCount {retries}, maxFullJobRestarts {retries}",
            "the operator starts the processes again in their pods, or all pods, and counts both over the whole run",
            _USAGE,
        )
        context.derive(
            job.target,
            "ttlSecondsAfterFinished",
            KEPT,
            "the object stays when the job has ended: the default, 0, deletes it, and Flux would start it again",
            _MODELS,
        )
        context.derive(
            job.target,
            "applied",
            "once",
            "Kueue and the operator write into the list of replicas, which is one value for Flux: it would take that "
            "back",
            "kustomize-controller v1.9, ssa IfNotPresent",
        )
        least = job.spec.least_nodes
        if least is not None:
            context.derive(
                job.target,
                "nodes",
                f"{least} at first, up to {job.spec.nodes}",
                "the operator asks Kueue for more in workloads of their own; the program saves and ends when "
                "`elastic_event_detected()` says so, and starts again with the new number",
                _ELASTIC,
            )


def _check_governance(context: Context, job: Job) -> None:
    """Of Kueue the operator takes 0.12.2 and 0.12.3, and that of the newest task governance."""
    if not _has_governance(context):
        context.fault(
            "RES331",
            f"job `{job.spec.name}` is a HyperPodPyTorchJob, whose operator does not take the cluster's own Kueue",
            job.at / "kind",
            "write `taskGovernance: {}` in `platform.hyperPod`, which brings one that it takes; or remove `kind`, for "
            "a PyTorchJob, which HyperPod resumes as well",
            source="SageMaker developer guide, sagemaker-eks-operator: supported versions",
        )


def _has_governance(context: Context) -> bool:
    from trainyard.extensions.hyperpod.settings.spec import (
        HyperPodSection,  # only specs have settings
    )

    return HyperPodSection.of(context.spec).own.task_governance is not None


def _check_spot(context: Context, job: Job) -> None:
    """Elastic training takes no Spot instances."""
    if job.spec.least_nodes is None:
        return
    spot = [pool.name for pool in job.pools if "spot" in pool.spec.capacity_types]
    if spot:
        context.fault(
            "RES335",
            f"job `{job.spec.name}` has `minNodes`, and pool `{spot[0]}` is bought as Spot, which elastic training "
            "does not support",
            job.at / "minNodes",
            "remove it, or take a pool that is not bought as Spot",
            source=_ELASTIC,
        )


def _run_policy(job: TrainJob, runtime: Runtime) -> Body:
    settings = runtime.settings
    restarts = fields_given(
        evalPeriodSeconds=settings.get("evalPeriodSeconds"),
        numRestartBeforeFullJobRestart=settings.get("numRestartBeforeFullJobRestart"),
        maxFullJobRestarts=runtime.max_restarts,
    )
    return fields_given(
        cleanPodPolicy=settings.get("cleanPodPolicy"),
        ttlSecondsAfterFinished=settings.get("ttlSecondsAfterFinished"),
        activeDeadlineSeconds=job.deadline,
        jobMaxRetryCount=runtime.max_restarts,
        restartPolicy=restarts,
    )


def _elastic_policy(job: TrainJob, part: ReplicatedJob) -> Body | None:
    """Growing by single nodes; a program that is to shrink has as long to save as one that is to stop."""
    if job.least_nodes is None:
        return None
    return fields_given(
        minReplicas=job.least_nodes,
        maxReplicas=part.replicas,
        replicaIncrementStep=1,
        gracefulShutdownTimeoutInSeconds=part.pod.grace_seconds,
    )


def _most(replica: Reader) -> Reader:
    """How many pods it has at most, of which an elastic job may have fewer."""
    return replica / "maxReplicas" or replica / "replicas"


def _replica(item: Reader) -> ReplicatedJob:
    count = _most(item)
    return ReplicatedJob(
        at=item.at,
        name=(item / "name").word(),
        step=None,
        pod=pod(item / "template"),
        replicas=count.integer() or 0,
        origins={"replicas": count.at},
    )


KIND = HyperPodPyTorchJob()
