from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.extensions.hyperpod.running import (
    AUTO_RESUME,
    MOST_RETRIES,
    is_on_hyperpod,
    resumes_in,
)
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_NO_RECOVERY = "None"
_REPLICAS = "pytorchReplicaSpecs"


@rule("RUN154", severity=Severity.WARNING, kinds=("kubeflow.org/PyTorchJob",))
def auto_resume_not_set(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A PyTorchJob on SageMaker HyperPod does not resume once HyperPod has replaced one of its nodes.

    HyperPod replaces broken nodes by itself. It starts a job again afterwards if its annotations ask for that and say
    how often, and if it is in `kubeflow` or a namespace whose name begins with `hyperpod` (SageMaker developer guide,
    sagemaker-hyperpod-eks-resiliency-auto-resume; aws/sagemaker-hyperpod-cli 011ca92, helm_chart/readme.md). Only
    PyTorchJobs are resumed that way. Nothing is found where `enable-job-auto-resume` is `"false"`, `restartPolicy` is
    `Never` or `NodeRecovery` is `None`: there it is a choice.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: kubeflow}
        spec:
          pytorchReplicaSpecs:
            Worker:
              replicas: 1
              restartPolicy: OnFailure
              template:
                spec:
                  nodeSelector: {sagemaker.amazonaws.com/node-health-status: Schedulable}
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8},
                      limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

        # as the first that fails, but
        kind: PyTorchJob
        metadata:
          namespace: research
          annotations:
            sagemaker.amazonaws.com/enable-job-auto-resume: "true"
            sagemaker.amazonaws.com/job-max-retry-count: "2"

    ## Passes

        # as the first that fails, but
        kind: PyTorchJob
        metadata:
          annotations:
            sagemaker.amazonaws.com/enable-job-auto-resume: "true"
            sagemaker.amazonaws.com/job-max-retry-count: "2"

        # as the first that fails, but
        kind: PyTorchJob
        spec: {pytorchReplicaSpecs: {Worker: {restartPolicy: Never}}}
    """
    if not _may_resume(manifest, world):
        return
    metadata = Route((manifest.id, "metadata"))
    annotations = mapping(manifest.body, "metadata", "annotations")
    asked = annotations.get(AUTO_RESUME)
    title = f"job `{manifest.ref.name}`"
    if asked is None:
        yield Finding(
            f"{title} runs on HyperPod, which does not resume it once it has replaced a node",
            metadata / "annotations" if annotations else metadata,
            label="the job ends with its first lost node",
            help=f'add the annotations `{AUTO_RESUME}: "true"` and `{MOST_RETRIES}: "2"`',
        )
        return
    if asked != "true":
        return
    if annotations.get(MOST_RETRIES) is None:
        yield Finding(
            f"{title} does not say how often HyperPod resumes it",
            metadata / "annotations" / AUTO_RESUME,
            help=f'add the annotation `{MOST_RETRIES}: "2"`',
        )
    namespace = value_at(manifest.body, "metadata", "namespace")
    if isinstance(namespace, str) and not resumes_in(namespace):
        yield Finding(
            f"{title} is in namespace `{namespace}`, in which HyperPod resumes no job",
            metadata / "namespace",
            label="neither `kubeflow` nor `hyperpod…`",
            help="move it to `kubeflow`, or to a namespace whose name begins with `hyperpod`",
        )


def _may_resume(manifest: Manifest, world: World) -> bool:
    """Whether the job runs on HyperPod and asks to be restarted, on a cluster that replaces nodes."""
    own = [work for work in (*world.works, *world.pods) if str(work.at[0]) == manifest.id]
    if not any(is_on_hyperpod(work) and work.accelerator for work in own):
        return False
    if any(cluster.recovery == _NO_RECOVERY for cluster in world.plan.of(HyperPodCluster)):
        return False
    roles = mapping(manifest.body, "spec", _REPLICAS).values()
    return any(value_at(role, "restartPolicy") != "Never" for role in roles)
