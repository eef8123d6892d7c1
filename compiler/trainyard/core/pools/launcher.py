"""What launches the nodes of a pool: a controller in the cluster, a cloud service, or a scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainyard.language.units import Duration


class Launcher:
    """One way to launch nodes. The platform says which one a pool has, and what else it knows of it."""

    name: ClassVar[str]
    """What pages and reasons call it."""
    own_label: ClassVar[bool] = False
    """Whether its nodes have the name of their pool as a label of ours, since nothing else names it on them."""
    ready_labels: ClassVar[Mapping[str, str]] = {}
    """Labels by which it says that a node of its own may run jobs."""
    block_notice: ClassVar[Duration] = Duration.minutes(30)
    """How long before the end of a Capacity Block its nodes go; by itself EC2 begins to end them then."""
    block_source: ClassVar[str] = "EC2 user guide, Capacity Blocks"
    """Where that stands."""
    disks_at: ClassVar[str] = ""
    """Where its nodes have their NVMe disks beside what pods write, which lies on a root volume whose size nobody says.
    Empty: pods, images and logs lie on them, or on the `rootVolume` of the pool."""
    untested: ClassVar[str] = ""
    """Why no test can hold new nodes back, where that is so."""
