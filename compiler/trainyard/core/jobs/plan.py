"""Plan items of jobs: what each runs on how many nodes, its model's memory, its checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar, NamedTuple

from trainyard.core.pods.plan import EnvVar, Misspelt, Resources
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.base import LATER, Identity, PlanItem

SPEC_NAME = "trainyard.dev/job"
"""Our own jobs carry a hash in their object's name; people know the spec's, which this label keeps."""


class Folder(NamedTuple):
    """A folder that a job sees. ``lasting``: what is written there outlives its programs; ``None`` is unknown."""

    path: str
    lasting: bool | None


class EarlierCommand(NamedTuple):
    """A command that runs before the program of a job, on each start, and its place."""

    words: tuple[str, ...]
    at: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWords:
    """What the program of a job can write for what only its nodes know, where no pods are; "" where nothing says it.

    ``rank``: the number of the node; ``count``: how many there are; ``first``: how the first one is found, in words,
    and ``first_host`` in a shell; ``in_shell``: a shell that is started on each node; ``devices``: who gives them.
    """

    rank: str = ""
    count: str = ""
    first: str = "the host of the first node"
    first_host: str = ""
    in_shell: str = "a shell on each node"
    devices: str = ""

    def own_rank(self, option: str) -> str:
        """An option with the number of the node."""
        if not self.rank:
            return f"`{option}` with the number of each node, from 0"
        return f"`{option}={self.rank}` in {self.in_shell}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang(PlanItem):
    """A job: what runs on each of its nodes, which start and end together. Platforms have their own.

    ``requests`` and ``limits`` are per node. ``least_nodes``: so many are enough to start, and ``nodes`` the most.
    ``selector``: labels that its nodes must have, where it says them itself. ``deadline``: the seconds after which it
    is ended. ``source_name`` and ``pool`` are the names of the job and its pool in the spec, ``fallbacks`` the names
    of the pools that are tried after it, and ``rerun`` is how often it asks to be run again. ``pods_a_node``: so many
    of its pods fit on a node of its pool. ``retries``: how often it is started again after it failed, where it says
    so itself. ``before``: what runs before its program. ``files``: texts that it has itself, by the paths at which its
    program finds them. ``misspelt``: as of containers. ``has_pods``: it runs in pods of Kubernetes. ``has_all_efa``: it
    asks for no EFA, and has all devices of its nodes. ``node_words``: what its program writes where it has no pods.
    """

    has_pods: ClassVar[bool] = False
    node_words: ClassVar[NodeWords] = NodeWords()
    has_all_efa: ClassVar[bool] = False

    name: str
    namespace: str = ""
    kind: str = ""
    queue: str | None = None
    priority: str | None = None
    nodes: int | None = None
    least_nodes: int | None = None
    processes: int | str | None = None
    image: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    selector: Mapping[str, str] = field(default_factory=dict)
    deadline: int | None = None
    retries: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    source_name: str = field(default="", compare=False)
    pool: str = field(default="", compare=False)
    fallbacks: tuple[str, ...] = field(default=(), compare=False)
    rerun: int = field(default=0, compare=False)
    pods_a_node: int = field(default=1, compare=False)
    misspelt: Misspelt = field(default=(), compare=False)
    before: tuple[EarlierCommand, ...] = field(default=(), compare=False)
    files: Mapping[str, str] = field(default_factory=dict, metadata=LATER)

    @property
    def identity(self) -> Identity:
        """By the name that the spec gives it: that of its object carries a hash of what it runs."""
        name = self.labels.get(SPEC_NAME, self.name)
        return Identity(self.kind, self.namespace, name)

    @property
    def whole_nodes(self) -> int:
        """The nodes that its pods fill."""
        pods = self.nodes or 1
        return -(-pods // self.pods_a_node)

    @property
    def has_whole_nodes(self) -> bool:
        """Whether it has all devices of its nodes, however many it asks for."""
        return False

    @property
    def expands_on_nodes(self) -> bool:
        """Whether each node expands the variables of its command by itself, and not one for all."""
        return True

    @property
    def exported(self) -> Mapping[str, str]:
        """Variables that what starts it sets by itself, as it writes them."""
        return {}

    @property
    def grace(self) -> tuple[int | None, Route]:
        """The seconds between the signal to stop and the end, where the job says it itself, and their place."""
        return None, self.at

    def folders(self, local: Sequence[str]) -> tuple[Folder, ...]:
        """What its programs see of file systems; () is unknown. ``local``: folders of nodes that are lost with them."""
        return ()

    def asks(self, resource: str) -> Quantity | None:
        """What a node of the job asks of a resource, by limit or else request; ``None`` if not at all."""
        limit = self.limits.get(resource)
        return limit or self.requests.get(resource)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedLength(PlanItem):
    """The ``seconds`` that a job is expected to run, by the spec."""

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState(PlanItem):
    """What weights, gradients and optimizer of a job's model take, in bytes: ``held`` of an accelerator, of which
    ``weights`` are the weights, and ``host`` of a node's memory.

    ``memory`` is what an accelerator has, ``host_memory`` what the job gets of a node. ``enough_nodes`` are the fewest
    that hold the state, ``None`` where more nodes do not help. Without accelerators all of it is in the node's memory.
    ``sharing`` ranks have one copy of the model together, and ``expert`` ranks the experts of a layer. ``seconds``: how
    long the whole run takes at least and at most, without failures and saves, where somebody computes that.
    """

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    pool: str
    instance: str
    nodes: int
    accelerators: int
    most_nodes: int
    sharding: str
    weights: int
    held: int
    memory: int
    host: int
    host_memory: int
    enough_nodes: int | None
    tensor: int
    pipeline: int
    context: int
    processes: int
    sharing: int
    expert: int = 1
    seconds: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSchedule(PlanItem):
    """What the checkpoints of a job take: ``size`` in bytes of one, of which ``keep`` are kept; times in seconds.

    They lie in ``folder`` of ``storage`` of the spec; of FSx for Lustre ``file_system`` is the id, or the name of a
    storage that is made, ``deployment`` the type and ``capacity`` the bytes that it holds. ``write_speed`` and
    ``read_speed`` are MB/s that last, bounded by ``write_bound`` and ``read_bound``; ``peak_speed`` is what bursts
    reach. ``every`` is the interval that the spec says, ``timeout`` the end of the job, ``mtbf`` the mean time
    between two failures of any of its ``nodes``. What is unknown is ``None``. ``chosen``: the spec says how many are
    kept. ``asynchronous``: training goes on meanwhile. ``holder``: what jobs with an equal one share, of any kind.
    """

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    pool: str
    nodes: int
    path: str
    folder: str
    storage: str
    file_system: str
    holder: str = ""
    deployment: str
    capacity: int | None
    size: int | None
    keep: int
    chosen: bool
    asynchronous: bool
    every: int | None
    timeout: int | None
    write_speed: float | None
    write_bound: str
    read_speed: float | None
    read_bound: str
    peak_speed: float | None
    mtbf: int | None

    @property
    def write(self) -> float | None:
        """The seconds that one takes to write."""
        return _seconds(self.size, self.write_speed)

    @property
    def shortest_write(self) -> float | None:
        """The seconds that one takes to write while the file system bursts."""
        return _seconds(self.size, self.peak_speed)

    @property
    def read(self) -> float | None:
        """The seconds that one takes to read."""
        return _seconds(self.size, self.read_speed)

    @property
    def needed(self) -> int | None:
        """The bytes of all that are kept, and of the next one while it is written."""
        if self.size is None:
            return None
        return (self.keep + 1) * self.size

    @property
    def best(self) -> int | None:
        """The interval at which the least time is lost, in seconds and round: it matters little near the best.

        √(2 · write · MTBF) (Young 1974, doi:10.1145/361147.361115; Daly 2006, doi:10.1016/j.future.2004.11.016). A save
        that training does not wait for costs nothing: as soon as its file system has rested as long as it wrote. No
        later than in the middle of the job.
        """
        if self.write is None or self.mtbf is None:
            return None
        best = 2 * self.write
        if not self.asynchronous:
            squared = 2 * self.write * self.mtbf
            best = math.sqrt(squared)
        if self.timeout is not None:
            best = min(best, self.timeout / 2)
        return _round(best)

    def lost(self, every: int) -> float | None:
        """The share of the time that saving and failures take at an interval: write / interval + interval / (2 · MTBF)
        (Young 1974), and all of it at most."""
        if self.write is None or self.mtbf is None:
            return None
        if self.asynchronous:
            waits = 0.0
        else:
            waits = self.write / every
        return min(1.0, waits + every / (2 * self.mtbf))

    def repeated(self, every: int) -> float | None:
        """The seconds that a failure costs each node: half an interval, and reading the checkpoint."""
        if self.read is None:
            return None
        return every / 2 + self.read

    @property
    def ends_first(self) -> bool:
        """Whether the best interval is that in the middle of the job."""
        if self.timeout is None:
            return False
        middle = _round(self.timeout / 2)
        return self.best == middle


def _round(seconds: float) -> int:
    """A minute at least: whole minutes up to an hour, tens of them up to ten hours, then whole hours."""
    unit = 60
    if seconds >= 10 * 3600:
        unit = 3600
    elif seconds >= 3600:
        unit = 600
    units = max(round(seconds / unit), 1)
    return units * unit


def _seconds(size: int | None, speed: float | None) -> float | None:
    """How long so many bytes take at so many MB/s."""
    if size is None or speed is None:
        return None
    return size / 1e6 / speed


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveWatcher(PlanItem):
    """What says when ``job`` of a namespace saved last, wherever a platform has it."""

    namespace: str
    job: str
