"""The options of ``sbatch``, and the form of the values of some (Slurm documentation, sbatch, 25.05)."""

from __future__ import annotations

from typing import NamedTuple

_PYXIS = frozenset((
    "container-entrypoint", "container-entrypoint-log", "container-env", "container-image",
    "container-mount-home", "container-mounts", "container-name", "container-readonly",
    "container-remap-root", "container-save", "container-workdir", "container-writable",
    "no-container-entrypoint", "no-container-mount-home", "no-container-remap-root",
))  # fmt: skip
"""Options that pyxis adds (NVIDIA/pyxis, usage)."""
OPTIONS = _PYXIS | frozenset((
    "account", "acctg-freq", "array", "batch", "bb", "bbf", "begin", "chdir", "cluster-constraint",
    "clusters", "comment", "constraint", "container", "container-id", "contiguous", "core-spec",
    "cores-per-socket", "cpu-freq", "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot",
    "dependency", "distribution", "error", "exclude", "exclusive", "export", "export-file", "extra",
    "extra-node-info", "get-user-env", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
    "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "hold", "ignore-pbs", "input",
    "job-name", "kill-on-invalid-dep", "licenses", "mail-type", "mail-user", "mcs-label", "mem",
    "mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus", "network", "nice", "no-kill", "no-requeue",
    "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu",
    "ntasks-per-node", "ntasks-per-socket", "oom-kill-step", "open-mode", "output", "overcommit",
    "oversubscribe", "parsable", "partition", "power", "prefer", "priority", "profile", "propagate",
    "qos", "quiet", "reboot", "requeue", "reservation", "resv-ports", "segment", "signal",
    "sockets-per-node", "spread-job", "stepmgr", "switches", "test-only", "thread-spec",
    "threads-per-core", "time", "time-min", "tmp", "tres-bind", "tres-per-task", "uid",
    "use-min-nodes", "verbose", "wait", "wait-all-nodes", "wckey", "wrap",
))  # fmt: skip


def whole_name(written: str) -> str:
    """The option that a name stands for: ``getopt_long`` takes any beginning that only one option has."""
    if written in OPTIONS:
        return written
    begun = [name for name in OPTIONS if name.startswith(written)]
    return begun[0] if len(begun) == 1 else written


class Form(NamedTuple):
    """What a value looks like: its pattern, in words, and an example."""

    pattern: str
    what: str
    example: str


_COUNT = Form(r"[1-9][0-9]*", "a number", "8")
_NODES = Form(
    r"[1-9][0-9]*[kKmM]?(-[1-9][0-9]*[kKmM]?)?(,.*)?|.*-.*:.*", "a number of nodes, or a range", "4"
)
_TIME = Form(
    r"(\d+-)?\d+(:\d+){0,2}|UNLIMITED|INFINITE|-1",
    "minutes, hours:minutes:seconds, or days-hours:minutes:seconds",
    "3-00:00:00",
)
_MEMORY = Form(r"[0-9]+(\.[0-9]+)?[KMGTkmgt]?[bB]?", "a size in MiB, or with K, M, G or T", "900G")
_GRES = Form(
    r"[A-Za-z0-9_]+(:[A-Za-z0-9_.-]+)?(:[0-9]+[kKmMgG]?)?(,[A-Za-z0-9_]+(:[A-Za-z0-9_.-]+)?(:[0-9]+[kKmMgG]?)?)*|NONE|none",
    "names with counts",
    "gpu:8",
)
_GPUS = Form(r"([A-Za-z0-9_.-]+:)?[0-9]+(,([A-Za-z0-9_.-]+:)?[0-9]+)*", "a number", "8")
_SIGNAL = Form(
    r"([RBrb]+:)?([A-Za-z]+[0-9]*|[0-9]+)(@[0-9]+)?", "a signal, and seconds after `@`", "TERM@120"
)
_FORMS = {
    "nodes": _NODES,
    "ntasks": _COUNT,
    "ntasks-per-node": _COUNT,
    "cpus-per-task": _COUNT,
    "time": _TIME,
    "time-min": _TIME,
    "mem": _MEMORY,
    "mem-per-cpu": _MEMORY,
    "mem-per-gpu": _MEMORY,
    "gres": _GRES,
    "gpus": _GPUS,
    "gpus-per-node": _GPUS,
    "gpus-per-task": _GPUS,
    "signal": _SIGNAL,
    "open-mode": Form(r"append|truncate", "`append` or `truncate`", "append"),
}


def form_of(option: str) -> Form | None:
    """The form of an option's value; ``None`` where it is not looked at."""
    return _FORMS.get(option)
