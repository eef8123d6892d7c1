"""Settings of Slurm: what ParallelCluster sets itself (CustomSlurmSettingsValidator)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.diagnostics.near import meant
from compiler.platforms.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
    resources_of,
)
from compiler.verify.fault import Fault, never_works, refused

# pcluster/validators/slurm_settings_validator.py: SLURM_SETTINGS_DENY_LIST, in lower case.
_CLUSTER = frozenset((
    "epilog", "grestypes", "launchparameters", "prolog", "reconfigflags", "resumefailprogram",
    "resumeprogram", "resumetimeout", "slurmctldhost", "slurmctldlogfile", "slurmctldparameters",
    "slurmdlogfile", "slurmuser", "suspendexcnodes", "suspendprogram", "suspendtime", "taskplugin",
    "treewidth",
))  # fmt: skip
_ACCOUNTED = frozenset((
    "accountingstoragetype", "accountingstoragehost", "accountingstorageport", "accountingstorageuser",
    "jobacctgathertype",
))  # fmt: skip
_QUEUE = frozenset(
    ("nodes", "partitionname", "resumetimeout", "state", "suspendtime", "oversubscribe")
)
_RESOURCE = frozenset(("cpus", "gres", "nodeaddr", "nodehostname", "nodename", "state", "weight"))
_INSTEAD = {
    "suspendtime": "write `ScaledownIdletime` in minutes instead",
    "resumetimeout": "write `DevSettings.Timeouts.ComputeNodeBootstrapTimeout` in seconds instead",
    "oversubscribe": "write `JobExclusiveAllocation: true` of the queue instead",
}


def faults(body: dict[str, Any]) -> Iterator[Fault]:
    settings = Part(body).below("Scheduling", "SlurmSettings")
    denied = _CLUSTER | (_ACCOUNTED if settings.has("Database") else frozenset())
    for part in settings.items("CustomSlurmSettings"):
        yield from _denied(part, denied)
    for queue in queues_of(body):
        yield from _denied(queue.below("CustomSlurmSettings"), _QUEUE)
        for resource in resources_of(queue):
            own = resource.below("CustomSlurmSettings")
            yield from _denied(own, _RESOURCE)
            yield from _unknown(own)
    yield from _memory(settings)
    if settings.has("Database") and settings.has("ExternalSlurmdbd"):
        yield refused(
            settings.at("ExternalSlurmdbd"),
            "`Database` and `ExternalSlurmdbd` cannot be given together",
            "keep one of the two",
            key=True,
        )


def _denied(part: Part, names: frozenset[str]) -> Iterator[Fault]:
    if not isinstance(part.body, dict):
        return
    for name in part.body:
        if str(name).lower() in names:
            yield refused(
                part.at(name),
                f"ParallelCluster sets `{name}` itself, and refuses it here",
                _INSTEAD.get(str(name).lower(), "remove it"),
                key=True,
            )


# Slurm documentation, slurm.conf, node configuration (25.05), and what ParallelCluster itself refuses.
_OF_NODES = _RESOURCE | frozenset((
    "bcastaddr", "boards", "corespeccount", "corespersocket", "cpubind", "cpuspeclist", "feature",
    "features", "memspeclimit", "parameters", "port", "procs", "realmemory", "reason",
    "restrictedcorespergpu", "sockets", "socketsperboard", "threadspercore", "tmpdisk", "topology",
    "tresweights",
))  # fmt: skip


def _unknown(part: Part) -> Iterator[Fault]:
    """Parameters that nodes do not have: ``slurmctld`` ends with "Parsing error at unrecognized key" (22.05.8)."""
    if not isinstance(part.body, dict):
        return
    for name in part.body:
        if str(name).lower() not in _OF_NODES:
            gpus = str(name).lower() in ("gpu", "gpus")
            yield never_works(
                part.at(name),
                f"nodes of Slurm have no parameter `{name}`, and `slurmctld` does not start with it",
                _GPUS if gpus else meant(str(name), _OF_NODES) or "remove it",
                key=True,
            )


_GPUS = "remove it: ParallelCluster writes `Gres=gpu:…` by the instance type; jobs ask by `--gres=gpu:8`"


def _memory(settings: Part) -> Iterator[Fault]:
    """With memory-based scheduling ParallelCluster writes ``SelectTypeParameters=CR_CPU_Memory``."""
    if settings.get("EnableMemoryBasedScheduling") is not True:
        return
    for part in settings.items("CustomSlurmSettings"):
        for name in part.body:
            if str(name).lower() == "selecttypeparameters":
                yield never_works(
                    part.at(name),
                    "`EnableMemoryBasedScheduling` sets `SelectTypeParameters` too, and one of the two is lost",
                    "remove it: ParallelCluster writes `CR_CPU_Memory`",
                    key=True,
                    warning=True,
                )
