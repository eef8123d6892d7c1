"""The command of the network's acceptance test."""

from collections.abc import Mapping
from typing import Any

# The tag that NVIDIA's own validator runs on EKS (NVIDIA/aicr bc05c6b, validators/performance/testdata/h100/eks).
IMAGE = (
    "public.ecr.aws/hpc-cloud/nccl-tests:cuda12.8.1-efa1.43.2-ofiv1.16.3-ncclv2.27.7-1-testsv2.16.9"
)


# Where the image of AWS has what the test runs (aws-samples/awsome-distributed-training 7217859, nccl-tests.yaml).
SCRIPT = """\
set -euo pipefail
PATH=$PATH:/opt/amazon/openmpi/bin:/opt/amazon/efa/bin:/opt/nccl-tests/build
mpirun=$(command -v mpirun)
"$mpirun" -N 1 "$(command -v fi_info)" -p efa -t FI_EP_RDM > /tmp/fi_info.log
echo "EFA: $(grep -c 'provider: efa' /tmp/fi_info.log) interfaces of all nodes"
"$mpirun" -N 1 /bin/bash -c 'ulimit -l' | sort | uniq -c | awk '{ print $1 " nodes may lock memory: " $2 " KiB" }'
"$mpirun" --bind-to none "$(command -v all_reduce_perf)" \\
  -b 8M -e "$NCCL_TEST_MESSAGE" -f 2 -g 1 -c 1 -n 20 | tee /tmp/nccl-test.log
grep -q 'Out of bounds values *: *0 OK' /tmp/nccl-test.log
reached=$(awk '$1 ~ /^[0-9]+$/ { busbw = $8 } END { print busbw + 0 }' /tmp/nccl-test.log)
echo "bus bandwidth $reached GB/s, expected $NCCL_TEST_EXPECTED, at least $NCCL_TEST_AT_LEAST"
awk -v reached="$reached" -v least="$NCCL_TEST_AT_LEAST" 'BEGIN { exit !(reached >= least) }'
"""


FILLS: Mapping[str, Any] = {"image": IMAGE, "command": ["/bin/bash", "-c", SCRIPT]}
"""What a job with this launcher need not say."""
