from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from trainyard.core.pods.plan import Container
from trainyard.judge.model.containers import with_images
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.near import near
from trainyard.output.manifest import placeholder

# ECR user guide, Amazon ECR private registry: the registry's name in a dual-stack, a FIPS and a plain form; public
# registries are public.ecr.aws.
_PRIVATE = (
    r"\d{12}\.(?:dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.(?:com|com\.cn|eu)"
    r"|dkr-ecr(?:-fips)?\.(?P<dual>[a-z0-9-]+)\.on\.(?:aws|amazonwebservices\.com\.cn))\Z"
)
_MEANT = r"(^|\.)(dkr|drk|kdr|ecr|dkr-ecr)\.|\.ecr\b|^\d{10,14}\."
_PUBLIC = ("public.ecr.aws", "ecr-public.aws.com")


@rule("RUN038", aliases=("registry-of-nobody",), pods=True, roles=True)
def ecr_registry_invalid(work: Work, world: World) -> Iterator[Finding]:
    """An image is in an ECR registry that cannot exist.

    A private registry is `ACCOUNT.dkr.ecr.REGION.amazonaws.com` (`.com.cn` in China), with twelve digits and a Region
    that there is (ECR user guide, private registry). A slip in it is `no such host` on each node, and the pods stay in
    ImagePullBackOff with their nodes paid for.

    ## Fails

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-wset-2.amazonaws.com/train:1.0"}]

        jobs: [{name: llama, image: "11112222333.dkr.ecr.us-west-2.amazonaws.com/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.ecr.us-west-2.amazonaws.com/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-west-2.amazonws.com/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-west-2.amazonaws.com.cn/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr-ecr.us-west-2.on.amazonwebservices.com.cn/train:1.0"}]

        jobs: [{name: llama, initContainers: [{name: fetch, command: [fetch],
          image: "111122223333.dkr.ecr.us-wset-2.amazonaws.com/fetch:1.0"}]}]

    ## Passes

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr-ecr.us-west-2.on.aws/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/train:1.0"}]

        jobs: [{name: llama, image: "111122223333.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn/train:1.0"}]

        jobs: [{name: llama, image: "public.ecr.aws/team/train:1.0"}]
    """
    for node in with_images(work):
        yield from _found(work, world, node)


@lru_cache(maxsize=1024)
def _is_meant(host: str) -> bool:
    """Whether a host is meant for a registry of ECR: most jobs of a set have the same."""
    return not placeholder(host) and re.search(_MEANT, host) is not None


def _found(work: Work, world: World, node: Work | Container) -> Iterator[Finding]:
    image = node.image or ""
    host, slash, _ = image.partition("/")
    if not slash or host in _PUBLIC or not _is_meant(host):
        return
    registry = re.match(_PRIVATE, host)
    if registry is None:
        yield Finding(
            f"image `{image}` of {work.title} is in no registry of ECR: `{host}`",
            node.where("image"),
            label="no such host",
            help="write `ACCOUNT.dkr.ecr.REGION.amazonaws.com`, ACCOUNT with 12 digits",
        )
        return
    region = registry["region"] or registry["dual"]
    known = world.catalog.regions
    if region not in known:
        for meant in near(region, known, limit=1):
            yield Finding(
                f"image `{image}` of {work.title} is in region `{region}`, which does not exist",
                node.where("image"),
                label="no such host",
                help=f"did you mean `{meant}`?",
            )
        return
    domain = _domain(region, is_dual=registry["dual"] is not None)
    if not host.endswith(domain):
        before = host.partition(region)[0]
        yield Finding(
            f"image `{image}` of {work.title} is in region `{region}`, whose registries end in `{domain}`",
            node.where("image"),
            label="no such host",
            help=f"write `{before}{region}{domain}`",
        )


def _domain(region: str, *, is_dual: bool) -> str:
    """What follows a Region in the names of its registries."""
    if region.startswith("cn-"):
        return ".on.amazonwebservices.com.cn" if is_dual else ".amazonaws.com.cn"
    return ".on.aws" if is_dual else ".amazonaws.com"
