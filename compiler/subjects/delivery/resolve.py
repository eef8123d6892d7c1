"""Delivery: which charts are installed with which values, and in which order Flux applies what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from compiler.plan import PlanNode
from compiler.plan.units import Duration
from compiler.resolve.context import SPEC, Context
from compiler.source import Route
from compiler.subjects.delivery.plan import (
    GitSource,
    HelmRelease,
    HelmSource,
)
from compiler.subjects.delivery.spec import DeliverySection
from compiler.subjects.delivery.stages import FLUX, folder, root_stage, stage
from compiler.subjects.health.spec import HealthSection
from compiler.subjects.jobs.plan import NEURON
from compiler.subjects.pools.daemons import (
    AGENT_REQUESTS,
    DCGM_REQUESTS,
    PLUGIN_REQUESTS,
)
from compiler.subjects.pools.pools import GPU_PRESENT, Pool, resolve_pools
from compiler.subjects.queues.plan import QueueManager
from compiler.subjects.queues.resolve import queue_manager
from compiler.subjects.storage.spec import StorageSection
from compiler.subjects.system import availability

# An agent runs on every pool, whatever its taints: a list of them would be another one with each pool that comes.
_REACH = [{"operator": "Exists"}]


def resolve(context: Context) -> Iterator[PlanNode]:
    """Charts with their sources, the repository, and the stages that carry the charts."""
    manager = context.once(queue_manager)
    pools = context.once(resolve_pools)
    sources, releases = helm(context, pools, manager, kueue_configuration(manager))
    yield from sources
    yield from releases
    yield from git_sources(context)
    if DeliverySection.of(context.spec).flux.url is None:
        source = DeliverySection.of(context.spec).flux.source
        context.external.add(
            ("source.toolkit.fluxcd.io/v1", "GitRepository", FLUX, source)
        )
    yield root_stage(context)
    yield stage(context, "crds", None, prune=False)
    yield stage(context, "controllers", "crds", timeout=Duration.minutes(15))


def helm(
    context: Context,
    pools: Mapping[str, Pool],
    manager: QueueManager,
    config: Mapping[str, Any],
) -> tuple[tuple[HelmSource, ...], tuple[HelmRelease, ...]]:
    """Every chart that this compilation needs: its source and its release. ``config`` is Kueue's configuration."""
    wanted = [
        ("karpenter-crd", SPEC / "nodePools", {}, ()),
        ("karpenter", SPEC / "nodePools", karpenter_values(context), ()),
        ("jobset", SPEC / "jobs", jobset_values(), ()),
        ("trainer", SPEC / "jobs", trainer_values(), ("jobset",)),
        # After the kinds that it is to watch: an integration whose CRD is missing at the start may stay off.
        ("kueue", manager.at, kueue_values(config), ("jobset", "trainer")),
    ]
    if any(pool.instance.gpus for pool in pools.values()):
        wanted.append(("nvidia-device-plugin", SPEC / "nodePools", nvidia_values(), ()))
    if any(pool.share.resource == NEURON for pool in pools.values()):
        wanted.append(("neuron-helm-chart", SPEC / "nodePools", neuron_values(), ()))
    if any(pool.efa for pool in pools.values()):
        wanted.append(
            ("aws-efa-k8s-device-plugin", SPEC / "nodePools", efa_values(), ())
        )
    if HealthSection.of(context.spec).health.monitoring_agent:
        wanted.append(
            ("eks-node-monitoring-agent", SPEC / "health", agent_values(), ())
        )
    if any(each.fsx_lustre for each in StorageSection.of(context.spec).storage):
        wanted.append(("aws-fsx-csi-driver", SPEC / "storage", csi_values(), ()))
    if any(each.s3 for each in StorageSection.of(context.spec).storage):
        wanted.append(
            ("aws-mountpoint-s3-csi-driver", SPEC / "storage", csi_values(), ())
        )
    return _sources(context, [name for name, *_ in wanted]), tuple(
        _release(context, *each) for each in wanted
    )


