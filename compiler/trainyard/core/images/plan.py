"""Images: what is in each, as jobs and rules ask it, and what is made to build and keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem

RECIPE_LABEL = "dev.trainyard.recipe"
"""The label of an image by which it is known of what it was built: a part of the SHA-256 of its recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer(PlanItem):
    """An EFA installer: its version, and the SHA-256 of its archive."""

    version: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(PlanItem):
    """A Dockerfile: what an image is built of.

    ``path``: of the file; ``base``: the reference of the image below; ``packages``: of the distribution, with their
    versions; ``requirements``: the file of Python packages, whose hashes pip asks for; ``copies``: from the context,
    and to where; ``user``: by number, 0 is root; ``digest``: what it calls itself (``RECIPE_LABEL``).
    """

    path: str
    base: str
    efa: Installer | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    requirements: str | None = None
    copies: tuple[tuple[str, str], ...] = ()
    working_dir: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    user: int = 0
    digest: str = ""

    @property
    def name(self) -> str:
        """What it is of, by the folder that it lies in."""
        return self.path.rpartition("/")[0].rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Project:
    """A project of CodeBuild: ``kind`` and ``repository`` of its source, ``folder`` of the cluster in it.

    ``pulled``: the ARN of the ECR repository that holds the base, and ``registry`` its host, where it is a private one;
    ``cached``: whether it is filled when the base is pulled.
    """

    kind: str
    repository: str
    folder: str
    compute: str
    minutes: int
    connection: str | None = None
    pulled: str | None = None
    registry: str | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow of GitHub Actions: ``repository`` as `OWNER/NAME`, ``folder`` of the cluster in it, ``branch`` that
    Flux applies; ``role``: the ARN of what it becomes in AWS; ``file``: its name in `.github/workflows`."""

    repository: str
    folder: str
    branch: str
    runner: str
    minutes: int
    role: str
    file: str
    pulled: str | None = None
    registry: str | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeImage(PlanItem):
    """An image with its repository, and its build. No manifest carries it.

    ``dockerfile`` and ``lock``: paths from the root of the repository; ``keep``: how many images stay; ``key``: the ARN
    of the KMS key that encrypts them; ``digest``: of the last build that is committed.
    """

    carried: ClassVar[bool] = False

    name: str
    cluster: str
    account: str
    region: str
    partition: str
    repository: str
    registry: str
    arch: str
    dockerfile: str
    lock: str
    recipe: str
    keep: int
    project: Project | Workflow
    key: str | None = None
    digest: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def stack(self) -> str:
        """The name of its stack, without the cluster's; a file is called so."""
        return f"image-{self.name}"

    @property
    def uri(self) -> str:
        """The repository as images are pulled from it."""
        return f"{self.registry}/{self.repository}"

    @property
    def reference(self) -> str | None:
        """What jobs run: the repository and the digest; ``None`` before there is one."""
        if self.digest:
            return f"{self.uri}@{self.digest}"
        return None


def repository_of(image: str) -> str:
    """The repository of an image, without its tag and digest."""
    reference = image.partition("@")[0]
    head, slash, last = reference.rpartition("/")
    return head + slash + last.partition(":")[0]


def short_name(image: str) -> str:
    """The last part of an image's repository: ``k8s-device-plugin``."""
    return repository_of(image).rpartition("/")[2]
