"""Names of what is made in an account, where the names of other clusters are too: bounded, and each made once.

A name that is joined of two by a dash reads the same where the dash has moved (`a-b` and `c`, `a` and `b-c`), and one
that is cut reads the same as another of the same beginning. Both end in a digest of what they were made of.
"""

from __future__ import annotations

import re
from hashlib import sha256

_DIGITS = 8
_LONGEST_LABEL = 63
LONGEST_BUCKET = 63  # S3 user guide, bucketnamingrules
OWN_BUCKETS = ("loki", "scripts")
"""The words by which buckets of a cluster are called that are no storage of its spec."""

OWN_STACKS = {
    *("network", "nodes", "hyperpod", "budget", "logs", "monitoring", "notifications", "alarms"),
    *("external-secrets", "ebs-csi-controller-sa", "fsx-csi-controller-sa", "s3-csi-driver-sa"),
}
STACKS_OF = {"bucket", "cache", "image", "principal", "secret", "snapshots", "storage", "nodegroup"}
"""What stacks of a cluster are called after its name: words, and those before the name of something of it, eksctl's
too. A cluster's first stack has its name alone."""
_OF_ANOTHER = re.compile(
    rf"(?P<cluster>.+)-(?:(?:{'|'.join(sorted(OWN_STACKS))})|(?:{'|'.join(sorted(STACKS_OF))})-.+)"
)


def other_cluster(name: str) -> str:
    """The cluster that would have a stack of the name that this one's has; empty where none would."""
    found = _OF_ANOTHER.fullmatch(name)
    return found["cluster"] if found else ""


def bounded(name: str, longest: int) -> str:
    """A name of ``longest`` characters at most; one that is cut ends in a digest of the whole."""
    if len(name) <= longest:
        return name
    return _digested(name, name, longest)


def joined(cluster: str, name: str, longest: int, taken: tuple[str, ...] = ()) -> str:
    """The name of something of a cluster, which nothing of another cluster has; ``taken`` are names of the cluster's
    own things, which never have a digest."""
    whole = f"{cluster}-{name}"
    if "-" in name or name in taken:
        return _digested(whole, f"{cluster}/{name}", longest)
    return bounded(whole, longest)


def _digested(name: str, of: str, longest: int) -> str:
    digest = sha256(of.encode()).hexdigest()[:_DIGITS]
    room = longest - _DIGITS - 1
    return f"{name[:room].rstrip('-')}-{digest}"


def part_name(pool: str, reservation: str) -> str:
    """The name of the nodes that a pool has of one of several reservations, which is the value of a label."""
    room = _LONGEST_LABEL - len(reservation) - 1
    return f"{pool[:room].rstrip('-')}-{reservation}"
