"""What ``slurm.conf`` takes: its parameters, the numbers that they hold, and the plugins that they name.

Source: SchedMD/slurm, slurm-25-05-8-1, read by ``derive_slurm.py``. ``slurmctld`` and every command of
Slurm end with "Parsing error at unrecognized key" at a parameter that they do not know.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "data" / "slurm-25.05.8.json"

_LARGEST = {"UINT16": 2**16 - 1, "UINT32": 2**32 - 1}
_NO_LIMIT = ("unlimited", "infinite")
_PLUGINS = {
    "acctgatherenergytype": "acct_gather_energy", "acctgatherfilesystemtype": "acct_gather_filesystem",
    "acctgatherinterconnecttype": "acct_gather_interconnect", "acctgatherprofiletype": "acct_gather_profile",
    "authtype": "auth", "burstbuffertype": "burst_buffer", "credtype": "cred", "hashplugin": "hash",
    "jobacctgathertype": "jobacct_gather", "jobcomptype": "jobcomp", "jobcontainertype": "job_container",
    "mcsplugin": "mcs", "mpidefault": "mpi", "preempttype": "preempt", "prioritytype": "priority",
    "proctracktype": "proctrack", "schedulertype": "sched", "selecttype": "select", "switchtype": "switch",
    "taskplugin": "task", "topologyplugin": "topology",
}  # fmt: skip
"""The type of plugin that a parameter names, both in lower case."""
_NONE = ("none",)
"""What says that there is no plugin, also where none of this name exists any more (src/common/plugin.c)."""
_ALSO = {"mpi": ("pmix",), "topology": ("default",)}
"""Names that Slurm itself writes for another one: the newest PMIx, ``topology/flat``."""


@cache
def _facts() -> dict[str, dict[str, str]]:
    facts: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return facts


@cache
def parameters(part: str) -> dict[str, str]:
    """The type of each parameter by its name in lower case; ``part`` is ``cluster``, ``partition`` or ``node``."""
    return {name.lower(): kind for name, kind in _facts()[part].items()}


def names(part: str) -> tuple[str, ...]:
    """The parameters as Slurm writes them."""
    return tuple(_facts()[part])


def largest(part: str, name: str, value: str | int) -> int | None:
    """The largest number that a parameter holds, where ``value`` is none from 0 to it; ``None`` where it is right."""
    most = _LARGEST.get(parameters(part).get(name.lower(), ""))
    text = str(value).strip()
    if most is None or text.lower() in _NO_LIMIT:
        return None
    return None if text.isdecimal() and int(text) <= most else most


def unknown_plugin(name: str, value: str | int) -> tuple[str, list[str]] | None:
    """The plugin of ``value`` that Slurm does not have, and those that it has; ``None`` where it has each of them.

    A plugin is written with its type, as ``select/cons_tres``; ``MpiDefault`` names one without it.
    """
    kind = _PLUGINS.get(name.lower())
    if kind is None:
        return None
    known = [*_NONE, *_ALSO.get(kind, ()), *_facts()["plugins"].get(kind, ())]
    for one in str(value).split(","):
        own = one.strip().removeprefix(f"{kind}/")
        if own not in known:
            return one.strip(), [each if kind == "mpi" else f"{kind}/{each}" for each in known]
    return None
