from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from trainyard.catalog.ami_families import AmiFamily, of_alias
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.output.manifest import placeholder

_DATED = r"[a-z0-9]+@v(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)\Z"


@rule("HLT057")
def ami_release_impossible(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """The alias of an AMI names a release whose date does not exist, is in the future, or is before the first release.

    Releases of EKS' AL2023 images are called by their day, like `v20260714` (awslabs/amazon-eks-ami, CHANGELOG.md).
    Karpenter finds no image for another one: the EC2NodeClass never gets ready, and no node is launched.

    ## Fails

        platform: {eks: {ami: al2023@v20991231}}

        platform: {eks: {ami: al2023@v20261332}}

        platform: {eks: {ami: al2023@v20200101}}

        platform: {eks: {ami: al2023@v0}}

    ## Passes

        platform: {eks: {ami: al2023@v20260714}}
    """
    alias = node_class.ami_alias or ""
    if placeholder(alias):
        return
    family = of_alias(alias)
    found = re.match(_DATED, alias)
    if found is not None:
        fault = _fault(found, family, world.today)
    elif family is not None and family.by_day and not alias.endswith("@latest"):
        fault = "its releases are called by their day, like `v20260714`"
    else:
        return
    if fault:
        yield Finding(
            f"there is no AMI release `{alias}`: {fault}",
            node_class.where("ami_alias"),
            label="no node is launched",
            help="write a release of awslabs/amazon-eks-ami, or remove it for the release's",
        )


def _fault(found: re.Match[str], family: AmiFamily | None, today: date) -> str:
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return "that is no day"
    if today != date.min and day > today + timedelta(days=1):
        return "that day is still to come"
    first = None if family is None else family.first_day
    if first is not None and day < first:
        return f"the first images of the family came on {first}"
    return ""
