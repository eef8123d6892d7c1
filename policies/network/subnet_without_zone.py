from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("PLC026", kinds=("eksctl.io/ClusterConfig",))
def subnet_without_zone(manifest: Manifest) -> Iterator[Finding]:
    """A subnet of a cluster says neither its zone nor which subnet it is.

    eksctl 0.230 knows a subnet by `id` or `cidr`, and takes its key for the zone where it has no `az`; a key that is
    no zone leaves nothing to find it by.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {id: vpc-0a1b2c3d4e5f60718, subnets: {private: {subnet-0a1b2c3d4e5f60718: {}}}}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {id: vpc-0a1b2c3d4e5f60718, subnets: {private: {us-west-2a: {id: subnet-0a1b2c3d4e5f60718}}}}
    """
    for side in ("private", "public"):
        subnets = value_at(manifest.body, "vpc", "subnets", side)
        for name, subnet in subnets.items() if isinstance(subnets, dict) else ():
            known = any(value_at(subnet, key) for key in ("az", "id", "cidr"))
            if not known and not re.match(_ZONE, str(name)):
                yield Finding(
                    f"subnet `{name}` has no zone",
                    Route((manifest.id, "vpc", "subnets", side, name)),
                    key=True,
                    help=f"write `{{az: …, id: {name}}}`, or the zone as its key",
                )


_ZONE = r"[a-z]{2}(-[a-z]+)+-[0-9][a-z]\Z"
