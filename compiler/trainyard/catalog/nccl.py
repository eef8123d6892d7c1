"""Measured NCCL all-reduce between instances: the bus bandwidth of ``all_reduce_perf``, in GB/s (10^9 bytes).

Between two nodes NCCL's tree exceeds what the network carries (NVIDIA/nccl-tests#22), so that a measurement there says
nothing of more nodes; between those the bus bandwidth is at most the network's (nccl-tests, doc/PERFORMANCE.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainyard.catalog.instance import InstanceType


class Bandwidth(NamedTuple):
    """A bus bandwidth in GB/s, of messages of so many bytes, with its source."""

    gb_s: float
    message: int
    source: str


_README = "aws-samples/awsome-distributed-training 7217859, micro-benchmarks/nccl-tests/README.md"
MEASURED: Mapping[str, Bandwidth] = {
    "p4de.24xlarge": Bandwidth(78.33, 2 * 1024**3, _README),
    "p5.48xlarge": Bandwidth(487.09, 16 * 1024**3, _README),
}
"""Between two nodes."""

_LARGE, _SMALL = 16 * 1024**3, 2 * 1024**3
_ROOM = 64 * 1024  # MiB: a test holds three buffers of its largest message


def expected(instance: InstanceType, nodes: int) -> Bandwidth | None:
    """What to expect between so many nodes; ``None`` where it is not known: the network is then not what bounds it.

    Without a measurement it is the rate of the network, for types whose GPUs have NVLink among themselves and reach
    the network directly.
    """
    measured = MEASURED.get(instance.name)
    if nodes == 2 and measured is not None:
        return measured
    if not instance.nvlink or not instance.gpudirect_rdma:
        return None
    if not instance.network_gbps:
        return None
    if instance.accelerator_memory_mib >= _ROOM:
        message = _LARGE
    else:
        message = _SMALL
    return Bandwidth(instance.network_gbps / 8, message, "EC2 DescribeInstanceTypes NetworkInfo")


def largest(instance: InstanceType) -> int:
    """The largest message of a test in bytes, which its buffers leave room for."""
    if instance.accelerator_memory_mib >= _ROOM:
        return _LARGE
    return _SMALL
