"""A list of tasks for each job, and one of the machines."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.rack.machines.plan import Machines
from trainyard.extensions.rack.tasks.plan import Task
from trainyard.output import Artifact
from trainyard.plan import Plan


def lower(plan: Plan) -> Iterator[Artifact]:
    """The files of a cluster."""
    for machines in plan.of(Machines):
        body = {
            "machines": machines.name,
            "types": list(machines.instance_types or ()),
            "zones": list(machines.zones or ()),
            "count": machines.limits["nodes"].value,
            "efa": machines.efa,
        }
        origins = {("count",): machines.where("limits")}
        yield Artifact(body, f"machines/{machines.name}.yaml", machines.at, origins, format="rack")
    for task in plan.of(Task):
        body = {
            "task": task.name,
            "namespace": task.namespace,
            "pool": task.pool,
            "machines": task.nodes,
            "image": task.image,
            "command": list(task.command),
            "env": {entry.name: entry.value for entry in task.env},
            "requests": {name: str(amount) for name, amount in task.requests.items()},
            "queue": task.queue,
        }
        origins = {
            ("machines",): task.where("nodes"),
            ("image",): task.where("image"),
            ("command",): task.where("command"),
            ("requests",): task.where("requests"),
            ("queue",): task.where("queue"),
        }
        yield Artifact(
            body, f"tasks/{task.namespace}.{task.name}.yaml", task.at, origins, format="rack"
        )
