from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import placeholder
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("RUN013", severity=Severity.WARNING, pods=True)
def image_not_pinned(work: Work) -> Iterator[Finding]:
    """A job runs an image that is not pinned.

    `latest`, or no tag, is whatever is newest when a node pulls: a node that is replaced in the middle of a run may
    get another program than the others (Kubernetes, images).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {image: "ghcr.io/team/train:latest"}}

    ## Passes

        jobs: [{name: llama}]
    """
    node = work if work.image or work.main is None else work.main
    image = node.image
    if not image or "@" in image:
        return
    tag = image.rpartition("/")[2].partition(":")[2]
    if tag in ("", "latest") and not placeholder(image) and not _is_file(image):
        what = "is `latest`" if tag else "has no tag"
        yield Finding(
            f"image `{image}` of {work.title} {what}",
            node.where("image"),
            help="pin a version or, better, a digest",
        )


def _is_file(image: str) -> bool:
    """Whether an image is a file that enroot imported, which no registry changes (NVIDIA/pyxis, usage)."""
    return image.startswith(("/", "./", "../", "~")) or image.endswith(".sqsh")
