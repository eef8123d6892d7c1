"""The spec of delivery: the repository and branch that Flux reads."""

from typing import Self

from pydantic import model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Branch, Name, ObjectName, RepositoryPath, RepositoryUrl


class Flux(SpecModel):
    """The git repository that Flux reads."""

    url: RepositoryUrl | None = Field(
        None,
        description="The URL of the git repository; unset: the one that `flux bootstrap` was given.",
        examples=["ssh://git@github.com/example/clusters"],
        bound="`https://`, `http://` or `ssh://`, without a password; a host that is not the pod itself, and "
        "no page of a web site",
        source="source.toolkit.fluxcd.io/v1 GitRepository url",
        codes=("ACC016",),
    )
    secret: ObjectName | None = Field(
        None,
        description="The Secret in `flux-system` with the repository's credentials; derived: `flux-system` for "
        "`ssh://`, otherwise none.",
        examples=["clusters-read"],
        bound="a DNS subdomain of 253 characters at most, with `url`",
        source="Kubernetes, object names",
        codes=("SPC005",),
    )
    branch: Branch = Field(
        "main",
        description="The branch that Flux applies; used only with `url`.",
        examples=["main"],
        bound="a name that git takes, without `refs/heads/`",
        source="git check-ref-format",
    )
    path: RepositoryPath | None = Field(
        None,
        description="The cluster's folder in the repository; derived: the output folder and the cluster's name, "
        "`generated/NAME`.",
        examples=["generated/research"],
        bound="a folder inside the repository",
        source="kustomize.toolkit.fluxcd.io/v1 Kustomization path",
    )
    source: Name = Field(
        "flux-system",
        description="The name of the GitRepository that Flux reads.",
        examples=["flux-system"],
        bound="a label of 63 characters at most",
        source="source.toolkit.fluxcd.io/v1 GitRepository",
    )

    @model_validator(mode="after")
    def _of_the_url(self) -> Self:
        if self.secret is not None and self.url is None:
            raise fault(
                f"Secret `{self.secret}` has credentials for no repository",
                "add `url:`, or remove it: `flux bootstrap` makes a Secret of its own",
                "secret",
            )
        return self


class DeliverySection(Section):
    """The git repository that Flux reads."""

    flux: Flux = Field(
        Flux.model_construct(),
        description="The git repository, branch and folder that Flux reads.",
        examples=[{"url": "ssh://git@github.com/example/clusters"}],
    )


SECTION = DeliverySection
