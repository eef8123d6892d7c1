"""The spec of images: what is built, from what, and where it is stored."""

from typing import Literal, Self

from pydantic import model_validator

from trainyard.language.models.aws import CachePrefix, CacheSecret, CodeConnection, EcrName, KmsKey
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import OneOf
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    ContainerPath,
    ContextPath,
    CudaVersion,
    DebianName,
    DebianVersion,
    EnvName,
    ImageByDigest,
    Line,
    Name,
    RunnerLabel,
    Sha256,
    Version,
)
from trainyard.language.source.texts import TextKey

# ECR user guide, pull-through-cache: which registries want to know who asks.
_WITH_LOGIN = ("docker.io", "ghcr.io", "registry.gitlab.com")


class ImageCache(SpecModel):
    """A pull-through cache: ECR keeps what is pulled of another registry, which is asked once for each image."""

    registry: Literal[
        "public.ecr.aws",
        "registry.k8s.io",
        "quay.io",
        "docker.io",
        "ghcr.io",
        "registry.gitlab.com",
    ] = Field(
        description="The registry whose images are kept; bases of images in it are pulled from the cache.",
        examples=["public.ecr.aws"],
        bound="public.ecr.aws, registry.k8s.io, quay.io, docker.io, ghcr.io, registry.gitlab.com; each once",
        source="ECR user guide, pull-through-cache",
        codes=("RES009",),
    )
    prefix: CachePrefix | None = Field(
        None,
        description="What the names of the kept repositories begin with; derived: of the cluster and the registry.",
        examples=["research/ecr-public"],
        bound="2 to 30 lowercase letters, digits, `.`, `_`, `-`, `/`",
        source="ECR API, CreatePullThroughCacheRule ecrRepositoryPrefix",
    )
    secret: CacheSecret | None = Field(
        None,
        description="The ARN of the secret with the login, which Docker Hub, GitHub and GitLab want; its name begins "
        "with `ecr-pullthroughcache/`.",
        examples=[
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:ecr-pullthroughcache/docker-hub-AbCdEf"
        ],
        bound="the ARN of a secret whose name begins with `ecr-pullthroughcache/`; of docker.io, ghcr.io and "
        "registry.gitlab.com, which need it",
        source="ECR user guide, pull-through-cache",
        codes=("SPC005", "RES246"),
    )

    @model_validator(mode="after")
    def _login(self) -> Self:
        if self.registry in _WITH_LOGIN and self.secret is None:
            raise fault(
                f"`{self.registry}` is cached with a login alone",
                "add `secret:` with the ARN of a secret that is called `ecr-pullthroughcache/…`",
                source="ECR user guide, pull-through-cache",
            )
        if self.registry not in _WITH_LOGIN and self.secret is not None:
            raise fault(
                f"`{self.registry}` is cached without a login",
                "remove `secret`",
                "secret",
                source="ECR user guide, pull-through-cache",
            )
        return self


DIGEST = "sha256:f861e28dd9b8ecc86722bd37306b2f7b7e74336bc9c98dba37223cf031d04a7a"
"""pytorch-training:2.7.1-gpu-py312-cu128-ubuntu22.04-ec2 of AWS' Deep Learning Containers."""


class ImageSource(SpecModel):
    """A file or folder of the repository that is copied into the image."""

    origin: ContextPath = Field(
        alias="from",
        description="The file or folder, relative to this file; of a folder its content is copied.",
        examples=["../train"],
        bound="a file or folder of the repository",
        source="Dockerfile reference, COPY",
        codes=("YML046", "YML047"),
    )
    to: ContainerPath = Field(
        description="The path in the image.",
        examples=["/workspace/train"],
        bound="an absolute path of letters, digits and `._@+/-`, outside of `/proc`, `/sys` and `/dev`",
        source="Dockerfile reference, COPY; OCI runtime specification 1.2",
    )


class Contents(SpecModel):
    """Facts about the base, where its tag does not say them."""

    cuda: CudaVersion | None = Field(
        None,
        description="The version of CUDA in the base, in quotes; derived: where the base's tag says it (`cu129`).",
        examples=["12.9"],
        bound="`MAJOR.MINOR`, quoted; what the base's tag says; 13 with aws-ofi-nccl 1.17.0 or newer",
        source="aws-ofi-nccl v1.21.1, RELEASENOTES.md",
        codes=("RES145",),
    )
    torch: Version | None = Field(
        None,
        description="The version of PyTorch in the base; derived: where the base's tag says it.",
        examples=["2.8.0"],
        bound="`MAJOR.MINOR.PATCH`; what the base's tag says",
        source="AWS Deep Learning Containers, available images",
        codes=("RES145", "RES149"),
    )
    nccl: Version | None = Field(
        None,
        description="The version of NCCL in the base; unset: not compared.",
        examples=["2.27.3"],
        bound="`MAJOR.MINOR.PATCH`; no older than the plugin works with",
        source="aws-ofi-nccl v1.21.1, RELEASENOTES.md",
        codes=("RES145",),
    )
    efa_installer: Version | None = Field(
        None,
        description="The version of the EFA installer in the base; unset: not compared.",
        examples=["1.43.2"],
        bound="`MAJOR.MINOR.PATCH`; 1.29.1 or newer with NCCL 2.19 or newer",
        source="EC2 user guide, efa-changelog; awsome-distributed-training, EFA cheat sheet",
        codes=("RES145", "RES146", "RES247"),
    )
    aws_ofi_nccl: Version | None = Field(
        None,
        description="The version of aws-ofi-nccl in the base; derived: the one that its EFA installer brings.",
        examples=["1.16.3"],
        bound="`MAJOR.MINOR.PATCH`; no older than its support for the nodes",
        source="aws-ofi-nccl v1.21.1, RELEASENOTES.md",
        codes=("RES145", "RES146"),
    )


