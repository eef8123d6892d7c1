"""What DaemonSets take of every node: all that the release could ever install, wanted by this spec or not.

So a storage that is added later, or an agent that is switched on, changes no quota, and no job that runs becomes too
large for its node. Each add-on's file says what its DaemonSets ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.catalog import InstanceType, Step
from trainyard.eks import addons
from trainyard.eks.addons.addon import OURS, AddOn, Daemon
from trainyard.eks.nodes.requested import sized
from trainyard.plan.context import Context


def daemons(context: Context, instance: InstanceType) -> list[Daemon]:
    """The DaemonSets that may land on a node of a type. Those that EKS Auto Mode replaces by programs of its nodes are
    among them: what the programs take is not published, and so much is kept free for them."""
    installed = {addon.component for addon in addons.installed(context)}
    possible = []
    for addon in addons.addons().values():
        runs = addon.component in installed
        possible += [
            _sized(context, addon, daemon)
            for daemon in addon.daemons
            if (runs or daemon.kept) and daemon.on(instance)
        ]
        if runs:
            possible += _following(context, addon, instance)
    return possible


def running(context: Context, instance: InstanceType) -> list[Daemon]:
    """The DaemonSets that this cluster runs on a node of a type."""
    found = []
    for addon in addons.installed(context):
        found += [_sized(context, addon, daemon) for daemon in addon.daemons if daemon.on(instance)]
        found += _following(context, addon, instance)
    return found


def _sized(context: Context, addon: AddOn, daemon: Daemon) -> Daemon:
    cpu, memory, _ = sized(context, addon, daemon)
    return replace(daemon, cpu=cpu, memory=memory)


def _following(context: Context, addon: AddOn, instance: InstanceType) -> list[Daemon]:
    """The DaemonSets of an add-on that only some clusters with it have."""
    return [
        _sized(context, addon, daemon) for daemon in addon.agents(context) if daemon.on(instance)
    ]


def total_requests(daemons: Sequence[Daemon]) -> Step:
    """All of them as one subtraction."""
    taking = [daemon for daemon in daemons if daemon.cpu or daemon.memory]
    names = ", ".join(daemon.name for daemon in taking)
    cpu = sum(daemon.cpu for daemon in daemons)
    memory = sum(daemon.memory for daemon in daemons)
    return Step(f"DaemonSets ({names})", cpu, memory, OURS)
