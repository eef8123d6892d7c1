"""What HyperPod runs once on each new node (SageMaker API, ClusterLifeCycleConfig)."""

from __future__ import annotations

import hashlib
from functools import cache

ON_CREATE = "on_create.sh"
"""The name of the script."""
LIFECYCLE_SCRIPT = """\
#!/bin/bash
# HyperPod runs this on each new node, and keeps what it prints in CloudWatch: what a node has is written there before
# any job lands on it. No node is refused for it, since HyperPod tests nodes itself.
set -uo pipefail
shown() { echo "+ $*"; "$@" 2>&1 || echo "  ended with status $?"; }
shown uname --kernel-release
shown nproc
shown free --gibi
shown lsblk --output NAME,SIZE,TYPE,MOUNTPOINT
command -v nvidia-smi >/dev/null && shown nvidia-smi --list-gpus
[ ! -d /sys/class/infiniband ] || shown ls /sys/class/infiniband
exit 0
"""


@cache
def lifecycle_digest() -> str:
    """Twelve hex digits of it: another script lies at another place, and nodes that run keep theirs."""
    return hashlib.sha256(LIFECYCLE_SCRIPT.encode()).hexdigest()[:12]
