"""A pull-through cache in the account's ECR registry."""

from typing import Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.aws import CachePrefix, CacheSecret
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault

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
    )
    prefix: CachePrefix | None = Field(
        None,
        description="What the names of the kept repositories begin with; derived: of the cluster and the registry.",
        examples=["research/ecr-public"],
    )
    secret: CacheSecret | None = Field(
        None,
        description="The ARN of the secret with the login, which Docker Hub, GitHub and GitLab want; its name begins "
        "with `ecr-pullthroughcache/`.",
        examples=[
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:ecr-pullthroughcache/docker-hub-AbCdEf"
        ],
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
