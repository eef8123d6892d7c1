"""A training job together with everything that it will run by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.catalog import InstanceType
from compiler.plan.jobs import ACCELERATORS, EFA, Container, Pod, Runtime, TrainJob
from compiler.plan.nodes import NodePool, Toleration
from compiler.plan.queues import ClusterQueue, Flavor
from compiler.plan.units import Quantity
from compiler.source import Route


@dataclass(frozen=True, slots=True)
class Choice:
    """Where all pods of a job land together: the pools, by which flavor, and the tolerations that flavors add.

    ``flavor`` is ``None`` without a queue, or where the queue's flavors are unknown.
    """

    pools: tuple[NodePool, ...]
    flavor: Flavor | None = None
    tolerations: tuple[Toleration, ...] = ()


_SPEC_NAME = "trainyard.dev/job"
"""Our own jobs carry a hash in their object's name; people know the spec's, which this label keeps."""


@dataclass(slots=True)
class Work:
    """A TrainJob joined with its runtime, pod, pools and queue. A value: made once, never changed.

    ``pod`` and ``main`` (its container for the trainer) are ``None`` while the runtime is unknown. ``asks`` is what
    a node of the job asks for, by resource; it is ``complete`` only with the runtime, since the rest may stand there.
    ``choices`` are where it may land, one for each way through the flavors of its queue; ``pools`` all pools in them
    and ``types`` their instance types; () is unknown. ``nodes`` ``None`` is unknown. ``env`` are literal variables of
    the main container, ``words`` its command and arguments.
    """

    job: TrainJob
    runtime: Runtime | None
    pod: Pod | None
    main: Container | None
    asks: Mapping[str, Quantity]
    pools: tuple[NodePool, ...]
    types: tuple[InstanceType, ...]
    queue: ClusterQueue | None
    nodes: int | None
    env: Mapping[str, str | None] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    @property
    def name(self) -> str:
        return self.job.labels.get(_SPEC_NAME, self.job.name)

    @property
    def queue_unknown(self) -> bool:
        """Whether the job has a queue that is not in the set: what its flavors add to the pods is unknown."""
        return self.job.queue is not None and self.queue is None

    @property
    def selector(self) -> Mapping[str, str]:
        """The node selector of its pods; of a job without a known runtime what its patches say."""
        if self.pod is not None:
            return self.pod.node_selector
        return {key: value for patch in self.job.patches for key, value in patch.pod.node_selector.items()}

    @property
    def complete(self) -> bool:
        """Whether everything that the pod asks for is known."""
        asked = {"requests", "limits"}
        return self.main is not None and not asked & (self.main.unread | self.job.unread)

    @property
    def gang(self) -> bool:
        """Whether the job is known to have more than one node."""
        return self.nodes is not None and self.nodes > 1

    @property
    def efa(self) -> int:
        """EFA devices asked for a node."""
        asked = self.asks.get(EFA)
        return asked.value if asked else 0

    @property
    def accelerator(self) -> tuple[str, int] | None:
        """The accelerator resource asked for and how many a node."""
        for resource in ACCELERATORS:
            if asked := self.asks.get(resource):
                return resource, asked.value
        return None

    def where(self, name: str) -> Route:
        """The place of a field of the TrainJob, or of the runtime that gives the number of nodes."""
        if name == "nodes" and self.job.nodes is None and self.runtime is not None and self.runtime.nodes is not None:
            return self.runtime.where(name)
        return self.job.where(name)

    def where_env(self, variable: str) -> Route:
        """The place of an environment variable: in the TrainJob, or else in the runtime."""
        for node in (self.job, self.main):
            for index, each in enumerate(node.env if node is not None else ()):
                if each.name == variable:
                    return node.where("env") / index if node is not None else self.job.at
        return self.job.where("env")

    def where_said(self, text: str) -> Route:
        """The place of an option or variable in the command: the word of the arguments or the command of the TrainJob,
        or else of the runtime. ``-`` and ``_`` are one."""
        sought = text.replace("_", "-")
        for node in (self.job, self.main):
            for name in ("args", "command"):
                for index, each in enumerate(getattr(node, name) if node is not None else ()):
                    if sought in each.replace("_", "-"):
                        return node.where(name) / index if node is not None else self.job.at
        return self.job.where("command")

    def where_selected(self, key: str) -> Route:
        """The place of a label in the node selector: in the last patch that has it, or else in the runtime."""
        pods = [patch.pod for patch in self.job.patches if key in patch.pod.node_selector]
        pod = pods[-1] if pods else self.pod
        return pod.where("node_selector") / key if pod is not None else self.job.at

    def place(self, resource: str) -> Route:
        """The place of what is asked of a resource: in the TrainJob, or else in the runtime."""
        for node in (self.job, self.main):
            for name in ("limits", "requests"):
                if node is not None and resource in getattr(node, name):
                    return node.where(name) / resource
        return self.job.where("limits")