def _release(
    context: Context,
    component: str,
    at: Route,
    values: Mapping[str, Any],
    after: tuple[str, ...],
) -> HelmRelease:
    chart = context.release.charts[component]
    return HelmRelease(
        at=at,
        name=component,
        namespace=FLUX,
        target=chart.namespace,
        chart=chart.name,
        version=_chart_version(context, component),
        source=_source_name(context, component),
        oci=chart.kind == "oci",
        values=values,
        depends_on=after,
        crds=component != "karpenter",
    )


def _chart_version(context: Context, component: str) -> str:
    return context.version(component.removesuffix("-crd"))


def _source_name(context: Context, component: str) -> str:
    chart = context.release.charts[component]
    return (
        component
        if chart.kind == "oci"
        else chart.repository.split("//")[1].replace("/", "-").replace(".", "-")
    )


def _sources(context: Context, components: list[str]) -> tuple[HelmSource, ...]:
    found: dict[str, HelmSource] = {}
    for component in components:
        chart, name = (
            context.release.charts[component],
            _source_name(context, component),
        )
        oci = chart.kind == "oci"
        found.setdefault(
            name,
            HelmSource(
                at=SPEC / "release",
                name=name,
                namespace=FLUX,
                url=chart.repository,
                oci=oci,
                version=_chart_version(context, component) if oci else "",
            ),
        )
    return tuple(found.values())


def interruption_queue(cluster: str) -> str:
    """The SQS queue of spot interruptions, rebalances and health events."""
    return f"Karpenter-{cluster}"


def karpenter_values(context: Context) -> dict[str, Any]:
    """karpenter 1.14.1 chart values, with the gates of all that a pool may be."""
    return {
        "settings": {
            "clusterName": context.name,
            "interruptionQueue": interruption_queue(context.name),
            "featureGates": {
                "nodeRepair": HealthSection.of(context.spec).health.repair,
                "reservedCapacity": True,
                "staticCapacity": True,
                "nodeOverlay": True,
            },
        },
        "serviceAccount": {"create": True, "name": "karpenter"},
        "controller": {
            "resources": {
                "requests": {"cpu": "1", "memory": "1Gi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            }
        },
    }


def kueue_configuration(manager: QueueManager) -> dict[str, Any]:
    """The manager's configuration (config.kueue.x-k8s.io/v1beta2; other fields as Kueue 0.19.2 releases them)."""
    ready: dict[str, Any] = {}
    if manager.pods_ready is not None:
        ready["timeout"] = str(manager.pods_ready)
    if manager.recovery is not None:
        ready["recoveryTimeout"] = str(manager.recovery)
    ready["blockAdmission"] = False
    ready["requeuingStrategy"] = {
        "timestamp": "Eviction",
        **(
            {"backoffBaseSeconds": manager.requeue_backoff.seconds}
            if manager.requeue_backoff
            else {}
        ),
        **(
            {"backoffLimitCount": manager.requeue_limit}
            if manager.requeue_limit is not None
            else {}
        ),
    }
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {
            "leaderElect": True,
            "resourceName": "c1f6bfd2.kueue.x-k8s.io",
        },
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
        **(
            {
                "fairSharing": {
                    "preemptionStrategies": list(manager.preemption_strategies)
                }
            }
            if manager.fair_sharing
            else {}
        ),
        "integrations": {"frameworks": list(manager.frameworks)},
        **(
            {"resources": {"excludeResourcePrefixes": list(manager.excluded_prefixes)}}
            if manager.excluded_prefixes
            else {}
        ),
    }


def kueue_values(config: Mapping[str, Any]) -> dict[str, Any]:
    """kueue 0.19.2 chart values; the configuration is a string there."""
    return {
        "controllerManager": availability.kueue(),
        "managerConfig": {"controllerManagerConfigYaml": _yaml(json.dumps(config))},
    }


@lru_cache(64)
def _yaml(config: str) -> str:
    """YAML of a value in JSON: the clusters of a fleet share theirs."""
    import yaml

    text: str = yaml.safe_dump(
        json.loads(config), sort_keys=False, default_flow_style=False
    )
    return text


def jobset_values() -> dict[str, Any]:
    """jobset 0.12.0 chart values."""
    return {"controller": availability.jobset()}


def trainer_values() -> dict[str, Any]:
    """kubeflow-trainer chart values: JobSet has its own release, runtimes are ours."""
    return {
        "jobset": {"install": False},
        "runtimes": {"defaultEnabled": False},
        "dataCache": {"enabled": False},
        "manager": availability.trainer(),
    }


def nvidia_values() -> dict[str, Any]:
    """nvidia-device-plugin 0.20.0 chart values. MOFED mounts would fight the EFA plugin for /dev/infiniband."""
    return {
        "gfd": {"enabled": False},
        "mofedEnabled": False,
        "tolerations": _REACH,
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {
                                    "key": GPU_PRESENT,
                                    "operator": "In",
                                    "values": ["true"],
                                }
                            ]
                        },
                    ]
                }
            }
        },
        "resources": {
            "requests": PLUGIN_REQUESTS,
            "limits": {"memory": PLUGIN_REQUESTS["memory"]},
        },
    }


