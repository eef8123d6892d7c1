from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.containers import with_images
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_REGISTRY = (
    r"(?P<account>\d{12})\.dkr[.-]ecr(?:-fips)?\.(?:on\.)?(?P<region>[a-z]{2}(?:-[a-z]+)+-\d)\."
)


@rule("RUN151", severity=Severity.WARNING, pods=True, roles=True)
def image_of_other_region(work: Work, world: World) -> Iterator[Finding]:
    """An image lies in an ECR registry of another Region than the cluster.

    Each node pulls it over the border: what leaves a Region is paid for by the GB (Amazon ECR pricing, data transfer),
    it takes longer, and the endpoints of the VPC serve their own Region alone (ECR user guide, vpc-endpoints), so that
    a network without NAT reaches no other one. Replication copies an image once (ECR user guide, replication).

    ## Fails

        jobs: [{name: llama, image: "111122223333.dkr.ecr.eu-west-1.amazonaws.com/train:1.0"}]

        jobs: [{name: llama, initContainers: [{name: fetch, command: [fetch],
          image: "111122223333.dkr.ecr.eu-west-1.amazonaws.com/fetch:1.0"}]}]

    ## Passes

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.0"}]
    """
    region = world.region
    if region not in world.catalog.regions:
        return  # unknown, or PLC001 speaks of it
    for node in with_images(work):
        image = node.image or ""
        if ".dkr" not in image:
            continue
        registry = re.match(_REGISTRY, image)
        if registry is None or registry["region"] == region:
            continue
        if registry["region"] not in world.catalog.regions:
            continue  # RUN038: there is no such registry
        instead = image.replace(registry["region"], region, 1)
        yield Finding(
            f"image `{image}` of {work.title} lies in `{registry['region']}`, and the cluster in `{region}`",
            node.where("image"),
            label="each node pulls it over the border",
            help=f"replicate it, and write `{instead}`",
        )
