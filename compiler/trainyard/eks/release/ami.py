"""The EKS optimized image that nodes boot, as a release of its alias for a version of Kubernetes."""

from __future__ import annotations

from trainyard.plan.context import Context


def ami_build(context: Context) -> tuple[str, str | None]:
    """The alias that nodes boot, and the release of its image as EKS names it; ``None`` where it is not known.

    It is the alias that the spec pins, where its builds are known, else that of the release. One release has an image
    of each variant (awslabs/amazon-eks-ami, releases).
    """
    ami = context.release.components["ami"]
    alias = context.version("ami")
    if alias not in ami.images:
        alias = context.release.version("ami")
    return alias, ami.images[alias].get(context.version("kubernetes"))
