from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.pods.plan import Container
from trainyard.judge.model.containers import with_images
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder


@rule("RUN013", severity=Severity.WARNING, pods=True)
def image_not_pinned(work: Work) -> Iterator[Finding]:
    """A job runs an image that is not pinned.

    `latest`, or no tag, is whatever is newest when a node pulls: a node that is replaced in the middle of a run may
    get another program than the others (Kubernetes, images).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {image: "ghcr.io/team/train:latest"}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: logs, image: fluent/fluent-bit}]}}}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    for node in _with_images(work):
        image = node.image
        if not image or "@" in image:
            continue
        tag = image.rpartition("/")[2].partition(":")[2]
        is_known = tag == "latest" or not placeholder(image)
        if tag in ("", "latest") and is_known and not _is_file(image):
            what = "is `latest`" if tag else "has no tag"
            yield Finding(
                f"image `{'…:latest' if placeholder(image) else image}` of {work.title} {what}",
                node.where("image"),
                help="pin a version or, better, a digest",
            )


def _with_images(work: Work) -> Sequence[Work | Container]:
    """What names an image in all pods of a job; of third-party pods RUN077 judges the rest."""
    if work.runtime is None:
        return with_images(work)[:1]
    others = (container for _, pod, _ in work.others for container in pod.all_containers)
    return [*with_images(work), *others]


def _is_file(image: str) -> bool:
    """Whether an image is a file that enroot imported, which no registry changes (NVIDIA/pyxis, usage)."""
    return image.startswith(("/", "./", "../", "~")) or image.endswith(".sqsh")
