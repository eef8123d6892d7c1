"""Images of the spec in jobs: the digest of the last build, checked against the nodes' architecture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.catalog import InstanceType
from trainyard.catalog.efa import NOTES, known_since, numbers, versions_of
from trainyard.core.delivery.folder import folder
from trainyard.core.images.plan import Workflow
from trainyard.core.jobs.images import Use, is_name, unknown
from trainyard.core.jobs.spec import Job
from trainyard.extensions.images.built.resolve import Image, resolve_images
from trainyard.extensions.images.built.versions import plugin_of
from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.pools.pools import Pool


def with_images(context: Context, job: Job, pool: Pool, at: Route) -> Use:
    """What a job runs of the images of the spec.

    A name of no image is a fault, and so is an image for another architecture than the pool's.
    """
    used: list[Image] = []
    changes: dict[str, object] = {}
    image = _named(context, job.image, at / "image")
    if image is not None:
        used.append(image)
        changes["image"] = _reference(image)
        _explain(context, job, image)
        _check_nodes(context, job, pool, image, at / "image")
    containers = list(job.init_containers)
    for index, init in enumerate(containers):
        here = at / "initContainers" / index / "image"
        own = _named(context, init.image or "-:", here)
        if own is not None:
            used.append(own)
            built = _reference(own)
            containers[index] = init.model_copy(update={"image": built})
            changes["init_containers"] = containers
            _check_arch(context, job, pool.instances, own, here)
    waits = [image for image in used if image.made.reference is None]
    for name in dict.fromkeys(image.spec.name for image in waits):
        _waits(context, job, name, at / "image")
    if not changes:
        return Use(job)
    return Use(job.model_copy(update=changes), bool(waits), _torch(image), _user(image))


def _named(context: Context, name: str, at: Route) -> Image | None:
    """The image of a name; ``None`` for a reference, and for a name of none, which is a fault."""
    if not is_name(name):
        return None
    images = context.once(resolve_images)
    if name not in images:
        unknown(context, name, images, at)
        return None
    return images[name]


def _reference(image: Image) -> str:
    """What is run; before the first build it is only checked, never written."""
    return image.made.reference or f"{image.made.uri}:unbuilt"


def _explain(context: Context, job: Job, image: Image) -> None:
    if image.made.reference is not None:
        context.derive(
            f"job/{job.name}",
            "image",
            image.made.reference,
            f"the last build of image {image.spec.name} that is committed",
            f"{image.made.lock}",
            follows=image.at / "lock",
        )


def _user(image: Image | None) -> int | None:
    """The user that programs of an image run as, by number."""
    if image is None:
        return None
    return image.recipe.user


def _torch(image: Image | None) -> str | None:
    """The PyTorch of an image: what the spec says of the base, or its tag."""
    if image is None:
        return None

    spec = image.spec
    return spec.contents.torch or versions_of(spec.base).torch


def _waits(context: Context, job: Job, image: str, at: Route) -> None:
    """A job whose image was never built is not written at all: pods without an image hold nodes that are paid for."""
    made = context.once(resolve_images)[image].made
    script = f"{folder(context)}/bootstrap/images.sh"
    build = f"run `bash {script} build {image}`, and commit `{made.lock}`"
    if isinstance(made.project, Workflow):
        build = f"merge what its workflow commits to the branch, `{made.lock}` (`bootstrap/image-{image}.md`)"
    context.doubt(
        "RES141",
        f"job `{job.name}` waits for the first build of image `{image}`, "
        f"and is not written until `{made.lock}` has "
        "its digest",
        at,
        f"compile, commit and push, then {build}",
    )


def _check_nodes(context: Context, job: Job, pool: Pool, image: Image, at: Route) -> None:
    _check_arch(context, job, pool.instances, image, at)
    if job.nodes < 2 or not pool.efa:
        return

    plugin = plugin_of(image.spec)
    for instance in pool.instances:
        since = known_since(instance.name)
        if plugin is None or since is None:
            continue
        if numbers(plugin) >= since:
            continue
        needed = ".".join(map(str, since))
        context.doubt(
            "RES146",
            f"image `{image.spec.name}` has aws-ofi-nccl `{plugin}`, "
            f"and support for `{instance.name}` came with "
            f"`{needed}`",
            at,
            f"take a base, or an EFA installer, with aws-ofi-nccl {needed} or newer",
            source=NOTES,
        )


def _check_arch(
    context: Context, job: Job, instances: Sequence[InstanceType], image: Image, at: Route
) -> None:
    for instance in instances:
        if instance.arch != image.arch:
            context.fault(
                "RES144",
                f"image `{image.spec.name}` is built for `{image.arch}`, "
                f"and job `{job.name}` runs on `{instance.name}`, "
                f"which is `{instance.arch}`",
                at,
                f"build one for it: an image with a base of {instance.arch} and `arch: {instance.arch}`",
                source="EC2 DescribeInstanceTypes ProcessorInfo",
            )
            return
