from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.images import runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_OWN = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|host\.docker\.internal|kubernetes\.docker\.internal)(?::\d+)?/"
)


@rule("RUN144", pods=True, containers=True, roles=True)
def image_from_own_host(work: Work) -> Iterator[Finding]:
    """The image of a job is in a registry of the machine on which it was built.

    The node pulls the image itself, and to a node `localhost` is the node: the pull is refused, on every node.

    ## Fails

        jobs: [{name: llama, image: "localhost:5000/train:1.0"}]

    ## Passes

        jobs: [{name: llama, image: "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1.0"}]
    """
    node, image = runs(work)
    if _OWN.match(image):
        yield Finding(
            f"image `{image}` of {work.title} is in a registry of one machine",
            node.where("image"),
            label="no node can pull it",
            help="push it to a registry that nodes reach, like ECR, and write its name there",
        )
