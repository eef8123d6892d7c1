"""How long nodes take to start and to be replaced."""

from __future__ import annotations

from compiler.plan.units import Duration

# A node from nothing: launch, boot, driver, device plugin. Longest seen on bare-metal-sized GPU types.
PROVISION = Duration.minutes(15)
# A 25 GB training image at 40 MB/s from a registry.
PULL = Duration.minutes(10)
# A sick node: 10 minutes until Karpenter repairs it (RepairPolicies, v1.14.1), then as above.
REPAIR = Duration.minutes(10)
RECOVERY = Duration(REPAIR.seconds + PROVISION.seconds + PULL.seconds)
# Containers, the rendezvous and NCCL's own start; what the program does besides, nobody knows before.
START = Duration.minutes(1)
