"""The Python packages of an image: each locked by hashes, and none that replaces a package of the base.

Source: pip 26, requirements file format and secure installs (hash-checking mode): with one hash every requirement
needs one, and is pinned with `==`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from trainyard.catalog.efa import versions_of
from trainyard.extensions.images.built.spec import Image
from trainyard.language.diagnostics.secrets import forms as forms_of_secrets
from trainyard.language.places import Route
from trainyard.plan.context import Context

_SOURCE = "pip documentation, secure installs: hash-checking mode"
_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!+_-]+)(?=\s|;|$)"
)
_HASH = re.compile(
    r"--hash=(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?=\s|$)"
)
_OPTIONS = (
    "--index-url",
    "-i",
    "--require-hashes",
    "--only-binary",
    "--no-binary",
    "--prefer-binary",
)
_INDEX = ("--index-url", "-i")
# Libraries that a base's PyTorch is built with: a second copy of them is the wrong one.
_OF_TORCH = re.compile(r"nvidia-(?:nccl|cudnn|cublas|cuda-runtime|nvshmem)(?:-cu\d+)?\Z")


class Requirement(NamedTuple):
    """A requirement of a file: the number of its first line, from 0, and its text with the lines that follow."""

    line: int
    text: str


def requirements(lines: Sequence[str]) -> Iterator[Requirement]:
    """The requirements and options of a file; a line that ends with a backslash goes on with the next."""
    start = 0
    parts: list[str] = []
    for number, line in enumerate(lines):
        if not parts:
            start = number
        code = re.sub(r"(?:^|\s)#.*", "", line)
        parts.append(code.rstrip().removesuffix("\\"))
        is_last = number + 1 >= len(lines)
        if not is_last and code.rstrip().endswith("\\"):
            continue
        text = " ".join(" ".join(parts).split())
        if text:
            yield Requirement(start, text)
        parts = []


def check_requirements(context: Context, spec: Image, at: Route) -> None:
    """Every requirement of an image's file is pinned and has a hash; none replaces PyTorch or NCCL of the base."""
    file = context.texts.get(at / "requirements")
    if file is None or not file.there:
        return
    torch = spec.contents.torch or versions_of(spec.base).torch
    for requirement in requirements(file.lines):
        here = at / "requirements" / requirement.line
        why = _unlocked(requirement.text)
        if why:
            context.fault(
                "RES143",
                f"requirement `{requirement.text.split()[0]}` of image `{spec.name}` {why}",
                here,
                "lock the file: `uv pip compile --generate-hashes requirements.in -o requirements.txt`",
                source=_SOURCE,
            )
            continue
        _index(context, spec, requirement.text, here)
        pinned = _PINNED.match(requirement.text)
        if pinned is not None and torch is not None:
            _replaces(context, spec, pinned, torch, here)


def _index(context: Context, spec: Image, text: str, at: Route) -> None:
    """The index that packages come from: any that is reached by TLS, since the hashes hold what comes from it."""
    option, address = _option(text)
    if option not in _INDEX:
        return
    if forms_of_secrets(address):
        context.fault(
            "RES237",
            f"the index of image `{spec.name}` has a password in git",
            at,
            "take it out, and give it to the build: `PIP_INDEX_URL` as a secret of CodeBuild or Docker",
        )
        return
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        context.doubt(
            "RES236",
            f"packages of image `{spec.name}` come from `{address}`, whose name and order nobody vouches for",
            at,
            "write an address with `https://`, or take it out for that of the builder",
        )


def _option(text: str) -> tuple[str, str]:
    """An option and its value, separated by ``=`` or a space."""
    option, _, value = text.replace("=", " ", 1).partition(" ")
    return option, value.strip()


def _unlocked(text: str) -> str:
    """Why pip would not install a requirement, or install what nobody has seen; empty where it is locked."""
    if text.startswith("-"):
        option = text.split()[0].partition("=")[0]
        return "" if option in _OPTIONS else "is an option that leads to other files or places"
    if not _PINNED.match(text):
        return "is not pinned with `==`"
    if "--hash=" not in text:
        return "has no hash"
    if len(_HASH.findall(text)) != text.count("--hash="):
        return "has a hash other than SHA-256, SHA-384 or SHA-512"
    return ""


def _replaces(context: Context, spec: Image, pinned: re.Match[str], torch: str, at: Route) -> None:
    name = re.sub(r"[-_.]+", "-", pinned["name"]).lower()
    version = pinned["version"].partition("+")[0]
    fact = ""
    if name == "torch" and version != torch:
        fact = f"PyTorch `{version}` would replace `{torch}` of the base"
    elif _OF_TORCH.match(name):
        fact = f"`{name}` would be installed next to the library that the base's PyTorch was built with"
    if fact:
        context.fault(
            "RES149",
            f"{fact} in image `{spec.name}`",
            at,
            "take it out of the lock, which is installed without dependencies: `uv pip compile "
            "--no-emit-package torch …`; or take a base with that version",
            source="PyTorch wheels of PyPI bring CUDA and NCCL of their own, and no EFA",
        )
