"""How long nodes take to start and to be replaced."""

from __future__ import annotations

from trainyard.language.units import Duration

# A node from nothing: launch, boot, driver, device plugin. Longest seen on bare-metal-sized GPU types.
PROVISION = Duration.minutes(15)
# A 25 GB training image at 40 MB/s from a registry.
PULL = Duration.minutes(10)
# A sick node: 10 minutes until Karpenter repairs it (RepairPolicies, v1.14.1), then as above.
REPAIR = Duration.minutes(10)
RECOVERY = Duration(REPAIR.seconds + PROVISION.seconds + PULL.seconds)
# The controller manager calls a node NotReady whose kubelet is silent for so long (kubernetes 1.36,
# kube-controller-manager --node-monitor-grace-period; EKS publishes no other value).
NOT_READY = Duration(50)
# Its pods are evicted so much later, unless they tolerate that for another time (kubernetes 1.36, admission plugin
# DefaultTolerationSeconds).
TOLERATED = Duration.minutes(5)
# Nodes that stay NotReady, Karpenter repairs later than those with a broken GPU (RepairPolicies, v1.14.1), as EKS does
# those of a managed node group (EKS user guide, node-repair).
REPAIR_SILENT = Duration.minutes(30)
# Containers, the rendezvous and NCCL's own start; what the program does besides, nobody knows before.
START = Duration.minutes(1)