def neuron_values() -> dict[str, Any]:
    """neuron-helm-chart values: the device plugin alone. Node health has its own detectors here."""
    return {
        "devicePlugin": {"enabled": True, "tolerations": _REACH},
        "npd": {"enabled": False},
        "scheduler": {"enabled": False},
    }


def efa_values() -> dict[str, Any]:
    """aws-efa-k8s-device-plugin v0.5.30 chart values; its default tolerations are none."""
    return {
        "tolerations": _REACH,
        "resources": {
            "requests": PLUGIN_REQUESTS,
            "limits": {"memory": PLUGIN_REQUESTS["memory"]},
        },
    }


def agent_values() -> dict[str, Any]:
    """eks-node-monitoring-agent 1.7.0 chart values.

    Without tolerations there is no DCGM server on tainted nodes, the agent reports DCGMError, and Karpenter
    deletes healthy nodes after ten minutes (aws/containers-roadmap #2567).
    """
    return {
        "nodeAgent": {
            "resources": {
                "requests": AGENT_REQUESTS,
                "limits": {"memory": AGENT_REQUESTS["memory"]},
            },
            # IPoIB interfaces of P6 look down to 1.7.0 (eks-node-monitoring-agent 51af549); other types have none.
            "monitors": {"networking": {"excludedInterfaceNameRegexps": ["^ibp.*"]}},
        },
        "dcgmAgent": {
            "tolerations": _REACH,
            # No limit, as in the chart: with eight GPUs 512 MiB are at times too few (pytorch/ci-infra#1011), and a
            # host engine that is killed for it is a DCGMError as well.
            "resources": {"requests": DCGM_REQUESTS},
        },
    }


def csi_values() -> dict[str, Any]:
    """FSx and Mountpoint CSI charts: their node pods must reach every tainted pool."""
    return {"node": {"tolerateAllTaints": True}}


def git_sources(context: Context) -> tuple[GitSource, ...]:
    """The repository, where the spec names its URL; else the one that Flux was bootstrapped with."""
    flux = DeliverySection.of(context.spec).flux
    if flux.url is None:
        return ()
    return (
        GitSource(
            at=SPEC / "flux",
            name=flux.source,
            namespace=FLUX,
            url=flux.url,
            branch=flux.branch,
            secret=git_secret(context),
        ),
    )


def git_secret(context: Context) -> str | None:
    """The Secret with which Flux reads the repository that the spec names; a public one needs none."""
    url, given = (
        DeliverySection.of(context.spec).flux.url,
        DeliverySection.of(context.spec).flux.secret,
    )
    return given or (FLUX if url is not None and url.startswith("ssh://") else None)


def flux_folder(context: Context) -> str:
    """Where `flux bootstrap` may write its own manifests: a folder that neither holds nor lies in the cluster's, for
    Flux applies whatever it finds below, and a folder that Trainyard did not write is never touched."""
    ours = folder(context)
    choices = (f"{top}/{context.name}" for top in ("clusters", "flux", "bootstrap"))
    return next(
        each
        for each in choices
        if not f"{ours}/".startswith(f"{each}/") and not each.startswith(f"{ours}/")
    )
