"""What public images contain: the EFA plugin, device libraries, architectures, user.

One table (``data/images.json``), a source for each row. The first row of an image counts; of what no row has, nothing
is known. Mirrors are seen through: those of Docker Hub, and pull-through caches of private ECR registries, whose
repositories have a prefix before the upstream's name (ECR user guide, pull-through-cache).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from trainyard.language.dataclass import dataclass

DATA = Path(__file__).parent / "data" / "images.json"

_HUB = "docker.io"
_HUB_HOSTS = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io", "mirror.gcr.io"})
_PRIVATE = re.compile(r"[0-9]{12}\.dkr\.ecr(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?")
_OFFICIAL = "public.ecr.aws/docker/"
_OF_AWS = "dkr.ecr"
"""In the table: private registries, of any Region."""
_UPSTREAMS = (_HUB, "ghcr.io", "public.ecr.aws", "nvcr.io")


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What an image is known to bring. ``None`` and () are unknown.

    ``efa``: whether aws-ofi-nccl and libfabric are in it; ``devices``: what its libraries are for, `gpu`, `cpu` or
    `neuron`; ``own_torch``: whether its PyTorch is a build of its maker; ``bare``: whether it has no framework, so that
    a program may bring one for other devices; ``alone``: whether it has an operating system, a language or a server
    and nothing else, neither PyTorch nor MPI.
    """

    efa: bool | None
    devices: str | None
    arches: tuple[str, ...]
    user: str | None
    own_torch: bool
    bare: bool
    alone: bool
    source: str


class _Row:
    """A row of the table, by those of its repositories that are in one registry. Its patterns are compiled when an
    image is held against them, and kept by `re`."""

    def __init__(self, row: dict[str, Any], repositories: Sequence[str]) -> None:
        names = "|".join(repositories)
        self.names = f"(?:{names})$"
        self.tags: str = row["tags"]
        self.facts = ImageFacts(
            efa=row.get("efa"),
            devices=row.get("devices"),
            arches=tuple(row.get("arches", ())),
            user=row.get("user"),
            own_torch=row.get("own_torch", False),
            bare=row.get("bare", False),
            alone=row.get("alone", False),
            source=row["source"],
        )


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(DATA.read_bytes())
    return data


@lru_cache(maxsize=64)
def _rows(registry: str) -> Sequence[_Row]:
    """The rows with repositories of a registry, in their order."""
    rows = []
    for row in _data()["images"]:
        repositories = [name for name in row["repositories"] if _is_in(name, registry)]
        if repositories:
            rows.append(_Row(row, repositories))
    return rows


def _is_in(repository: str, registry: str) -> bool:
    """Whether a repository of the table, a pattern, is in a registry."""
    host = repository.partition("/")[0]
    return re.fullmatch(host, registry) is not None


@lru_cache(maxsize=1024)
def facts_of(image: str) -> ImageFacts | None:
    """What is known of an image by its name and tag; ``None`` of what no row has. Without a tag, an image is one of all
    that the repository ever had."""
    reference = image.partition("@")[0]
    path, _, last = reference.rpartition("/")
    repository, _, tag = last.partition(":")
    name = f"{path}/{repository}" if path else repository
    for known in _names(name):
        registry = known.partition("/")[0]
        for row in _rows(registry):
            if re.match(row.names, known) and re.search(row.tags, tag):
                return row.facts
    return None


def _names(name: str) -> Iterator[str]:
    """The names under which an image may stand in the table."""
    host, slash, path = name.partition("/")
    is_host = bool(slash) and ("." in host or ":" in host or host == "localhost")
    if not is_host:
        yield _of_hub(name)
    elif host in _HUB_HOSTS:
        yield _of_hub(path)
    elif name.startswith(_OFFICIAL):
        yield _of_hub(name.removeprefix(_OFFICIAL))
    elif _PRIVATE.fullmatch(host):
        account = host.partition(".")[0]
        yield f"{account}.{_OF_AWS}/{path}"
        upstream = path.partition("/")[2]
        if upstream:
            for registry in _UPSTREAMS:
                yield f"{registry}/{upstream}"
    else:
        yield name


def _of_hub(path: str) -> str:
    if "/" in path:
        return f"{_HUB}/{path}"
    return f"{_HUB}/library/{path}"


def images_source() -> tuple[str, str, str, str]:
    """Where the table comes from: what, from where, version, date."""
    data = _data()
    return (
        "images",
        "a source for each row of compiler/trainyard/catalog/data/images.json",
        "",
        data["date"],
    )
