"""Kueue, which admits jobs."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from trainyard.eks.addons.addon import AddOn, Controller, Setting
from trainyard.eks.addons.placing import APART, BUDGET, REPLICAS, labels
from trainyard.eks.kueue.plan import GATES, QueueManager
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.output.lowering.body import fields_given
from trainyard.plan.context import SPEC


def configuration(manager: QueueManager) -> dict[str, Any]:
    """The manager's configuration (config.kueue.x-k8s.io/v1beta2; other fields as Kueue 0.19.2 releases them)."""
    ready = {
        "timeout": str(manager.pods_ready),
        "recoveryTimeout": str(manager.recovery),
        "blockAdmission": False,
        "requeuingStrategy": _requeuing(manager),
    }
    settings: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "Job.batch": 5,
                "Pod": 5,
                "Workload.kueue.x-k8s.io": 10,
                "LocalQueue.kueue.x-k8s.io": 5,
                "Cohort.kueue.x-k8s.io": 1,
                "ClusterQueue.kueue.x-k8s.io": 5,
                "ResourceFlavor.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": 300, "burst": 500},
        "waitForPodsReady": ready,
    }
    if manager.fair_sharing:
        strategies = list(manager.preemption_strategies)
        settings["fairSharing"] = {"preemptionStrategies": strategies}
    settings["integrations"] = fields_given(
        frameworks=list(manager.frameworks), externalFrameworks=list(manager.external_frameworks)
    )
    settings["resources"] = {"excludeResourcePrefixes": list(manager.excluded_prefixes)}
    return settings


def _requeuing(manager: QueueManager) -> dict[str, Any]:
    assert manager.requeue_backoff is not None
    return {
        "timestamp": "Eviction",
        "backoffBaseSeconds": manager.requeue_backoff.seconds,
        "backoffLimitCount": manager.requeue_limit,
    }


def values(setting: Setting) -> dict[str, Any]:
    """kueue chart values (0.16.0 to 0.19.2); the configuration is a string there."""
    pods = labels("kueue", "kueue", **{"control-plane": "controller-manager"})
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(pods)},
        }
        for key in APART
    ]
    config = json.dumps(configuration(setting.manager))
    gates = [GATES[name].name for name in setting.manager.frameworks if name in GATES]
    return {
        "controllerManager": {
            **fields_given(
                featureGates=[{"name": gate, "enabled": True} for gate in gates] or None
            ),
            "replicas": REPLICAS,
            "podDisruptionBudget": dict(BUDGET),
            "topologySpreadConstraints": spread,
        },
        "managerConfig": {"controllerManagerConfigYaml": _yaml(config)},
    }


@lru_cache(64)
def _yaml(config: str) -> str:
    """YAML of a value in JSON: the clusters of a fleet share theirs."""
    value = json.loads(config)
    text: str = yaml.dump(value, Dumper=DUMPER, sort_keys=False, default_flow_style=False)
    return text


CONFIGURATION = ("managerConfig", "controllerManagerConfigYaml")
"""The configuration in the values, a text."""
_WAITS = SPEC / "kueue" / "waitForPodsReady"
ADD_ON = AddOn(
    component="kueue",
    at=SPEC / "kueue",
    values=values,
    keys={
        (*CONFIGURATION, "waitForPodsReady"): _WAITS,
        (*CONFIGURATION, "waitForPodsReady", "timeout"): _WAITS / "timeout",
        (*CONFIGURATION, "waitForPodsReady", "recoveryTimeout"): _WAITS / "recoveryTimeout",
        (*CONFIGURATION, "fairSharing"): SPEC / "kueue" / "fairSharing",
    },
    # After the kinds that it is to watch: an integration whose CRD is missing at the start may stay off.
    after=("jobset", "trainer"),
    controllers=(
        Controller(
            "kueue",
            REPLICAS,
            500,
            512,
            "kueue v0.19.2 charts/kueue/values.yaml",
            resources=("controllerManager", "manager", "resources"),
            replicas=("controllerManager", "replicas"),
        ),
    ),
)
