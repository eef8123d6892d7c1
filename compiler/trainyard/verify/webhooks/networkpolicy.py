"""NetworkPolicy (k8s.io/kubernetes v1.36, pkg/apis/networking/validation ValidateNetworkPolicyPeer)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = "networking.k8s.io"
_PEERS = ("podSelector", "namespaceSelector", "ipBlock")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    for direction, field in (("ingress", "from"), ("egress", "to")):
        for number, allowed in enumerate(mappings_at(body, "spec", direction)):
            for index, peer in enumerate(mappings_at(allowed, field)):
                if all(peer.get(name) is None for name in _PEERS):
                    yield refused(
                        ("spec", direction, number, field, index),
                        "a peer that is nobody",
                        f"write `podSelector: {{}}` for all pods, or leave `{field}` out for everybody",
                    )
