"""SageMaker HyperPod: nodes that SageMaker launches, tests and replaces, in a cluster of EKS.

It stands on EKS (docs/adr/0026): the cluster, its queues, volumes, jobs and delivery are EKS' features, and what
launches nodes is HyperPod.
"""

from __future__ import annotations

from dataclasses import replace

from trainyard.extensions.hyperpod.differences import INSTEAD, INSTEAD_GOVERNED
from trainyard.plan.features import OF_EXTENSIONS, Platform

__all__ = ["GOVERNED", "PLATFORM"]

_KUEUE = "eks.kueue"
_OWN = Platform(
    "hyperPod",
    (
        "core.network",
        "eks.network",
        "core.pools",
        "eks.nodes",
        "core.teams",
        "eks.teams",
        "core.storage",
        "eks.volumes",
        "core.queues",
        _KUEUE,
        "eks.system",
        "extensions.hyperpod.settings",
        "eks.cluster",
        "core.jobs",
        "eks.runs",
        "eks.jobs",
        "core.secrets",
        OF_EXTENSIONS,
        "eks.secrets",
        "core.delivery",
        "eks.flux",
        "eks.delivery",
        "eks.overrides",
        "eks.bootstrap",
        "extensions.hyperpod.cluster",
        "extensions.hyperpod.bootstrap",
    ),
    instead=INSTEAD,
    stands_on="eks",
    # HyperPod launches and repairs nodes; its chart brings the training operator whose jobs it resumes.
    without=frozenset(
        {"karpenter", "karpenter-crd", "eks-node-monitoring-agent", "training-operator"}
    ),
)

_GOVERNANCE = "extensions.hyperpod.governance"
GOVERNED = replace(
    _OWN,
    listed=tuple(_GOVERNANCE if feature == _KUEUE else feature for feature in _OWN.listed),
    instead={**INSTEAD, **INSTEAD_GOVERNED},
    answers="governed",
    # The add-on has Kueue, and takes no other one.
    without=_OWN.without | {"kueue"},
    # Kueue 0.19.2 (SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-upgrade).
    brings={"amazon-sagemaker-hyperpod-taskgovernance": "v1.6.0-eksbuild.1"},
)
"""HyperPod whose queues SageMaker makes, by ``taskGovernance``."""
PLATFORM = replace(_OWN, by_key={"taskGovernance": GOVERNED})
