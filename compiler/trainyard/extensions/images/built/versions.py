"""Checks that the versions of the EFA stack in an image work together."""

from __future__ import annotations

from trainyard.catalog.efa import (
    BUNDLED,
    CHANGELOG,
    CHEATSHEET,
    CUDA_13_SINCE,
    NEW_NCCL,
    NOTES,
    OLD_INSTALLER,
    SYNC_VARIABLE,
    bundled,
    least_nccl,
    numbers,
    versions_of,
)
from trainyard.extensions.images.built.spec import Image
from trainyard.language.places import Route
from trainyard.plan.context import Context


def plugin_of(spec: Image) -> str | None:
    """The aws-ofi-nccl of an image: the one that is said, or that its EFA installer brings."""
    if spec.efa_installer is not None:
        # What is installed into the image comes after what the base has.
        return bundled(spec.efa_installer.version)
    contents = spec.contents
    if contents.aws_ofi_nccl is not None:
        return contents.aws_ofi_nccl
    if contents.efa_installer:
        return bundled(contents.efa_installer)
    return None


def check_versions(context: Context, spec: Image, at: Route) -> None:
    """Versions that never work together; each derived one has its reason."""
    said = versions_of(spec.base)
    contents = spec.contents
    target = f"image/{spec.name}"
    for key, given, from_tag in (
        ("torch", contents.torch, said.torch),
        ("cuda", contents.cuda, said.cuda),
    ):
        place = at / "contents" / key
        if given is not None:
            context.given(target, key, given, place)
        elif from_tag is not None:
            context.derive(
                target, key, from_tag, "the tag of the base says so", follows=at / "base"
            )
        if given is not None and from_tag is not None and given != from_tag:
            _contradict(
                context,
                f"the base's tag says {key} `{from_tag}`, and `contents` says `{given}`",
                place,
                f"remove `{key}`, or take the base that has it",
                "AWS Deep Learning Containers, available images",
            )
    _check_installer(context, spec, at)
    plugin = plugin_of(spec)
    if plugin is None:
        return
    place = at / "contents" / "awsOfiNccl"
    if contents.aws_ofi_nccl is None or spec.efa_installer is not None:
        installer = "efaInstaller" if spec.efa_installer else "contents"
        place = at / installer
        context.derive(target, "awsOfiNccl", plugin, "the EFA installer brings it", CHANGELOG)
    _check_nccl(context, contents.nccl, plugin, at)
    cuda = contents.cuda or said.cuda
    has_cuda_13 = cuda and numbers(cuda) >= (13,)
    if has_cuda_13 and numbers(plugin) < CUDA_13_SINCE:
        since = ".".join(map(str, CUDA_13_SINCE))
        _contradict(
            context,
            f"aws-ofi-nccl `{plugin}` is older than `{since}`, the first for CUDA 13, and the image has CUDA `{cuda}`",
            place,
            f"take {since} or newer, as with EFA installer 1.50.0",
            NOTES,
        )


def _check_installer(context: Context, spec: Image, at: Route) -> None:
    wish = spec.efa_installer
    nccl = spec.contents.nccl
    installer = spec.contents.efa_installer
    if wish is not None:
        installer = wish.version
    newest = max(map(numbers, BUNDLED))
    if installer is not None and numbers(installer) > newest:
        key = "efaInstaller" if wish is None else "version"
        where = at / "contents" if wish is None else at / "efaInstaller"
        context.doubt(
            "RES247",
            f"EFA installer {installer} is newer than {'.'.join(map(str, newest))}, the newest that is known",
            where / key,
            "look whether there is one: `efa-changelog` in the EC2 user guide",
            source=CHANGELOG,
        )
    if installer is None or nccl is None:
        return
    if spec.env.get(SYNC_VARIABLE) == "0":
        return
    if numbers(installer) >= OLD_INSTALLER or numbers(nccl) < NEW_NCCL:
        return
    least = ".".join(map(str, OLD_INSTALLER))
    _contradict(
        context,
        f"with EFA installer `{installer}`, older than `{least}`, NCCL `{nccl}` cannot register memory",
        at / ("efaInstaller" if wish is not None else "contents"),
        f'take installer {least} or newer, or write `env: {{{SYNC_VARIABLE}: "0"}}`',
        CHEATSHEET,
    )


def _check_nccl(context: Context, nccl: str | None, plugin: str, at: Route) -> None:
    if nccl is None:
        return
    least = least_nccl(plugin)
    if numbers(nccl) < least:
        oldest = ".".join(map(str, least))
        _contradict(
            context,
            f"aws-ofi-nccl `{plugin}` works with NCCL `{oldest}` and newer, and the base has `{nccl}`",
            at / "contents" / "nccl",
            f"take a base with NCCL {oldest} or newer",
            NOTES,
        )


def _contradict(context: Context, fact: str, at: Route, help: str, source: str) -> None:
    context.fault("RES145", fact, at, help, source=source)
