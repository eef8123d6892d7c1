from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import RepositoryStack
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC015", severity=Severity.WARNING)
def ecr_tags_mutable(repository: RepositoryStack) -> Iterator[Finding]:
    """A tag of an ECR repository can be moved to another image.

    So a job that names the tag runs another image on the nodes that pull later, in the middle of a run too, and whoever
    may push replaces what others run. `MUTABLE` is ECR's default (ECR user guide, image-tag-mutability). Tags that
    match an exclusion may move.

    ## Fails

        Resources:
          Train:
            Type: AWS::ECR::Repository
            Properties: {RepositoryName: research/train}

        Resources:
          Train:
            Type: AWS::ECR::Repository
            Properties: {RepositoryName: research/train, ImageTagMutability: MUTABLE}

    ## Passes

        Resources:
          Train:
            Type: AWS::ECR::Repository
            Properties: {RepositoryName: research/train, ImageTagMutability: IMMUTABLE}

        Resources:
          Train:
            Type: AWS::ECR::Repository
            Properties: {ImageTagMutability: !Ref Mutability}
    """
    if "mutability" in repository.unread:
        return
    if (repository.mutability or "MUTABLE").startswith("MUTABLE"):
        yield Finding(
            f"tags of repository `{repository.name or repository.logical}` can be moved to another image",
            repository.where("mutability"),
            label="another image under one name",
            help=worded(
                repository,
                "write `ImageTagMutability: IMMUTABLE`",
                'write `image_tag_mutability = "IMMUTABLE"`',
            ),
        )