class EfaInstaller(SpecModel):
    """An EFA installer of AWS, which brings libfabric and aws-ofi-nccl."""

    version: Version = Field(
        description="The version of the installer (EC2 user guide, efa-changelog).",
        examples=["1.43.2"],
        bound="`MAJOR.MINOR.PATCH`; with a plugin that knows the nodes",
        source="EC2 user guide, efa-changelog",
        codes=("RES146", "RES247"),
    )
    sha256: Sha256 = Field(
        description="The SHA-256 of `aws-efa-installer-VERSION.tar.gz`; another content is not installed.",
        examples=["3b0c" * 16],
        bound="64 hex digits",
        source="FIPS 180-4",
    )


class Repository(SpecModel):
    """The ECR repository of an image."""

    name: EcrName | None = Field(
        None,
        description="The name of the repository; derived: the cluster's name, `/` and the image's.",
        examples=["research/train"],
        bound="2 to 256 lowercase letters, digits, `.`, `_`, `-`, `/`; of one image",
        source="ECR API, CreateRepository repositoryName",
        codes=("RES147",),
    )
    keep: int = Field(
        50,
        ge=2,
        le=1000,
        description="How many images the repository keeps; older ones are deleted, deployed or not.",
        examples=[100],
        bound="2 to 1000",
        source="ECR user guide, lifecycle policy parameters: countNumber",
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts the images; unset: AES-256 with keys of S3.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="the ARN of a key of the Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )


class CodeBuild(SpecModel):
    """A project of AWS CodeBuild that builds the image of a commit of the repository that Flux reads."""

    connection: CodeConnection | None = Field(
        None,
        description="The connection by which CodeBuild reads the repository; unset: the account's own credentials, or "
        "none for a public one.",
        examples=[
            "arn:aws:codeconnections:us-west-2:111122223333:connection/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
        ],
        bound="the ARN of a connection",
        source="AWS CodeConnections API, CreateConnection",
    )
    compute: Literal[
        "BUILD_GENERAL1_MEDIUM",
        "BUILD_GENERAL1_LARGE",
        "BUILD_GENERAL1_XLARGE",
        "BUILD_GENERAL1_2XLARGE",
    ] = Field(
        "BUILD_GENERAL1_LARGE",
        description="The compute type of the builds, which says their CPUs, memory and disk.",
        examples=["BUILD_GENERAL1_2XLARGE"],
        bound="BUILD_GENERAL1_MEDIUM, BUILD_GENERAL1_LARGE, BUILD_GENERAL1_XLARGE, BUILD_GENERAL1_2XLARGE",
        source="CodeBuild API, ProjectEnvironment computeType",
    )
    minutes: int = Field(
        120,
        ge=5,
        le=2160,
        description="After how many minutes a build is ended.",
        examples=[240],
        bound="5 to 2160",
        source="CodeBuild API, CreateProject timeoutInMinutes",
    )


class GithubActions(SpecModel):
    """A workflow of GitHub Actions that builds the image of a branch, and commits its digest there."""

    runner: RunnerLabel | None = Field(
        None,
        description="The label of the runner, with room for the base on its disk; derived: one of GitHub's, by `arch`.",
        examples=["large-disk"],
        bound="letters, digits, `.`, `_`, `-`; none of macOS or Windows",
        source="GitHub documentation, workflow syntax: runs-on",
    )
    minutes: int = Field(
        120,
        ge=5,
        le=360,
        description="After how many minutes a build is ended.",
        examples=[240],
        bound="5 to 360",
        source="GitHub documentation, usage limits: execution time of a job",
    )


class Build(OneOf):
    """What builds an image."""

    code_build: CodeBuild | None = Field(
        None,
        description="A project of AWS CodeBuild.",
        examples=[{"compute": "BUILD_GENERAL1_2XLARGE"}],
    )
    github_actions: GithubActions | None = Field(
        None,
        description="A workflow of GitHub Actions, for a repository of github.com.",
        examples=[{"runner": "large-disk"}],
    )


class Image(SpecModel):
    """An image that is built for jobs, which name it and run the digest of its last build that is committed."""

    name: Name = Field(
        description="The image's name, which jobs have it by.",
        examples=["train"],
        bound="a label of 63 characters at most, unique",
        source="Kubernetes, object names",
        codes=("RES009",),
    )
    base: ImageByDigest = Field(
        description="The image that it is built on, with a digest, so that every build starts from the same bytes.",
        examples=[f"public.ecr.aws/deep-learning-containers/pytorch-training@{DIGEST}"],
        bound="an image reference with a digest",
        source="github.com/distribution/reference, grammar",
    )
    arch: Literal["amd64", "arm64"] | None = Field(
        None,
        description="The architecture that it is built for; derived: `arm64` where the name of the base says it, "
        "otherwise `amd64`.",
        examples=["arm64"],
        bound="amd64, arm64; the architecture of the pools whose jobs run it",
        source="EC2 DescribeInstanceTypes ProcessorInfo",
        codes=("RES144",),
    )
    contents: Contents = Field(
        Contents.model_construct(),
        description="Facts about the base, which are compared with each other and with the nodes of the jobs.",
        examples=[{"nccl": "2.27.3", "efaInstaller": "1.43.2"}],
    )
    efa_installer: EfaInstaller | None = Field(
        None,
        description="The EFA installer that is run in the image, for a base without one.",
        examples=[{"version": "1.43.2", "sha256": "3b0c" * 16}],
    )
    packages: dict[DebianName, DebianVersion] = Field(
        {},
        description="Debian or Ubuntu packages that are installed, each with its version.",
        examples=[{"libaio-dev": "0.3.112-13build1"}],
        bound="names of Debian packages, each with a version",
        source="Debian policy, 5.6.1 and 5.6.12",
    )
    requirements: ContextPath | None = Field(
        None,
        description="The file of Python packages, each with its hashes, relative to the file that it is written in.",
        examples=["../train/requirements.txt"],
        bound="a file of the repository, each line pinned and with a hash; nothing that the base brings",
        source="pip, secure installs",
        codes=("YML046", "YML047", "RES143", "RES149"),
    )
    sources: list[ImageSource] = Field(
        [],
        description="The files and folders of the repository that are copied into the image.",
        examples=[[{"from": "../train", "to": "/workspace/train"}]],
    )
    working_dir: ContainerPath = Field(
        "/workspace",
        description="The folder that commands start in.",
        examples=["/opt/train"],
        bound="an absolute path of letters, digits and `._@+/-`, outside of `/proc`, `/sys` and `/dev`",
        source="Dockerfile reference, WORKDIR; OCI runtime specification 1.2",
    )
    env: dict[EnvName, Line] = Field(
        {},
        description="Environment variables of every container of the image.",
        examples=[{"PYTHONUNBUFFERED": "1"}],
        bound="names of variables, each with a text of one line; no secret; judged like the variables of the "
        "jobs that run the image",
        source="Dockerfile reference, ENV; apimachinery 0.35, IsEnvVarName",
        codes=("RUN064",),
    )
    user: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="The number of the user that programs run as; 0 is root; derived: 10001, a user of its own.",
        examples=[1000],
        bound="0 to 65535",
        source="core/v1 SecurityContext runAsUser; what subordinate ids leave to a container",
    )
    repository: Repository = Field(
        Repository.model_construct(),
        description="The ECR repository of the image.",
        examples=[{"keep": 100}],
    )
    build: Build = Field(
        description="What builds the image and pushes it.", examples=[{"codeBuild": {}}]
    )
    lock: ContextPath | None = Field(
        None,
        description="The file that has the digest of the last build, relative to the file that it is written in; "
        "derived: `images/CLUSTER/NAME.lock`.",
        examples=["../train/image.lock"],
        bound="a file of the repository, which the build writes",
        source="this language",
        codes=("YML047", "RES148"),
    )


class ImagesSection(Section):
    """What is built for jobs."""

    images: list[Image] = Field(
        [],
        description="The images that are built for jobs, each in an ECR repository of its own; jobs name them.",
        examples=[
            [
                {
                    "name": "train",
                    "base": "public.ecr.aws/deep-learning-containers/pytorch-training@sha256:"
                    "f861e28dd9b8ecc86722bd37306b2f7b7e74336bc9c98dba37223cf031d04a7a",
                    "requirements": "requirements.txt",
                    "sources": [{"from": "src", "to": "/workspace/src"}],
                    "build": {"codeBuild": {}},
                }
            ]
        ],
    )
    image_caches: list[ImageCache] = Field(
        [],
        description="Pull-through caches of ECR for other registries; bases of images are pulled from them.",
        examples=[[{"registry": "public.ecr.aws"}]],
    )


SECTION = ImagesSection
DOCUMENTS = {"TrainingImage": ("images", Image)}
TEXTS = (
    TextKey(("images", None, "requirements")),
    TextKey(("images", None, "lock"), "images/{cluster}/{name}.lock"),
    TextKey(("images", None, "sources", None, "from"), lines=False),
)
