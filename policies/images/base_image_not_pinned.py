from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.images.built.plan import Step
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN061", severity=Severity.WARNING)
def base_image_not_pinned(step: Step) -> Iterator[Finding]:
    """A Dockerfile starts from an image without a digest.

    A tag is moved when its image is patched, `latest` at every release: two builds of one commit are two images, and
    nobody sees in git what changed between them (Docker, building best practices: pin base image versions). What an
    `ARG` gives is not known here.

    ## Fails

        FROM nvcr.io/nvidia/pytorch:24.12-py3
        RUN python -m pip check

        FROM public.ecr.aws/docker/library/python:3.12 AS build
        FROM build

    ## Passes

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000

        ARG BASE
        FROM ${BASE}

        FROM scratch
    """
    if step.instruction != "FROM" or step.inside:
        return
    image = step.words[0]
    if "@sha256:" in image or "$" in image:
        return
    yield Finding(
        f"`{step.path}` starts from `{image}`, which has no digest",
        step.at,
        label="another image at the next build",
        help=f"write the digest that `docker buildx imagetools inspect {image}` prints, as `{image}@sha256:…`",
    )
