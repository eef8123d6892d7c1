"""A training job together with everything that decides how it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from trainyard.catalog import InstanceType
from trainyard.core.images.plan import Recipe
from trainyard.core.jobs.plan import SPEC_NAME, EarlierCommand, Folder, Gang, NodeWords
from trainyard.core.pods.plan import (
    ACCELERATORS,
    BESIDE_NODES,
    EFA,
    Container,
    Pod,
    ReplicatedJob,
    Resources,
    Volume,
    patched,
)
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.core.queues.plan import Queue
from trainyard.eks.jobs.plan import Patch, Runtime, TrainJob, patches_of
from trainyard.eks.third_party_workloads.plan import titled
from trainyard.judge.model.amounts import total, unread_amounts, with_others
from trainyard.judge.model.choice import Choice, Offer
from trainyard.judge.model.exports import exported
from trainyard.judge.model.kinds import has_peers, starter_of
from trainyard.judge.model.patched import patched_selector, patched_tolerations
from trainyard.judge.model.pod_set import PodSet
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.scheduling import ZONE, Toleration

_LOST = ("emptyDir", "ephemeral", "")
"""Volumes that end with the pod."""
_AMOUNTS = {"requests", "limits"}
_REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"


@dataclass(slots=True)
class Work:
    """A job joined with its runtime, pod, pools and queue. A value: computed once, never changed.

    ``pod`` and ``main`` (its container for the trainer) are ``None`` while the runtime is unknown. ``asks`` is what
    the program of a node requests, by resource; it is ``complete`` only with the runtime, since the rest may stand
    there.
    ``choices`` are where it may land, one for each way through the flavors of its queue; ``pools`` all pools in them,
    ``offers`` these with the instance types that the job may get there, and ``types`` just the types; () is unknown.
    ``nodes`` are those that it needs at once, ``None`` is unknown. ``env`` are literal variables of the main container,
    those that it takes from ConfigMaps of the set (``configured``, with their places), those for networks and devices
    that its command sets, and those of its image, where a ``recipe`` builds that here;
    ``words`` are its command and arguments. ``kind`` is that of the object: of one that is no TrainJob, ``job`` has
    what they have in common; rules do not see it. A ``gang`` is known to have more than one node: the pods of our own
    Indexed Jobs know no other one. ``role`` is the name of the pods beside the job's own that the value
    is about, where it is not about the job. ``own_sets`` are the pods of an object that says them without a runtime.
    """

    job: Gang
    runtime: Runtime | None
    pod: Pod | None
    main: Container | None
    asks: Mapping[str, Quantity]
    pools: tuple[Pool, ...]
    offers: tuple[Offer, ...]
    types: tuple[InstanceType, ...]
    queue: Queue | None
    nodes: int | None
    env: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    words: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    kind: str = "TrainJob"
    role: str = ""
    recipe: Recipe | None = None
    configured: Mapping[str, Route] = dataclasses.field(default_factory=dict)
    own_sets: tuple[PodSet, ...] = ()
    gang: bool = dataclasses.field(init=False)
    efa: int = dataclasses.field(init=False)
    accelerator: tuple[str, int] | None = dataclasses.field(init=False)
    pod_asks: Resources = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """``efa`` devices that a node asks for, and the ``accelerator`` resource with how many of it; what its whole
        pod asks for; and whether it is a ``gang``. Rules ask for each twenty times a job."""
        self.pod_asks = with_others(self.asks, self.pod, self.main)
        apart = self.runtime is not None and not has_peers(self.runtime.kind)
        self.gang = not apart and (self.largest or 0) > 1
        devices = self.asks.get(EFA)
        self.efa = devices.value if devices else 0
        self.accelerator = None
        for resource in ACCELERATORS:
            asked = self.asks.get(resource)
            if asked:
                self.accelerator = resource, asked.value
                break

    @property
    def at(self) -> Route:
        """The place of the object."""
        return self.job.at

    @property
    def key(self) -> str:
        """Its namespace and name, by which it is known among all jobs."""
        return f"{self.namespace}/{self.name}"

    @property
    def namespace(self) -> str:
        return self.job.namespace

    @property
    def queue_name(self) -> str | None:
        """The name of the LocalQueue in its label, whether there is such a queue or not."""
        return self.job.queue

    @property
    def image(self) -> str | None:
        """The image that the object names itself; without one the runtime's is run."""
        return self.job.image

    @property
    def command(self) -> tuple[str, ...]:
        """The command that the object names itself; ``words`` has the one that is run."""
        return self.job.command

    @property
    def args(self) -> tuple[str, ...]:
        """The arguments that the object names itself."""
        return self.job.args

    @property
    def requests(self) -> Resources:
        """What the object itself requests for each node."""
        return self.job.requests

    @property
    def limits(self) -> Resources:
        """What the object itself limits each node to."""
        return self.job.limits

    @property
    def patches(self) -> tuple[Patch, ...]:
        """What the object changes in the pods of its runtime."""
        return patches_of(self.job)

    @property
    def trainer(self) -> bool:
        """Whether Trainer sets the variables of torchrun; of an object without a runtime always."""
        return not isinstance(self.job, TrainJob) or self.job.trainer

    @property
    def own_runtime(self) -> Runtime | None:
        """Its runtime, where that is not one that Trainer brings."""
        if self.runtime is None or self.runtime.at == self.job.where("runtime"):
            return None
        return self.runtime

    @property
    def framework(self) -> str | None:
        """The source of the ML policy of its runtime, like `torch` or `mpi`, or what its kind starts processes by;
        ``None`` without one, or while unknown."""
        if self.runtime is not None:
            return self.runtime.framework
        return starter_of(self.kind)

    @property
    def processes(self) -> int | str | None:
        """The processes of each node that the object names itself."""
        return self.job.processes

    @property
    def deadline(self) -> int | None:
        """The seconds after which the object is ended."""
        return self.job.deadline

    @property
    def retries(self) -> int | None:
        """How often the object itself is started again after it failed."""
        return self.job.retries

    @property
    def suspend(self) -> bool | None:
        """What the object says of ``suspend``, which Kueue owns."""
        return self.job.suspend if isinstance(self.job, TrainJob) else None

    @property
    def managed_by(self) -> str | None:
        """The controller that the object names as its own."""
        return self.job.managed_by if isinstance(self.job, TrainJob) else None

    @property
    def title(self) -> str:
        """Its name in a sentence: ``job `llama```, or with its kind if that is none of jobs."""
        title = titled(self.kind, self.name)
        return f"`{self.role}` of {title}" if self.role else title

    @property
    def name(self) -> str:
        return self.job.labels.get(SPEC_NAME, self.job.name)

    @property
    def job_name(self) -> str:
        """The name of its object, with the hash that ours carry."""
        return self.job.name

    @property
    def queue_unknown(self) -> bool:
        """Whether the job has a queue that is not in the set: what its flavors add to the pods is unknown."""
        return self.job.queue is not None and self.queue is None

    @property
    def queued(self) -> bool:
        """Whether Kueue manages the job: by its label, or by the LocalQueue `default` of its namespace."""
        return self.job.queue is not None or self.queue is not None

    @property
    def selector(self) -> Mapping[str, str]:
        """The node selector of its pods; of a job without a known runtime what its patches say."""
        if self.pod is not None:
            return self.pod.node_selector
        return patched_selector(self.job)

    @property
    def tolerations(self) -> tuple[Toleration, ...] | None:
        """What its pods tolerate; ``None`` while the runtime is unknown and no patch replaces what it says."""
        if self.pod is not None:
            return self.pod.tolerations
        return patched_tolerations(self.job)

    @property
    def where_tolerated(self) -> Route:
        """The place of the tolerations of its pods: in the last patch that has some, or else in the runtime."""
        pod = self.pod
        if pod is None:
            patched = [patch.pod for patch in self.patches]
            pods = [pod for pod in patched if pod.tolerations]
            pod = pods[-1] if pods else None
        if pod is None:
            return self.job.at
        return pod.where("tolerations")

    @property
    def others(self) -> tuple[tuple[ReplicatedJob, Pod, Resources], ...]:
        """The replicated jobs other than the trainer's, each with its pod as patched and what one pod asks for: there
        are initializers, Ray's head, and the nodes of an MPI launcher, which get the resources of the job too (trainer
        v2.3.0). Kueue admits all of them or none."""
        if self.runtime is None or self.pod is None:
            return ()
        main = self.runtime.trainer()
        jobs = self.runtime.jobs
        beside = [job for job in jobs if job is not main]
        others = []
        for job in beside:
            pod, asks = self._pod_and_asks(job)
            others.append((job, pod, asks))
        return tuple(others)

    def _pod_and_asks(self, job: ReplicatedJob) -> tuple[Pod, Resources]:
        pod = job.pod
        for patch in self.patches:
            if patch.job == job.name:
                pod = patched(pod, patch.pod)
        asks = total(pod)
        if job.step not in BESIDE_NODES:
            asks = {**asks, **self.pod_asks}
        return pod, asks

    @property
    def claims(self) -> frozenset[str]:
        """The PersistentVolumeClaims that its pods are known to mount: without a runtime those of its patches, which
        only add volumes."""
        pods = [patch.pod for patch in self.patches]
        if self.pod is not None:
            pods = [self.pod]
        return frozenset(
            volume.source
            for pod in pods
            for volume in pod.volumes
            if volume.type == "persistentVolumeClaim"
        )

    def may_ask(self, resource: str) -> bool:
        """Whether the pods ask for a resource, or for an amount of something that cannot be read, like ``${GPUS}``."""
        if resource in self.asks:
            return True
        unread = {*self.job.unread}
        if self.main is not None:
            unread |= self.main.unread
        return "/" in resource and not unread.isdisjoint(("requests", "limits"))

    @property
    def unread_amounts(self) -> frozenset[str]:
        """The resources that it asks for by an amount that cannot be read."""
        return frozenset().union(*map(unread_amounts, self._sources()))

    @property
    def knows_names(self) -> bool:
        """Whether all resources that the pod asks for are known, if not how much of each."""
        if self.complete:
            return True
        if self.main is None:
            return False
        sources = self._sources()
        whole = {name for each in sources for name in each.unread if not _is_amount(name)}
        named = {
            name.partition(".")[0] for each in sources for name in each.unread if _is_amount(name)
        }
        return whole.isdisjoint({"claims"}) and whole & _AMOUNTS <= named

    @property
    def is_accelerated(self) -> bool:
        """Whether a node asks for accelerators, also where nobody can read for how many."""
        if self.accelerator is not None:
            return True
        return not self.unread_amounts.isdisjoint(ACCELERATORS)

    @property
    def unread(self) -> frozenset[str]:
        """What its pods have and the plan has no field for, in the runtime or a patch."""
        pods = [patch.pod for patch in self.patches]
        if self.pod is not None:
            pods.append(self.pod)
        return frozenset().union(*(pod.unread for pod in pods))

    @property
    def complete(self) -> bool:
        """Whether everything that the pod asks for is known: what a resource claim brings is not."""
        if self.main is None:
            return not self.has_pods and self.job.unread.isdisjoint(("requests", "limits"))
        unread = self.main.unread | self.job.unread
        return unread.isdisjoint(("requests", "limits", "claims"))

    @property
    def required_level(self) -> str | None:
        """The level of a topology of which all its pods must share a domain."""
        own = self.job.annotations.get(_REQUIRED_TOPOLOGY)
        if own is None and self.pod is not None:
            return self.pod.annotations.get(_REQUIRED_TOPOLOGY)
        return own

    def spread(self, pool: Pool) -> bool:
        """Whether nothing but a pool itself may keep the job's nodes on it in one zone: neither a label that they must
        have nor a topology that is required, each level of which lies in a zone (EC2, instance topology), nor an
        affinity between the pods."""
        on_pool = [choice for choice in self.choices if choice.has(pool)]
        if all(ZONE in choice.labels for choice in on_pool):
            return False
        if "pod_affinity" in self.unread:
            return False
        return self.pod is None or _REQUIRED_TOPOLOGY not in self.pod.annotations

    @property
    def has_pods(self) -> bool:
        """Whether it runs in pods of Kubernetes, which its runtime has or the object itself."""
        return self.job.has_pods

    @property
    def node_words(self) -> NodeWords:
        """What its program can write for what only its nodes know, where it has no pods."""
        return self.job.node_words

    @property
    def exported(self) -> Mapping[str, str]:
        """Variables that a batch script sets for torchrun, as it writes them; those of pods are in ``env``."""
        return self.job.exported

    @property
    def variables(self) -> Mapping[str, str | None]:
        """The variables that its program has: ``env``, and what a batch script sets beside."""
        return {**self.exported, **self.env}

    @property
    def grace(self) -> tuple[int | None, Route]:
        """The seconds between the signal to stop and the end, where they are said, and their place."""
        if self.pod is not None:
            return self.pod.grace_seconds, self.pod.where("grace_seconds")
        return self.job.grace

    @property
    def before(self) -> tuple[EarlierCommand, ...]:
        """What runs before its program, on each start: init containers, or the lines of a batch script."""
        if self.pod is None:
            return self.job.before
        return tuple(
            EarlierCommand((*container.command, *container.args), container.where("command"))
            for container in self.pod.init_containers
        )

    @property
    def folders(self) -> tuple[Folder, ...]:
        """What its program sees of file systems, the root of all first; () is unknown."""
        if not self.has_pods:
            pools = [pool for pool in self.pools if isinstance(pool, FixedPool)]
            return self.job.folders([pool.scratch for pool in pools if pool.scratch])
        if self.pod is None or self.main is None:
            return ()
        lost = {volume.name for volume in self.pod.volumes if volume.type in _LOST}
        mounts = self.main.mounts
        return (
            Folder("/", False),
            *(Folder(mount.path, mount.volume not in lost) for mount in mounts),
        )

    def folder_of(self, path: str) -> Folder | None:
        """The folder that a path lies in: of several, one in another, the inner one."""
        over = [
            folder
            for folder in self.folders
            if f"{path}/".startswith(folder.path.rstrip("/") + "/")
        ]
        return max(over, key=lambda folder: len(folder.path.rstrip("/")), default=None)

    @property
    def expands_on_nodes(self) -> bool:
        """Whether each node expands the variables of its command by itself, and not one for all."""
        return self.job.expands_on_nodes

    @property
    def whole_nodes(self) -> int | None:
        """The nodes that its pods fill; ``None`` where nobody knows how many pods there are."""
        if self.nodes is None:
            return None
        return -(-self.nodes // self.job.pods_a_node)

    @property
    def gpus_a_node(self) -> int:
        """The GPUs of a node, the most; 0 where it may land on one without any, or nobody knows where it lands."""
        gpus = [each.gpus for each in self.types]
        return max(gpus, default=0) if all(gpus) else 0

    @property
    def most_nodes(self) -> int | None:
        """The most nodes that the job gets at once, where it may start with fewer."""
        if self.job.least_nodes is None:
            return None
        return self.job.nodes

    @property
    def largest(self) -> int | None:
        """The nodes that talk to each other, where the job has all that it may get."""
        return self.most_nodes or self.nodes

    @property
    def shared_memory(self) -> Volume | None:
        """The volume at /dev/shm; ``None`` without one, which is 64 MiB by default."""
        if self.main is None or self.pod is None:
            return None
        names = [mount.volume for mount in self.main.mounts if mount.path.rstrip("/") == "/dev/shm"]
        for volume in self.pod.volumes:
            if volume.name in names[:1]:
                return volume
        return None

    @property
    def boundless_memory(self) -> bool:
        """Whether /dev/shm is known to grow as far as the node's memory goes."""
        shm = self.shared_memory
        if shm is None or shm.medium != "Memory":
            return False
        if shm.size is not None:
            return False
        if not self.complete:
            return False
        assert self.main is not None
        return "memory" not in self.main.limits

    def where(self, name: str) -> Route:
        """The place of a field of the TrainJob, or of the runtime that gives the number of nodes."""
        if name == "nodes" and self.job.nodes is None:
            runtime = self.runtime
            if runtime is not None and runtime.nodes is not None:
                return runtime.where(name)
        return self.job.where(name)

    def _sources(self) -> list[Gang | Container]:
        """Where its command, variables and resources may stand: the object, then the container of the runtime."""
        if self.main is None:
            return [self.job]
        return [self.job, self.main]

    def where_env(self, variable: str) -> Route:
        """The place of an environment variable: in the TrainJob, or else in the runtime."""
        for node in self._sources():
            for index, entry in enumerate(node.env):
                if entry.name == variable and (entry.value is not None or not self.configured):
                    own = node.origins.get(f"env.{variable}")
                    return own or node.where("env") / index
        if variable in self.configured:
            return self.configured[variable]
        if self.recipe is not None and self.is_of_image(variable):
            return self.recipe.where(f"env.{variable}")
        if variable in self.env:
            return self.where_said(variable)
        return self.job.origins.get(f"env.{variable}") or self.job.where("env")

    def is_of_image(self, variable: str) -> bool:
        """Whether a variable is said by the recipe of the image, and by nothing over it."""
        if self.recipe is None or variable not in self.recipe.env:
            return False
        own = {entry.name for node in self._sources() for entry in node.env}
        return variable not in own and variable not in exported(self.words)

    def where_said(self, text: str) -> Route:
        """The place of an option or variable in the command: the word of the arguments or the command of the TrainJob,
        or else of the runtime. ``-`` and ``_`` are one."""
        sought = text.replace("_", "-")
        for node in self._sources():
            texts = (("args", node.args), ("command", node.command))
            for field_name, words in texts:
                for index, word in enumerate(words):
                    if sought in word.replace("_", "-"):
                        return node.where(field_name) / index
        return self.job.where("command")

    def where_selected(self, key: str) -> Route:
        """The place of a label in the node selector: in the last patch that has it, or else in the runtime."""
        patched = [patch.pod for patch in self.patches]
        pods = [pod for pod in patched if key in pod.node_selector]
        pod = pods[-1] if pods else self.pod
        if pod is None:
            return self.job.at
        return pod.where("node_selector") / key

    def place(self, resource: str) -> Route:
        """The place of what is asked of a resource: in the TrainJob, or else in the runtime."""
        for node in self._sources():
            limit = node.limits.get(resource)
            if limit is not None and node.requests.get(resource, limit) == limit:
                own = node.origins.get(f"limits.{resource}")
                return own or node.where("limits") / resource
            if resource in node.requests:
                return node.where("requests") / resource
        return self.job.where("limits")


def _is_amount(name: str) -> bool:
    """Whether an unread field is a resource, like `limits.cpu`, and not a whole mapping of them."""
    return name.partition(".")[0] in _AMOUNTS and "." in name
