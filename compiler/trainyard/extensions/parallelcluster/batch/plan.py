"""Batch jobs of Slurm: what ``sbatch`` is told, and what runs on each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar

from trainyard.core.jobs.plan import Folder, Gang, NodeWords
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route


@dataclass(frozen=True, slots=True)
class BindMount:
    """A folder of the nodes that the container of a job sees at another path."""

    source: str
    path: str
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValue:
    """A variable whose value is read from Secrets Manager when the job starts: of a secret, and of its JSON a key; ""
    is the whole text."""

    name: str
    secret: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob(Gang):
    """A batch job. ``partitions``: it starts in the one that has room first. ``exclusive``: it has its nodes alone.

    ``account`` and ``qos`` are those of accounting. ``stop_signal``: so many seconds before its time is over its
    programs get SIGTERM. ``rendezvous``: variables whose
    values the script works out. ``mounts`` are what its container sees of the nodes.
    ``told``: topics that hear when neither its output nor what is below ``saved``, a folder of the nodes, has grown for
    ``quiet`` seconds, and when it has failed. ``program``: so many of its words are of the spec's ``command``, and the
    rest of its ``args``. ``tasks``: how often srun starts the program on each node, read back;
    ``single_quoted``: a shell on each node expands its words, which are in single quotes, and not that of the script.
    """

    has_all_efa: ClassVar[bool] = True
    node_words: ClassVar[NodeWords] = NodeWords(
        rank="$SLURM_NODEID",
        count="$SLURM_JOB_NUM_NODES",
        first="the first node of `scontrol show hostnames`",
        first_host='$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)',
        in_shell="a shell that srun starts on each node",
        devices="Slurm",
    )

    partitions: tuple[str, ...] = ()
    account: str | None = None
    qos: str | None = None
    exclusive: bool = False
    requeue: bool = False
    stop_signal: int | None = None
    rendezvous: tuple[tuple[str, str], ...] = ()
    stored: tuple[StoredValue, ...] = ()
    mounts: tuple[BindMount, ...] = ()
    working_dir: str = ""
    output: str = ""
    comment: str = ""
    program: int = field(default=0, compare=False)
    tasks: int | None = field(default=None, compare=False)
    single_quoted: bool = field(default=False, compare=False)
    told: tuple[str, ...] = field(default=(), compare=False)
    quiet: int = field(default=0, compare=False)
    saved: str = field(default="", compare=False)

    @property
    def has_whole_nodes(self) -> bool:
        """Slurm gives an exclusive job all GRES of its nodes (Slurm documentation, sbatch --exclusive)."""
        return self.exclusive

    @property
    def expands_on_nodes(self) -> bool:
        return self.single_quoted

    @property
    def exported(self) -> Mapping[str, str]:
        return dict(self.rendezvous)

    @property
    def grace(self) -> tuple[int | None, Route]:
        return self.stop_signal, self.where("stop_signal")

    def folders(self, local: Sequence[str]) -> tuple[Folder, ...]:
        """A container sees its own file system, which pyxis removes with it, and what is mounted (NVIDIA/pyxis, usage);
        a program without one sees all of its node."""
        if not self.unread.isdisjoint(("image", "mounts")):
            return ()
        lost = (*_LOCAL, *local)
        if self.image is None:
            return (Folder("/", None), *(Folder(path, False) for path in lost))
        mounted = (
            Folder(mount.path, False if _is_in(mount.source, lost) else None)
            for mount in self.mounts
        )
        return (Folder("/", False), *mounted)


_LOCAL = ("/tmp", "/var/tmp", "/dev/shm", "/run")  # what is read, not written
"""Folders of one node, on its root volume or in its memory (Filesystem Hierarchy Standard 3.0)."""


def _is_in(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of some folders, or lies in one."""
    return any(f"{path}/".startswith(f"{folder.rstrip('/')}/") for folder in folders)
