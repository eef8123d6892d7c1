"""Settings of Slurm: what ParallelCluster sets itself (CustomSlurmSettingsValidator)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
    resources_of,
)
from trainyard.extensions.parallelcluster.formats.parallelcluster.slurm_conf import (
    largest,
    names,
    parameters,
    unknown_plugin,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.output.manifest import placeholder
from trainyard.verify.fault import Fault, never_works, refused

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
        yield from _of_settings(part, "cluster", denied)
    for queue in queues_of(body):
        yield from _of_settings(queue.below("CustomSlurmSettings"), "partition", _QUEUE)
        for resource in resources_of(queue):
            own = resource.below("CustomSlurmSettings")
            yield from _of_settings(own, "node", _RESOURCE)
    yield from _memory(settings)
    if settings.has("Database") and settings.has("ExternalSlurmdbd"):
        yield refused(
            settings.at("ExternalSlurmdbd"),
            "`Database` and `ExternalSlurmdbd` cannot be given together",
            "keep one of the two",
            key=True,
        )


def _of_settings(part: Part, where: str, denied: frozenset[str]) -> Iterator[Fault]:
    """What is wrong with each parameter: ParallelCluster sets it itself (``denied``), or ``slurmctld`` does not start
    with it. ``where`` is ``cluster``, ``partition`` or ``node``."""
    if not isinstance(part.body, dict):
        return
    for key, value in part.body.items():
        name = str(key)
        if name.lower() in denied:
            yield refused(
                part.at(key),
                f"ParallelCluster sets `{name}` itself, and refuses it here",
                _INSTEAD.get(name.lower(), "remove it"),
                key=True,
            )
        elif name.lower() not in parameters(where):
            yield _unknown(part, key, where)
        elif isinstance(value, str | int) and not placeholder(str(value)):
            yield from _wrong_value(part, name, value, where)


def _unknown(part: Part, key: str | int, where: str) -> Fault:
    name = str(key)
    is_gpus = where == "node" and name.lower() in ("gpu", "gpus")
    return never_works(
        part.at(key),
        f"{_WHOSE[where]} have no parameter `{name}`, and `slurmctld` does not start with it",
        _GPUS if is_gpus else name_meant(name, names(where)) or "remove it",
        key=True,
    )


def _wrong_value(part: Part, name: str, value: str | int, where: str) -> Iterator[Fault]:
    most = largest(where, name, value)
    plugin = unknown_plugin(name, value)
    only = _ONLY.get(name.lower())
    if most is not None:
        yield never_works(
            part.at(name),
            f"`{name}` is `{value}`, and Slurm takes a whole number up to {most:,}",
            f"write a number from 0 to {most:,}, or `UNLIMITED`",
        )
    elif plugin is not None:
        unknown, known = plugin
        yield never_works(
            part.at(name),
            f"Slurm has no plugin `{unknown}` for `{name}`, and `slurmctld` does not start",
            name_meant(unknown, known) or f"write one of {listed(known)}",
        )
    elif only is not None and str(value) != only[0]:
        needed, why = only
        yield never_works(part.at(name), f"`{name}` is `{value}`: {why}", f"write `{needed}`")


_WHOSE = {
    "cluster": "clusters of Slurm",
    "partition": "partitions of Slurm",
    "node": "nodes of Slurm",
}
_MUNGE = "ParallelCluster gives every node the key of MUNGE, and no other proof of who asks"
_ONLY = {
    "authtype": ("auth/munge", _MUNGE),
    "credtype": ("cred/munge", _MUNGE),
    "selecttype": ("select/cons_tres", "only `select/cons_tres` gives jobs their GPUs"),
}
"""What the rest of a cluster is set up for (aws-parallelcluster-cookbook 3.16, slurm.conf; Slurm, gres.html: ``--gpus``
and its kin need ``select/cons_tres``)."""
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
